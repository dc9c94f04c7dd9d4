// `Vocabulary`: tokens, kinds and merges, which Python sees as tuples.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <ranges>

#include "../base/unicode.h"
#include "../encode/spelling.h"
#include "pairs.h"

namespace bpe::bindings {
namespace {

std::vector<Kind> kinds_of(const nb::bytes& numbers) {
    std::vector<Kind> kinds;
    for (const uint8_t number : bytes_of(numbers)) kinds.push_back(static_cast<Kind>(number));
    return kinds;
}

// None if there is anything but bytes in `tokens` and pairs of ids in `merges`, too.
std::shared_ptr<const Vocabulary> vocabulary_of(const nb::tuple& tokens, const nb::bytes& kinds,
                                                const nb::tuple& merges, size_t cut) {
    ByteStrings strings;
    strings.reserve(tokens.size(), 8 * tokens.size());
    for (nb::handle token : tokens) {
        if (!PyBytes_Check(token.ptr())) return nullptr;
        strings.push_back(bytes_of(nb::borrow<nb::bytes>(token)));
    }
    std::vector<Merge> pairs;
    pairs.reserve(merges.size());
    for (nb::handle merge : merges) {
        const auto [left, right] = plain_pair(merge);
        pairs.push_back({left, right});
    }
    return Vocabulary::make(std::move(strings), kinds_of(kinds), std::move(pairs), cut);
}

// Tokens, those that merges of them make in turn, and more; each id is told its kind by its place.
std::shared_ptr<Vocabulary> grown(const nb::list& tokens, const nb::list& behind,
                                  const nb::bytes& kinds,
                                  nb::ndarray<const Id, nb::ndim<2>, nb::device::cpu> pairs, size_t cut) {
    ByteStrings strings;
    for (nb::handle token : tokens) strings.push_back(bytes_of(nb::cast<nb::bytes>(token)));
    std::vector<Merge> merges;
    std::vector<uint8_t> room;
    const auto view = pairs.view();
    for (size_t i = 0; i < view.shape(0); ++i) {
        const Id left = view(i, 0), right = view(i, 1);
        if (std::max(left, right) >= strings.size()) throw nb::index_error("a merge of no tokens");
        merges.push_back({left, right, static_cast<Id>(strings.size())});
        strings.push_back(joined(strings[left], strings[right], cut, room));
    }
    for (nb::handle token : behind) strings.push_back(bytes_of(nb::cast<nb::bytes>(token)));
    return std::const_pointer_cast<Vocabulary>(
        Vocabulary::make(std::move(strings), kinds_of(kinds), std::move(merges), cut));
}

nb::tuple tokens_of(const Vocabulary& vocabulary) {
    const ByteStrings& tokens = vocabulary.tokens();
    nb::tuple all = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(tokens.size())));
    if (!all.ptr()) throw nb::python_error();
    for (size_t id = 0; id < tokens.size(); ++id)
        PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(id), to_bytes(tokens[id]).release().ptr());
    return all;
}

nb::tuple merges_of(const Vocabulary& vocabulary) {
    const auto merges = vocabulary.merges();
    return tuple_of_pairs(merges.size(), [&](size_t i) { return std::pair(merges[i].left, merges[i].right); });
}

Matrix<Id> rows_of(const Vocabulary& vocabulary) {
    std::vector<Id> rows;
    rows.reserve(3 * vocabulary.merges().size());
    for (const auto& [left, right, merged] : vocabulary.merges())
        rows.insert(rows.end(), {left, right, merged});
    return to_matrix(std::move(rows), 3);
}

nb::bytes token_at(const Vocabulary& vocabulary, int64_t id) {
    if (id < 0 || static_cast<size_t>(id) >= vocabulary.size()) throw nb::index_error("no such token");
    return to_bytes(vocabulary.tokens()[static_cast<size_t>(id)]);
}

nb::tuple byte_ids(const Vocabulary& vocabulary) {
    nb::list ids;
    for (size_t byte = 0; byte < 256; ++byte) {
        const auto value = static_cast<uint8_t>(byte);
        const auto id = vocabulary.index().find({&value, 1});
        ids.append(id ? nb::object(nb::int_(*id)) : nb::none());
    }
    return nb::tuple(ids);
}

Array<uint32_t> sizes_of(const Vocabulary& vocabulary) {
    std::vector<uint32_t> sizes;
    sizes.reserve(vocabulary.size());
    for (size_t id = 0; id < vocabulary.size(); ++id)
        sizes.push_back(static_cast<uint32_t>(vocabulary.tokens()[id].size()));
    return to_array(std::move(sizes));
}

Array<Id> not_utf8(const Vocabulary& vocabulary) {
    std::vector<Id> ids;
    for (Id id = 0; id < vocabulary.size(); ++id) {
        const Bytes token = vocabulary.tokens()[id];
        if (first_invalid(token) < token.size()) ids.push_back(id);
    }
    return to_array(std::move(ids));
}

bool same_tokens(const Vocabulary& a, const Vocabulary& b) {
    return a.kinds() == b.kinds() && std::ranges::equal(a.tokens().ends(), b.tokens().ends()) &&
           equal(a.tokens().blob(), b.tokens().blob());
}

bool same_merges(const Vocabulary& a, const Vocabulary& b) {
    return std::ranges::equal(a.merges(), b.merges(), [](const Merge& x, const Merge& y) {
        return x.left == y.left && x.right == y.right;
    });
}

ByteStrings strings_of(const Vocabulary& vocabulary, const std::optional<nb::str>& alphabet,
                       const nb::dict& replaced) {
    Characters characters;
    if (alphabet && nb::len(*alphabet) != characters.size())
        throw nb::value_error("one character per byte");
    for (size_t byte = 0; alphabet && byte < characters.size(); ++byte)
        characters[byte] = nb::cast<std::string>((*alphabet)[byte]);
    std::map<Id, std::string> strings;
    for (auto [id, string] : replaced) strings[nb::cast<Id>(id)] = nb::cast<std::string>(string);
    return spelled(vocabulary, alphabet ? &characters : nullptr, strings);
}

}  // namespace

void bind_vocabulary(nb::module_& m) {
    nb::class_<Vocabulary>(m, "Vocabulary")
        .def_static("of", [](const nb::tuple& tokens, const nb::bytes& kinds, const nb::tuple& merges,
                             size_t cut) {
            return std::const_pointer_cast<Vocabulary>(vocabulary_of(tokens, kinds, merges, cut));
        }, "tokens"_a, "kinds"_a, "merges"_a, "cut"_a,
        "None unless normal tokens differ, kinds go with tokens, and merges of tokens make normal ones "
        "after `cut` bytes of the right one are dropped; also for what would need a closer look.",
        nb::sig("def of(tokens: tuple[bytes, ...], kinds: bytes, merges: tuple[tuple[int, int], ...],"
                " cut: int) -> Vocabulary | None"))
        .def_static("grown", grown, "tokens"_a, "behind"_a, "kinds"_a, "pairs"_a, "cut"_a,
                    "Of tokens, of what merges of them make in turn, and of the tokens behind these; "
                    "None as from `of`.",
                    nb::sig("def grown(tokens: list[bytes], behind: list[bytes], kinds: bytes,"
                            " pairs: NDArray[numpy.uint32], cut: int) -> Vocabulary | None"))
        .def("__len__", &Vocabulary::size)
        .def("__getitem__", token_at, "id"_a)
        .def("byte_ids", byte_ids, "Of each byte, the normal token that it alone is.",
             nb::sig("def byte_ids(self) -> tuple[int | None, ...]"))
        .def("sizes", sizes_of, "The bytes of each token.")
        .def("not_utf8", not_utf8, "The ids of tokens that are no text.")
        .def("same_tokens", same_tokens, "other"_a, "Whether each id is the same, and of one kind.")
        .def("same_merges", same_merges, "other"_a, "Whether the pairs are the same, and their order.")
        .def("strings", strings_of, "alphabet"_a.none(), "replaced"_a,
             "Of each token, its bytes in the characters of an alphabet, or as UTF-8, which they must "
             "be; some may be replaced.",
             nb::sig("def strings(self, alphabet: str | None, replaced: dict[int, str]) -> Strings"))
        .def("tokens", tokens_of, nb::sig("def tokens(self) -> tuple[bytes, ...]"))
        .def("merges", merges_of, nb::sig("def merges(self) -> tuple[tuple[int, int], ...]"))
        .def("rows", rows_of, "Rows (left, right, merged) of the merges.")
        .def("has_merges", [](const Vocabulary& v) { return !v.merges().empty(); })
        .def("kinds", [](const Vocabulary& v) {
            return nb::bytes(v.kinds().data(), v.kinds().size());
        }, "The number of each token's kind.");
}

}  // namespace bpe::bindings
