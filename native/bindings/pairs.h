// Pairs of ids between C++ and tuples of Python.
#pragma once

#include <utility>

#include "ids.h"

namespace bpe::bindings {

// Left and right of a tuple of two plain ints; kNoId in the place of anything else.
inline std::pair<Id, Id> plain_pair(nb::handle pair) {
    if (!PyTuple_CheckExact(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) return {kNoId, kNoId};
    return {plain_id(PyTuple_GET_ITEM(pair.ptr(), 0)), plain_id(PyTuple_GET_ITEM(pair.ptr(), 1))};
}

// A tuple of so many pairs, of which `at(i)` is one. Tuples of ints hold nothing that refers back to
// them: the cyclic collector need not know them, and would go through each.
template <class At>
nb::tuple tuple_of_pairs(size_t size, At&& at) {
    Ints ints;
    nb::tuple all = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(size)));
    if (!all.ptr()) throw nb::python_error();
    for (size_t i = 0; i < size; ++i) {
        PyObject* pair = PyTuple_New(2);
        if (!pair) throw nb::python_error();
        PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(i), pair);
        const auto [left, right] = at(i);
        for (const auto& [side, half] : {std::pair(0, left), std::pair(1, right)}) {
            PyObject* id = ints.get(half);
            if (!id) throw nb::python_error();
            PyTuple_SET_ITEM(pair, side, id);
        }
        PyObject_GC_UnTrack(pair);
    }
    PyObject_GC_UnTrack(all.ptr());
    return all;
}

}  // namespace bpe::bindings
