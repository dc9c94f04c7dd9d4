// Whole vocabularies between Python's tuples and flat arrays: what would be a step of the interpreter
// for each token or merge.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <array>
#include <optional>
#include <string>

#include "../encode/model.h"
#include "ids.h"

namespace bpe::bindings {
namespace {

// None if there is anything but bytes.
std::optional<ByteStrings> strings_of(const nb::tuple& tokens) {
    ByteStrings strings;
    strings.reserve(tokens.size(), 8 * tokens.size());
    for (nb::handle token : tokens) {
        if (!PyBytes_Check(token.ptr())) return std::nullopt;
        strings.push_back(bytes_of(nb::borrow<nb::bytes>(token)));
    }
    return strings;
}

std::pair<nb::bytes, Array<int64_t>> joined(const nb::tuple& tokens) {
    auto strings = strings_of(tokens);
    if (!strings) throw nb::type_error("tokens must be bytes");
    std::vector<int64_t> ends(strings->ends().begin(), strings->ends().end());
    return {to_bytes(strings->blob()), to_array(std::move(ends))};
}

// Left and right of a tuple of two plain ints; kNoId in the place of anything else.
std::pair<Id, Id> plain_pair(nb::handle pair) {
    if (!PyTuple_CheckExact(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) return {kNoId, kNoId};
    return {plain_id(PyTuple_GET_ITEM(pair.ptr(), 0)), plain_id(PyTuple_GET_ITEM(pair.ptr(), 1))};
}

bool is_sound(const nb::tuple& tokens, const nb::bytes& kinds, const nb::tuple& merges, size_t cut) {
    const auto strings = strings_of(tokens);
    const Bytes numbers = bytes_of(kinds);
    if (!strings || numbers.size() != strings->size()) return false;
    BytesIndex normal(*strings, strings->size());
    for (Id id = 0; id < strings->size(); ++id) {
        normal.look_ahead(id);
        const auto kind = static_cast<Kind>(numbers[id]);
        if ((*strings)[id].empty() ? kind != Kind::unused && kind != Kind::control
                                   : kind == Kind::unused)
            return false;
        if (kind == Kind::normal && normal.insert(id) != id) return false;
    }
    constexpr size_t kBatch = 64;
    std::array<std::vector<uint8_t>, kBatch> made;
    std::vector<Bytes> sought;
    for (size_t i = 0; i < merges.size(); ++i) {
        const auto [left, right] = plain_pair(merges[i]);
        if (std::max(left, right) >= strings->size()) return false;
        const Bytes a = (*strings)[left], b = (*strings)[right];
        auto& together = made[sought.size()];
        together.assign(a.begin(), a.end());
        together.insert(together.end(), b.begin() + std::min(cut, b.size()), b.end());
        sought.push_back(together);
        if (sought.size() < kBatch && i + 1 < merges.size()) continue;
        if (!normal.find_all(sought, [](Id) {})) return false;
        sought.clear();
    }
    return true;
}

// Tuples of ints hold nothing that refers back to them: the cyclic collector need not know them,
// and would go through each.
nb::tuple pairs(nb::ndarray<const Id, nb::ndim<2>, nb::device::cpu> rows) {
    Ints ints;
    const auto view = rows.view();
    if (view.shape(1) < 2) throw std::invalid_argument("pairs need two columns");
    nb::tuple all = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(view.shape(0))));
    if (!all.ptr()) throw nb::python_error();
    for (size_t i = 0; i < view.shape(0); ++i) {
        PyObject* pair = PyTuple_New(2);
        if (!pair) throw nb::python_error();
        PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(i), pair);
        for (size_t side = 0; side < 2; ++side) {
            PyObject* id = ints.get(view(i, side));
            if (!id) throw nb::python_error();
            PyTuple_SET_ITEM(pair, static_cast<Py_ssize_t>(side), id);
        }
        PyObject_GC_UnTrack(pair);
    }
    PyObject_GC_UnTrack(all.ptr());
    return all;
}

// Pairs may be any sequences of two things that are integers.
Matrix<Id> pair_array(const nb::tuple& merges) {
    std::vector<Id> values;
    values.reserve(2 * merges.size());
    for (nb::handle merge : merges) {
        auto [left, right] = plain_pair(merge);
        if (left == kNoId || right == kNoId) std::tie(left, right) = nb::cast<std::pair<Id, Id>>(merge);
        values.insert(values.end(), {left, right});
    }
    return to_matrix(std::move(values), 2);
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

// The bytes that strings stand for if the characters of `alphabet` are bytes 0 to 255.
nb::list from_characters(const nb::list& strings, const nb::str& alphabet) {
    std::vector<int16_t> bytes(1 << 10, -1);
    for (Py_ssize_t byte = 0; byte < PyUnicode_GET_LENGTH(alphabet.ptr()); ++byte)
        bytes.at(PyUnicode_READ_CHAR(alphabet.ptr(), byte)) = static_cast<int16_t>(byte);
    nb::list all;
    std::vector<uint8_t> spelled;
    for (nb::handle string : strings) {
        if (!PyUnicode_Check(string.ptr())) throw nb::type_error("strings must be str");
        const int kind = PyUnicode_KIND(string.ptr());
        const void* data = PyUnicode_DATA(string.ptr());
        spelled.resize(static_cast<size_t>(PyUnicode_GET_LENGTH(string.ptr())));
        bool known = true;
        for (size_t i = 0; known && i < spelled.size(); ++i) {
            const Py_UCS4 c = PyUnicode_READ(kind, data, static_cast<Py_ssize_t>(i));
            known = c < bytes.size() && bytes[c] >= 0;
            if (known) spelled[i] = static_cast<uint8_t>(bytes[c]);
        }
        all.append(known ? nb::object(to_bytes(spelled)) : nb::none());
    }
    return all;
}

// The other way round.
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
    m.def("joined", joined, "tokens"_a, "All tokens one after the other, and where each ends.",
          nb::sig("def joined(tokens: tuple[bytes, ...])"
                  " -> tuple[bytes, Annotated[NDArray[numpy.int64], dict(shape=(None,))]]"));
    m.def("is_sound", is_sound, "tokens"_a, "kinds"_a, "merges"_a, "cut"_a,
          "Whether normal tokens differ, kinds go with tokens, and merges of them make normal tokens "
          "after `cut` bytes of the right one are dropped. False also for what would need a closer "
          "look.",
          nb::sig("def is_sound(tokens: tuple[bytes, ...], kinds: bytes,"
                  " merges: tuple[tuple[int, int], ...], cut: int) -> bool"));
    m.def("pairs", pairs, "rows"_a, "The first two columns of some rows.",
          nb::sig("def pairs(rows: NDArray[numpy.uint32]) -> tuple[tuple[int, int], ...]"));
    m.def("pair_array", pair_array, "pairs"_a, "The same the other way round.",
          nb::sig("def pair_array(pairs: tuple[tuple[int, int], ...])"
                  " -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))]"));
    m.def("joined_pairs", joined_pairs, "strings"_a, "pairs"_a, "between"_a, "behind"_a,
          "One text of the two strings of each pair, with text between and behind them.",
          nb::sig("def joined_pairs(strings: list[str], pairs: tuple[tuple[int, int], ...],"
                  " between: str, behind: str) -> str"));
    m.def("rank_lines", rank_lines, "data"_a,
          "The numbers of tokens in lines of base64, a space and a number of at most nine digits; None "
          "if a line is anything else, or a token there twice.",
          nb::sig("def rank_lines(data: bytes) -> dict[bytes, int] | None"));
    m.def("from_characters", from_characters, "strings"_a, "alphabet"_a,
          "The bytes of each string in which the characters of an alphabet stand for bytes; None if "
          "there is another character.",
          nb::sig("def from_characters(strings: list[str], alphabet: str) -> list[bytes | None]"));
    m.def("to_characters", to_characters, "tokens"_a, "alphabet"_a, "The same the other way round.",
          nb::sig("def to_characters(tokens: list[bytes], alphabet: str) -> list[str]"));
}

}  // namespace bpe::bindings
