// Whole vocabularies between Python's tuples and flat arrays: what would be a step of the interpreter
// for each token or merge.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <string>
#include <string_view>

#include "../base/json.h"
#include "pairs.h"

namespace bpe::bindings {
namespace {

nb::tuple pairs(nb::ndarray<const Id, nb::ndim<2>, nb::device::cpu> rows) {
    const auto view = rows.view();
    if (view.shape(1) < 2) throw std::invalid_argument("pairs need two columns");
    return tuple_of_pairs(view.shape(0), [&](size_t i) { return std::pair(view(i, 0), view(i, 1)); });
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

// Null unless each line is the base64 of another token, a space and a number.
std::shared_ptr<StringIds> rank_lines(const nb::bytes& data) {
    auto ranks = std::make_shared<StringIds>();
    std::vector<uint8_t> token;
    for (Bytes rest = bytes_of(data); !rest.empty();) {
        const auto space = static_cast<size_t>(std::find(rest.begin(), rest.end(), ' ') - rest.begin());
        if (space == rest.size() || !decode_base64(rest.first(space), token)) return nullptr;
        size_t end = space + 1;
        uint32_t rank = 0;
        for (; end < rest.size() && rest[end] >= '0' && rest[end] <= '9'; ++end)
            rank = rank * 10 + (rest[end] - '0');
        const size_t digits = end - space - 1;
        if (digits == 0 || digits > 9 || end == rest.size() || rest[end] != '\n') return nullptr;
        ranks->push_back(token, rank);
        rest = rest.subspan(end + 1);
    }
    return ranks->build_index() ? ranks : nullptr;
}

Bytes string_at(const ByteStrings& strings, int64_t place) {
    if (place < 0 || static_cast<size_t>(place) >= strings.size()) throw nb::index_error("no such string");
    return strings[static_cast<size_t>(place)];
}

nb::list list_of(const ByteStrings& strings) {
    nb::list all;
    for (size_t i = 0; i < strings.size(); ++i) all.append(to_str(strings[i]));
    return all;
}

// Empty ones aside.
bool are_distinct(const ByteStrings& strings) {
    BytesIndex index(strings, strings.size());
    for (size_t i = 0; i < strings.size(); ++i) {
        index.look_ahead(i);
        const auto place = static_cast<Id>(i);
        if (!strings[i].empty() && index.insert(place) != place) return false;
    }
    return true;
}

using Rows = nb::ndarray<const Id, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// All ids of rows whose first two are places of strings.
std::span<const Id> checked(const Rows& rows, const ByteStrings& strings) {
    if (rows.shape(1) < 2) throw std::invalid_argument("pairs need two columns");
    const std::span<const Id> ids(rows.data(), rows.size());
    for (size_t at = 0; at < ids.size(); at += rows.shape(1))
        if (std::max(ids[at], ids[at + 1]) >= strings.size()) throw nb::index_error("a row of no strings");
    return ids;
}

nb::bytes joined_pairs(const ByteStrings& strings, const Rows& rows, std::string_view between,
                       std::string_view behind) {
    std::string out;
    const auto append = [&](Bytes text) { out.append(text.begin(), text.end()); };
    const std::span<const Id> ids = checked(rows, strings);
    for (size_t at = 0; at < ids.size(); at += rows.shape(1)) {
        append(strings[ids[at]]);
        out += between;
        append(strings[ids[at + 1]]);
        out += behind;
    }
    return nb::bytes(out.data(), out.size());
}

Array<uint8_t> json_model(const ByteStrings& strings, ArrayView<Id> inside, const Rows& rows,
                          std::string_view before, std::string_view behind) {
    for (const Id id : span_of(inside)) string_at(strings, id);
    LargeVector<uint8_t> out(before.begin(), before.end());
    append_model(strings, span_of(inside), checked(rows, strings), rows.shape(1), out);
    out.insert(out.end(), behind.begin(), behind.end());
    return to_array(std::move(out));
}

}  // namespace

void bind_flat(nb::module_& m) {
    m.def("pairs", pairs, "rows"_a, "The first two columns of some rows.",
          nb::sig("def pairs(rows: NDArray[numpy.uint32]) -> tuple[tuple[int, int], ...]"));
    m.def("rank_lines", rank_lines, "data"_a,
          "The numbers of tokens in lines of base64, a space and a number of at most nine digits; None "
          "if a line is anything else, or a token there twice.",
          nb::sig("def rank_lines(data: bytes) -> StringIds | None"));
    nb::class_<ByteStrings>(m, "Strings")
        .def("__len__", &ByteStrings::size)
        .def("__getitem__", [](const ByteStrings& strings, int64_t place) {
            return to_str(string_at(strings, place));
        }, "place"_a)
        .def("to_list", list_of, nb::sig("def to_list(self) -> list[str]"))
        .def("are_distinct", are_distinct, "Whether no two are the same, empty ones aside.")
        .def("joined_pairs", joined_pairs, "rows"_a, "between"_a, "behind"_a,
             "One text of the two strings at the first two places of each row, with text between and "
             "behind them.",
             nb::sig("def joined_pairs(self, rows: NDArray[numpy.uint32], between: str, behind: str)"
                     " -> bytes"))
        .def("json_model", json_model, "inside"_a, "rows"_a, "before"_a, "behind"_a,
             "`{STRING:PLACE,…},\"merges\":[[STRING,STRING],…]` in UTF-8, of the strings inside and of "
             "those at the first two places of each row, with text before and behind it.",
             nb::sig("def json_model(self, inside: NDArray[numpy.uint32], rows: NDArray[numpy.uint32],"
                     " before: str, behind: str) -> NDArray[numpy.uint8]"));
}

}  // namespace bpe::bindings
