// Merges of strings to merges of ids.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>

#include "../base/json.h"
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
    if (!text) return std::nullopt;
    const auto space = std::find(text->begin(), text->end(), ' ');
    if (space == text->end() || std::find(space + 1, text->end(), ' ') != text->end())
        return std::nullopt;
    const auto at = static_cast<size_t>(space - text->begin());
    return std::pair(text->first(at), text->subspan(at + 1));
}

// Strings and their ids, found by their UTF-8.
struct Vocabulary {
    ByteStrings strings;
    std::vector<Id> ids;
    BytesIndex index{strings};

    // False if there is anything but strings and ids.
    bool add(const nb::dict& vocab) {
        strings.reserve(vocab.size(), 8 * vocab.size());
        for (auto [string, number] : vocab) {
            const auto text = utf8_of(string.ptr());
            const Id id = plain_id(number.ptr());
            if (!text || id == kNoId) return false;
            strings.push_back(*text);
            ids.push_back(id);
        }
        index.rebuild();
        return true;
    }
    // Appends the ids of all strings; false if one has none.
    bool find(std::span<const Bytes> sought, std::vector<Id>& found) const {
        return index.find_all(sought, [&](Id place) { found.push_back(ids[place]); });
    }
};

// Rows of the ids of left, right and what they make together, for so many merges, whose halves
// `halves_at(i)` gives; none if one has none, an empty half, or a string without an id.
template <class HalvesAt>
std::optional<Matrix<Id>> rows_of(const nb::dict& vocab, size_t merges, HalvesAt&& halves_at) {
    Vocabulary known;
    if (!known.add(vocab)) return std::nullopt;
    constexpr size_t kBatch = 64;
    std::vector<Id> rows;
    rows.reserve(3 * merges);
    std::array<std::vector<uint8_t>, kBatch> made;
    std::vector<Bytes> sought;
    for (size_t i = 0; i < merges; ++i) {
        const std::optional<std::pair<Bytes, Bytes>> halves = halves_at(i);
        if (!halves || halves->first.empty() || halves->second.empty()) return std::nullopt;
        const auto [left, right] = *halves;
        auto& together = made[i % kBatch];
        together.assign(left.begin(), left.end());
        together.insert(together.end(), right.begin(), right.end());
        sought.insert(sought.end(), {left, right, together});
        if (i % kBatch + 1 < kBatch && i + 1 < merges) continue;
        if (!known.find(sought, rows)) return std::nullopt;
        sought.clear();
    }
    return to_matrix(std::move(rows), 3);
}

std::optional<Matrix<Id>> merge_ids(const nb::dict& vocab, const nb::list& merges) {
    const PyTypeObject* form = merges.size() > 0 ? Py_TYPE(merges[0].ptr()) : nullptr;
    return rows_of(vocab, merges.size(), [&](size_t i) {
        PyObject* merge = PyList_GET_ITEM(merges.ptr(), static_cast<Py_ssize_t>(i));
        return Py_TYPE(merge) == form ? halves_of(merge) : std::nullopt;
    });
}

std::optional<Matrix<Id>> ids_of(const JsonMerges& merges, const nb::dict& vocab) {
    return rows_of(vocab, merges.halves.size() / 2, [&](size_t i) {
        return std::optional(std::pair(merges.halves[2 * i], merges.halves[2 * i + 1]));
    });
}

// What a full reader would have made of them.
nb::list list_of(const JsonMerges& merges) {
    const auto text = [](Bytes utf8) { return nb::str(reinterpret_cast<const char*>(utf8.data()), utf8.size()); };
    nb::list all;
    for (size_t i = 0; i < merges.halves.size(); i += 2) {
        const nb::str left = text(merges.halves[i]), right = text(merges.halves[i + 1]);
        if (merges.in_lists) {
            nb::list pair;
            pair.append(left);
            pair.append(right);
            all.append(pair);
        } else {
            all.append(left + nb::str(" ") + right);
        }
    }
    return all;
}

}  // namespace

void bind_merges(nb::module_& m) {
    nb::class_<JsonMerges>(m, "JsonMerges")
        .def_ro("begin", &JsonMerges::begin)
        .def_ro("end", &JsonMerges::end)
        .def("ids", ids_of, "vocab"_a, "The same as `merge_ids` of the list.",
             nb::sig("def ids(self, vocab: dict[str, int])"
                     " -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))] | None"))
        .def("unpacked", list_of, "The list.", nb::sig("def unpacked(self) -> list[object]"));
    m.def("find_merges",
          [](const nb::bytes& json, std::string_view parent, std::string_view key) {
              return find_merges(bytes_of(json), parent, key);
          }, "json"_a, "parent"_a, "key"_a,
          "The list of merges at a key of an object in a JSON object, and from which offset to which "
          "it reaches; None if there is none, or anything unusual about it.");
    m.def("merge_ids", merge_ids, "vocab"_a, "merges"_a,
          "Rows (left, right, made) of merges of strings, all pairs or all strings with a space; None "
          "if one is not that, or names or makes what is not in the vocab.",
          nb::sig("def merge_ids(vocab: dict[str, int], merges: list[object])"
                  " -> Annotated[NDArray[numpy.uint32], dict(shape=(None, None))] | None"));
}

}  // namespace bpe::bindings
