// Strings and merges of strings, as a tokenizer.json lists them, to ids and bytes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <bit>

#include "../base/json.h"
#include "../encode/spelling.h"
#include "ids.h"

namespace bpe::bindings {
namespace {

// The halves of a merge: a list or tuple of two strings, or a string with one space.
std::optional<std::pair<Bytes, Bytes>> halves_of(PyObject* merge) {
    if (!PyUnicode_Check(merge)) {
        if (!PyList_CheckExact(merge) && !PyTuple_CheckExact(merge)) return std::nullopt;
        if (PySequence_Fast_GET_SIZE(merge) != 2) return std::nullopt;
        const auto left = utf8_of(PySequence_Fast_GET_ITEM(merge, 0));
        const auto right = utf8_of(PySequence_Fast_GET_ITEM(merge, 1));
        if (!left || !right) return std::nullopt;
        return std::pair(*left, *right);
    }
    const auto text = utf8_of(merge);
    return text ? bpe::halves_of(*text) : std::nullopt;
}

std::optional<Matrix<Id>> merge_ids(const StringIds& strings, const nb::list& merges) {
    const PyTypeObject* form = merges.size() > 0 ? Py_TYPE(merges[0].ptr()) : nullptr;
    MergeRows rows(strings);
    for (nb::handle merge : merges) {
        const auto halves = Py_TYPE(merge.ptr()) == form ? halves_of(merge.ptr()) : std::nullopt;
        if (!halves || !rows.add(halves->first, halves->second)) return std::nullopt;
    }
    auto finished = rows.finish();
    return finished ? std::optional(to_matrix(std::move(*finished), 3)) : std::nullopt;
}

nb::dict dict_of(const StringIds& strings) {
    nb::dict all;
    for (size_t i = 0; i < strings.size(); ++i) all[to_str(strings.string(i))] = strings.ids()[i];
    return all;
}

nb::dict dict_of_bytes(const StringIds& strings) {
    nb::dict all;
    for (size_t i = 0; i < strings.size(); ++i) all[to_bytes(strings.string(i))] = strings.ids()[i];
    return all;
}

// The bytes of a bytes, the UTF-8 of a str.
std::optional<Bytes> string_of(nb::handle string) {
    if (PyBytes_Check(string.ptr())) return bytes_of(nb::borrow<nb::bytes>(string));
    return utf8_of(string.ptr());
}

// Null if there is anything but strings and ids.
std::shared_ptr<StringIds> strings_of(const nb::dict& vocab) {
    auto strings = std::make_shared<StringIds>();
    strings->reserve(vocab.size(), 8 * vocab.size());
    for (auto [string, number] : vocab) {
        const auto text = string_of(string);
        const Id id = plain_id(number.ptr());
        if (!text || id == kNoId) return nullptr;
        strings->push_back(*text, id);
    }
    return strings->build_index() ? strings : nullptr;
}

std::optional<Id> find(const StringIds& strings, nb::handle string) {
    const auto text = string_of(string);
    return text ? strings.find(*text) : std::nullopt;
}

// One more than the greatest id.
size_t end_of(const StringIds& strings) {
    size_t end = 0;
    for (const Id id : strings.ids()) end = std::max(end, size_t{id} + 1);
    return end;
}

bool has_distinct_ids(const StringIds& strings) {
    std::vector<bool> is_taken(end_of(strings));
    for (const Id id : strings.ids()) {
        if (is_taken[id]) return false;
        is_taken[id] = true;
    }
    return true;
}

Alphabet alphabet_of(const nb::str& characters) {
    Alphabet bytes;
    bytes.fill(-1);
    for (Py_ssize_t byte = 0; byte < PyUnicode_GET_LENGTH(characters.ptr()); ++byte)
        bytes.at(PyUnicode_READ_CHAR(characters.ptr(), byte)) = static_cast<int16_t>(byte);
    return bytes;
}

void make_spelling(Spelling* self, const StringIds& strings, size_t size,
                   std::optional<nb::str> alphabet, bool byte_fallback) {
    for (const Id id : strings.ids())
        if (id >= size) throw std::invalid_argument("an id beyond the size");
    const auto bytes = alphabet ? std::optional(alphabet_of(*alphabet)) : std::nullopt;
    new (self) Spelling(strings, size, bytes ? &*bytes : nullptr, byte_fallback);
}

std::map<Id, std::string> map_of(const nb::dict& replaced) {
    std::map<Id, std::string> tokens;
    for (auto [id, token] : replaced) {
        const Bytes bytes = bytes_of(nb::cast<nb::bytes>(token));
        tokens[nb::cast<Id>(id)] = std::string(bytes.begin(), bytes.end());
    }
    return tokens;
}

nb::list tokens_of(const Spelling& spelling, const nb::dict& replaced) {
    const ByteStrings tokens = spelling.tokens(map_of(replaced));
    nb::list all;
    for (size_t id = 0; id < tokens.size(); ++id) all.append(to_bytes(tokens[id]));
    return all;
}

// Of equal pairs, only the last: a tokenizer.json may have others.
LargeVector<Id> last_rows(nb::ndarray<const Id, nb::ndim<2>, nb::device::cpu> rows) {
    const auto view = rows.view();
    ZeroedArray<uint64_t> slots(std::bit_ceil(2 * view.shape(0) + 1));  // pairs plus one
    std::vector<bool> is_last(view.shape(0));
    for (size_t i = view.shape(0); i-- > 0;) {
        const uint64_t pair = (uint64_t{view(i, 0)} << 32 | view(i, 1)) + 1;
        size_t slot = hash_of(pair) & (slots.size() - 1);
        while (slots[slot] != 0 && slots[slot] != pair) slot = (slot + 1) & (slots.size() - 1);
        is_last[i] = slots[slot] == 0;
        slots[slot] = pair;
    }
    LargeVector<Id> kept;
    for (size_t i = 0; i < view.shape(0); ++i)
        for (size_t column = 0; is_last[i] && column < view.shape(1); ++column)
            kept.push_back(view(i, column));
    return kept;
}

// Rows hold left, right and, if known, merged ids.
std::shared_ptr<Vocabulary> vocabulary_of(const Spelling& spelling, ArrayView<uint8_t> kinds,
                                          const nb::dict& replaced,
                                          nb::ndarray<const Id, nb::ndim<2>, nb::device::cpu> rows,
                                          size_t cut) {
    std::vector<Kind> kinds_now;
    for (const uint8_t kind : span_of(kinds)) kinds_now.push_back(static_cast<Kind>(kind));
    std::vector<Merge> merges;
    const auto view = rows.view();
    merges.reserve(view.shape(0));
    for (size_t i = 0; i < view.shape(0); ++i)
        merges.push_back({view(i, 0), view(i, 1), view.shape(1) > 2 ? view(i, 2) : kNoId});
    return std::const_pointer_cast<Vocabulary>(Vocabulary::make(
        spelling.tokens(map_of(replaced)), std::move(kinds_now), std::move(merges), cut));
}

}  // namespace

void bind_strings(nb::module_& m) {
    nb::class_<StringIds>(m, "StringIds")
        .def_static("of", strings_of, "vocab"_a,
                    "Strings and their ids; None if anything in the dict is something else.",
                    nb::sig("def of(vocab: dict[str, int] | dict[bytes, int]) -> StringIds | None"))
        .def("__len__", &StringIds::size)
        .def("find", find, "string"_a, "The id of a string, or None.",
             nb::sig("def find(self, string: str | bytes) -> int | None"))
        .def_prop_ro("end", end_of, "One more than the greatest id.")
        .def("has_distinct_ids", has_distinct_ids)
        .def("to_dict", dict_of, nb::sig("def to_dict(self) -> dict[str, int]"))
        .def("to_dict_of_bytes", dict_of_bytes,
             nb::sig("def to_dict_of_bytes(self) -> dict[bytes, int]"))
        .def("merge_ids", merge_ids, "merges"_a,
             "Rows (left, right, made) of merges of strings, all pairs or all strings with a space; "
             "None if one is not that, or names or makes what is not here.",
             nb::sig("def merge_ids(self, merges: list[object])"
                     " -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))] | None"));
    nb::class_<JsonPart>(m, "JsonPart").def_ro("begin", &JsonPart::begin).def_ro("end", &JsonPart::end);
    nb::class_<JsonModel>(m, "JsonModel")
        .def_ro("vocab", &JsonModel::vocab)
        .def_ro("merges", &JsonModel::merges)
        .def_ro("strings", &JsonModel::strings)
        .def("rows", [](JsonModel& model) { return to_matrix(std::move(model.rows), 3); },
             "Rows (left, right, made) of the merges; to be asked for once.");
    m.def("find_model", [](nb::handle json) {
              const Text text(json);
              const nb::gil_scoped_release released;
              return find_model(text);
          }, "json"_a,
          "The vocab and the merges of a tokenizer.json, which make strings of the vocab, and where in "
          "it they are; None if there is anything unusual about them.");
    m.def("last_rows",
          [](nb::ndarray<const Id, nb::ndim<2>, nb::device::cpu> rows) {
              const size_t columns = rows.shape(1);
              return to_matrix(last_rows(std::move(rows)), columns);
          }, "rows"_a, "The rows without those whose first two columns come again.",
          nb::sig("def last_rows(rows: NDArray[numpy.uint32]) -> NDArray[numpy.uint32]"));
    nb::class_<Spelling>(m, "Spelling")
        .def("__init__", make_spelling, "strings"_a, "size"_a, "alphabet"_a.none(), "byte_fallback"_a)
        .def("kinds", [](const Spelling& spelling) {
            std::vector<uint8_t> numbers;
            for (const Kind kind : spelling.kinds()) numbers.push_back(static_cast<uint8_t>(kind));
            return to_array(std::move(numbers));
        }, "The number of each token's kind.")
        .def("tokens", tokens_of, "replaced"_a, "By their ids; some may be replaced.",
             nb::sig("def tokens(self, replaced: dict[int, bytes]) -> list[bytes]"))
        .def("vocabulary", vocabulary_of, "kinds"_a, "replaced"_a, "merges"_a, "cut"_a,
             "With these kinds, tokens replaced, and merges in rows (left, right) or (left, right, "
             "merged); None as from `Vocabulary.of`.",
             nb::sig("def vocabulary(self, kinds: NDArray[numpy.uint8], replaced: dict[int, bytes],"
                     " merges: NDArray[numpy.uint32], cut: int) -> Vocabulary | None"));
}

}  // namespace bpe::bindings
