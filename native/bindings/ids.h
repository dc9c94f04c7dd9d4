// Ids that come from Python: lists of ints, and arrays of any type of integers as they are.
#pragma once

#include <optional>

#include "../encode/encoder.h"
#include "common.h"

namespace bpe::bindings {

// A plain int from 0 to 2^32 - 2; kNoId for anything else.
inline Id plain_id(PyObject* number) {
    if (!PyLong_CheckExact(number)) return kNoId;
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    return overflow || value < 0 || value >= kNoId ? kNoId : static_cast<Id>(value);
}

// The value of a Python int; none if it fits no int64.
inline std::optional<int64_t> value_of(nb::handle number) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return overflow ? std::nullopt : std::optional<int64_t>(value);
}

// The same of an id: what fits no int64 is no token's.
inline int64_t id_of(nb::handle id, size_t position) {
    const auto value = value_of(id);
    if (!value) throw BadId(nb::str(id).c_str(), position);
    return *value;
}

// Integers in memory, of one, two, four or eight bytes.
struct IntSpan {
    const void* data = nullptr;
    size_t size = 0;
    size_t width = sizeof(Id);
    bool has_sign = false;

    // Calls `f` with them as a span of their type.
    template <class F>
    void visit(F&& f) const {
        switch (width) {
            case 1: return has_sign ? f(as<int8_t>()) : f(as<uint8_t>());
            case 2: return has_sign ? f(as<int16_t>()) : f(as<uint16_t>());
            case 4: return has_sign ? f(as<int32_t>()) : f(as<uint32_t>());
            default: return has_sign ? f(as<int64_t>()) : f(as<uint64_t>());
        }
    }

private:
    template <class T>
    std::span<const T> as() const {
        return {static_cast<const T*>(data), size};
    }
};

// The integers of an object that lends its memory, as arrays do.
class LentInts {
public:
    explicit LentInts(nb::handle object) {
        if (!PyObject_CheckBuffer(object.ptr())) return;
        if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_RECORDS_RO)) {
            PyErr_Clear();
            return;
        }
        is_held_ = true;
        read();
    }
    LentInts(const LentInts&) = delete;
    ~LentInts() {
        if (is_held_) PyBuffer_Release(&buffer_);
    }

    // Nothing if the object is no array of one dimension, of integers in this machine's order.
    const std::optional<IntSpan>& ints() const { return ints_; }

private:
    void read() {
        std::string_view format = buffer_.format ? buffer_.format : "B";
        if (!format.empty() && std::string_view("@=<").find(format[0]) != std::string_view::npos)
            format.remove_prefix(1);
        if (buffer_.ndim != 1 || format.size() != 1) return;
        const bool has_sign = std::string_view("bhilqn").find(format[0]) != std::string_view::npos;
        if (!has_sign && std::string_view("BHILQN?").find(format[0]) == std::string_view::npos) return;
        const void* data = buffer_.buf;
        if (!PyBuffer_IsContiguous(&buffer_, 'C')) {
            copy_.resize(static_cast<size_t>(buffer_.len));
            if (PyBuffer_ToContiguous(copy_.data(), &buffer_, buffer_.len, 'C'))
                throw nb::python_error();
            data = copy_.data();
        }
        ints_ = IntSpan{data, static_cast<size_t>(buffer_.shape[0]),
                        static_cast<size_t>(buffer_.itemsize), has_sign};
    }

    Py_buffer buffer_;
    bool is_held_ = false;
    std::vector<uint8_t> copy_;
    std::optional<IntSpan> ints_;
};

// Ids of one text or of several, from lists or arrays.
class IdLists {
public:
    // Adds a list of ints; false if one of them is no id at all: then it is the last that was added.
    bool add(nb::handle ids) {
        const size_t begin = ids_.size();
        if (!add_small(ids) && !add_array(ids)) add_sequence(ids, begin);
        ends_.push_back(static_cast<int64_t>(ids_.size()));
        return !odd_;
    }

    IntSpan ids() const { return {ids_.data(), ids_.size()}; }
    // Where each text begins, and where the last one ends.
    const std::vector<int64_t>& offsets() const { return ends_; }
    // To be called when all ids have been decoded, which names a bad one in front of it.
    void check() const {
        if (odd_) throw *odd_;
    }

private:
    static constexpr size_t kAhead = 16;  // ints lie anywhere in memory

    // Lists of ints that fill one word, which run no code of Python.
    bool add_small(nb::handle ids) {
        if (!PyList_CheckExact(ids.ptr()) && !PyTuple_CheckExact(ids.ptr())) return false;
        const auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(ids.ptr()));
        PyObject** const items = PySequence_Fast_ITEMS(ids.ptr());
        Id* const numbers = ids_.reserve(size);
        for (size_t i = 0; i < size; ++i) {
            if (i + kAhead < size) __builtin_prefetch(items[i + kAhead]);
            if (!small(items[i], numbers[i])) return false;
        }
        ids_.resize(ids_.size() + size);
        return true;
    }

    static bool small(PyObject* number, Id& id) {
        if (!PyLong_CheckExact(number)) return false;
        const auto* value = reinterpret_cast<PyLongObject*>(number);
#if PY_VERSION_HEX >= 0x030C0000
        if (!PyUnstable_Long_IsCompact(value)) return false;
        const Py_ssize_t found = PyUnstable_Long_CompactValue(value);
        if (found < 0 || found >= Py_ssize_t{kNoId}) return false;
        id = static_cast<Id>(found);
#else
        const Py_ssize_t digits = Py_SIZE(value);
        if (digits < 0 || digits > 1) return false;
        id = digits ? value->ob_digit[0] : 0;
#endif
        return true;
    }

    bool add_array(nb::handle ids) {
        const LentInts lent(ids);
        if (!lent.ints()) return false;
        lent.ints()->visit([&](auto numbers) {
            const auto odd = std::find_if(numbers.begin(), numbers.end(), [](auto number) {
                return static_cast<uint64_t>(number) >= kNoId;
            });
            const auto fitting = static_cast<size_t>(odd - numbers.begin());
            std::copy(numbers.begin(), odd, ids_.reserve(fitting));
            ids_.resize(ids_.size() + fitting);
            if (odd != numbers.end()) odd_.emplace(std::to_string(*odd), fitting);
        });
        return true;
    }

    void add_sequence(nb::handle ids, size_t begin) {
        if (!PySequence_Check(ids.ptr())) throw nb::type_error("ids must be a sequence of int");
        // A tuple: the `__index__` of an item may change a list under our hands.
        const nb::object copy = nb::steal(PySequence_Tuple(ids.ptr()));
        if (!copy.ptr()) throw nb::python_error();
        const Py_ssize_t size = PyTuple_GET_SIZE(copy.ptr());
        for (Py_ssize_t i = 0; i < size && !odd_; ++i) {
            const nb::handle item = PyTuple_GET_ITEM(copy.ptr(), i);
            const auto value = value_of(item);
            if (!value)
                odd_.emplace(nb::str(item).c_str(), ids_.size() - begin);
            else if (static_cast<uint64_t>(*value) >= kNoId)
                odd_.emplace(std::to_string(*value), ids_.size() - begin);
            else
                ids_.push_back(static_cast<Id>(*value));
        }
    }

    IdBuffer ids_;
    std::vector<int64_t> ends_{0};
    std::optional<BadId> odd_;
};

}  // namespace bpe::bindings
