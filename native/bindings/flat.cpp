// Whole vocabularies between Python's tuples and flat arrays: what would be a step of the interpreter
// for each token or merge.
#include <nanobind/stl/pair.h>

#include <array>
#include <string>

#include "pairs.h"

namespace bpe::bindings {
namespace {

nb::tuple pairs(nb::ndarray<const Id, nb::ndim<2>, nb::device::cpu> rows) {
    const auto view = rows.view();
    if (view.shape(1) < 2) throw std::invalid_argument("pairs need two columns");
    return tuple_of_pairs(view.shape(0), [&](size_t i) { return std::pair(view(i, 0), view(i, 1)); });
}

// The strings of each pair with `between` between them and `behind` behind.
nb::str joined_pairs(const nb::list& strings, const nb::tuple& pairs, const nb::str& between,
                     const nb::str& behind) {
    std::vector<Bytes> texts;
    texts.reserve(strings.size());
    for (nb::handle string : strings) {
        const auto text = utf8_of(string.ptr());
        if (!text) throw nb::type_error("strings must be text");
        texts.push_back(*text);
    }
    std::string out;
    const auto append = [&](Bytes text) {
        out.append(reinterpret_cast<const char*>(text.data()), text.size());
    };
    const auto middle = utf8_of(between.ptr()), end = utf8_of(behind.ptr());
    if (!middle || !end) throw nb::type_error("what is put between must be text");
    for (nb::handle pair : pairs) {
        const auto [left, right] = plain_pair(pair);
        if (std::max(left, right) >= texts.size()) throw nb::index_error("a pair names no string");
        for (const Bytes part : {texts[left], *middle, texts[right], *end}) append(part);
    }
    return nb::str(out.data(), out.size());
}

// The six bits of each character of base64; -1 for what is none.
constexpr auto kSixBits = [] {
    std::array<int8_t, 256> bits{};
    bits.fill(-1);
    int8_t next = 0;
    for (const auto& [first, last] : {std::pair('A', 'Z'), {'a', 'z'}, {'0', '9'}, {'+', '+'}, {'/', '/'}})
        for (int c = first; c <= last; ++c) bits[c] = next++;
    return bits;
}();

// The bytes of base64 in its one right form: padded, and the bits that pad are zero.
bool decode_base64(Bytes text, std::vector<uint8_t>& bytes) {
    bytes.clear();
    if (text.empty() || text.size() % 4) return false;
    const size_t padding = text.back() != '=' ? 0 : text[text.size() - 2] != '=' ? 1 : 2;
    for (size_t at = 0; at < text.size(); at += 4) {
        const size_t left_out = at + 4 == text.size() ? padding : 0;
        uint32_t word = 0;
        for (size_t i = 0; i < 4; ++i) {
            const int bits = i + left_out < 4 ? kSixBits[text[at + i]] : 0;
            if (bits < 0) return false;
            word = word << 6 | static_cast<uint32_t>(bits);
        }
        if (word & ((uint32_t{1} << 8 * left_out) - 1)) return false;
        for (size_t i = 0; i + left_out < 3; ++i)
            bytes.push_back(static_cast<uint8_t>(word >> (16 - 8 * i)));
    }
    return true;
}

nb::object rank_lines(const nb::bytes& data) {
    nb::dict ranks;
    std::vector<uint8_t> token;
    size_t count = 0;
    for (Bytes rest = bytes_of(data); !rest.empty(); ++count) {
        const auto space = static_cast<size_t>(std::find(rest.begin(), rest.end(), ' ') - rest.begin());
        if (space == rest.size() || !decode_base64(rest.first(space), token)) return nb::none();
        size_t end = space + 1;
        uint32_t rank = 0;
        for (; end < rest.size() && rest[end] >= '0' && rest[end] <= '9'; ++end)
            rank = rank * 10 + (rest[end] - '0');
        const size_t digits = end - space - 1;
        if (digits == 0 || digits > 9 || end == rest.size() || rest[end] != '\n') return nb::none();
        ranks[to_bytes(token)] = rank;
        rest = rest.subspan(end + 1);
    }
    return ranks.size() == count ? nb::object(ranks) : nb::none();
}

// The characters of an alphabet of 256 that stand for the bytes of tokens.
nb::list to_characters(const nb::list& tokens, const nb::str& alphabet) {
    if (PyUnicode_GET_LENGTH(alphabet.ptr()) != 256) throw nb::value_error("one character per byte");
    std::array<Py_UCS2, 256> characters;
    for (Py_ssize_t byte = 0; byte < 256; ++byte)
        characters[byte] = static_cast<Py_UCS2>(PyUnicode_READ_CHAR(alphabet.ptr(), byte));
    nb::list all;
    std::vector<Py_UCS2> spelled;
    for (nb::handle token : tokens) {
        spelled.clear();
        for (const uint8_t byte : bytes_of(nb::cast<nb::bytes>(token)))
            spelled.push_back(characters[byte]);
        PyObject* string = PyUnicode_FromKindAndData(PyUnicode_2BYTE_KIND, spelled.data(),
                                                     static_cast<Py_ssize_t>(spelled.size()));
        if (!string) throw nb::python_error();
        all.append(nb::steal(string));
    }
    return all;
}

}  // namespace

void bind_flat(nb::module_& m) {
    m.def("pairs", pairs, "rows"_a, "The first two columns of some rows.",
          nb::sig("def pairs(rows: NDArray[numpy.uint32]) -> tuple[tuple[int, int], ...]"));
    m.def("joined_pairs", joined_pairs, "strings"_a, "pairs"_a, "between"_a, "behind"_a,
          "One text of the two strings of each pair, with text between and behind them.",
          nb::sig("def joined_pairs(strings: list[str], pairs: tuple[tuple[int, int], ...],"
                  " between: str, behind: str) -> str"));
    m.def("rank_lines", rank_lines, "data"_a,
          "The numbers of tokens in lines of base64, a space and a number of at most nine digits; None "
          "if a line is anything else, or a token there twice.",
          nb::sig("def rank_lines(data: bytes) -> dict[bytes, int] | None"));
    m.def("to_characters", to_characters, "tokens"_a, "alphabet"_a,
          "Each token spelled with the characters that stand for its bytes.",
          nb::sig("def to_characters(tokens: list[bytes], alphabet: str) -> list[str]"));
}

}  // namespace bpe::bindings
