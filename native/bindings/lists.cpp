// Lists of Python ints: made of arrays of ids, and made arrays of.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "bound_encoder.h"

namespace bpe::bindings {
namespace {

// Each text's ids between those that a template puts around; of the text's own, at most `most`,
// from its end if `left`.
nb::list id_lists(const BoundEncoder& encoder, ArrayView<Id> ids, ArrayView<int64_t> offsets,
                  const std::vector<Id>& front, const std::vector<Id>& back, size_t most,
                  bool left) {
    const auto all = span_of(ids);
    const auto ends = span_of(offsets);
    const CollectorPause pause;
    nb::list lists;
    std::vector<Id> row;
    for (size_t i = 1; i < ends.size(); ++i) {
        if (ends[i - 1] < 0 || ends[i] < ends[i - 1] || static_cast<size_t>(ends[i]) > all.size())
            throw std::invalid_argument("the offsets do not fit the ids");
        auto own = all.subspan(static_cast<size_t>(ends[i - 1]),
                               static_cast<size_t>(ends[i] - ends[i - 1]));
        if (own.size() > most) own = left ? own.last(most) : own.first(most);
        if (!front.empty() || !back.empty()) {
            row = front;
            row.insert(row.end(), own.begin(), own.end());
            row.insert(row.end(), back.begin(), back.end());
            own = row;
        }
        lists.append(to_list(own, encoder.ints));
    }
    return lists;
}

nb::list ones(const nb::list& lists) {
    const CollectorPause pause;
    const nb::int_ one(1);
    nb::list all;
    for (nb::handle list : lists) {
        const Py_ssize_t size = PyObject_Size(list.ptr());
        if (size < 0) throw nb::python_error();
        nb::list row = nb::steal<nb::list>(PyList_New(size));
        if (!row.ptr()) throw nb::python_error();
        for (Py_ssize_t i = 0; i < size; ++i) PyList_SET_ITEM(row.ptr(), i, one.inc_ref().ptr());
        untrack(row);
        all.append(row);
    }
    return all;
}

using Flat = std::pair<Array<int64_t>, Array<int32_t>>;

std::optional<Flat> flat(const nb::list& lists) {
    size_t total = 0;
    for (nb::handle row : lists) {
        if (!PyList_CheckExact(row.ptr())) return {};
        total += static_cast<size_t>(PyList_GET_SIZE(row.ptr()));
    }
    if (total == 0 || total > std::numeric_limits<int32_t>::max()) return {};
    std::vector<int64_t> values;
    values.reserve(total);
    std::vector<int32_t> offsets{0};
    offsets.reserve(lists.size() + 1);
    for (nb::handle row : lists) {
        const Py_ssize_t size = PyList_GET_SIZE(row.ptr());
        for (Py_ssize_t i = 0; i < size; ++i) {
            PyObject* item = PyList_GET_ITEM(row.ptr(), i);
            if (!PyLong_CheckExact(item)) return {};
            int overflow;
            values.push_back(PyLong_AsLongLongAndOverflow(item, &overflow));
            if (overflow) return {};
        }
        offsets.push_back(static_cast<int32_t>(values.size()));
    }
    return Flat{to_array(std::move(values)), to_array(std::move(offsets))};
}

}  // namespace

void bind_lists(nb::module_& m) {
    m.def("id_lists", id_lists, "encoder"_a, "ids"_a, "offsets"_a, "front"_a, "back"_a, "most"_a,
          "left"_a,
          "The ids of m texts at m + 1 offsets as lists, each between those of `front` and `back`;\n"
          "at most `most` of a text's own, its last ones if `left`.",
          nb::sig("def id_lists(encoder: Encoder, ids: numpy.typing.NDArray[numpy.uint32],"
                  " offsets: numpy.typing.NDArray[numpy.int64], front: Sequence[int],"
                  " back: Sequence[int], most: int, left: bool) -> list[list[int]]"));
    m.def("ones", ones, "lists"_a, "A list of ones for each list, as long as it.",
          nb::sig("def ones(lists: list[list[int]]) -> list[list[int]]"));
    m.def("flat", flat, "lists"_a,
          "The ints of m lists and the m + 1 offsets of the lists in them; None if there are none,\n"
          "if there is anything else, or too much for offsets of 32 bits.",
          nb::sig("def flat(lists: list[object]) -> tuple[numpy.typing.NDArray[numpy.int64],"
                  " numpy.typing.NDArray[numpy.int32]] | None"));
}

}  // namespace bpe::bindings
