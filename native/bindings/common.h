// What the bindings share: arrays, texts and the look-in on long work.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../base/byte_strings.h"
#include "../base/parallel.h"
#include "../scan/raw_text.h"
#include "../scan/scanner.h"

namespace bpe::bindings {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
template <class T>
using ArrayView = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hands the memory of a vector over to NumPy.
template <class Vector>
auto owner_of(Vector&& values) {
    auto* kept = new Vector(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Vector*>(p); });
    return std::pair(kept->data(), owner);
}

template <class T, class Allocator>
Array<T> to_array(std::vector<T, Allocator>&& values) {
    const size_t size = values.size();
    auto [data, owner] = owner_of(std::move(values));
    return Array<T>(data, {size}, owner);
}

template <class Allocator>
Matrix<Id> to_matrix(std::vector<Id, Allocator>&& values, size_t columns) {
    const size_t rows = values.size() / columns;
    auto [data, owner] = owner_of(std::move(values));
    return Matrix<Id>(data, {rows, columns}, owner);
}

template <class T>
std::span<const T> span_of(const ArrayView<T>& array) {
    return {array.data(), array.shape(0)};
}

inline Bytes bytes_of(const nb::bytes& bytes) {
    return {static_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

inline nb::bytes to_bytes(Bytes bytes) { return nb::bytes(bytes.data(), bytes.size()); }

inline nb::str to_str(Bytes utf8) {
    return nb::str(reinterpret_cast<const char*>(utf8.data()), utf8.size());
}

// UTF-8 of a str; none if it is something else, or no text.
inline std::optional<Bytes> utf8_of(PyObject* string) {
    if (!PyUnicode_Check(string)) return std::nullopt;
    Py_ssize_t size;
    const char* data = PyUnicode_AsUTF8AndSize(string, &size);
    if (data) return Bytes(reinterpret_cast<const uint8_t*>(data), static_cast<size_t>(size));
    PyErr_Clear();
    return std::nullopt;
}

// Python ints of ids, made when they are first asked for and kept. Needs the GIL.
class Ints {
public:
    Ints() = default;
    Ints(const Ints&) = delete;
    ~Ints() {
        for (PyObject* number : numbers_) Py_XDECREF(number);
    }

    // A new reference, or null with a Python error.
    PyObject* get(Id id) {
        if (id >= kMost) return PyLong_FromUnsignedLong(id);
        if (id >= numbers_.size()) numbers_.resize(std::min<size_t>(kMost, size_t{id} * 2 + 1024));
        PyObject*& number = numbers_[id];
        if (!number) number = PyLong_FromUnsignedLong(id);
        Py_XINCREF(number);
        return number;
    }

private:
    static constexpr size_t kMost = 1 << 20;
    std::vector<PyObject*> numbers_;
};

// Takes a list of ints out of the cyclic garbage collector, which would go through each of them
// again and again. (A cycle that somebody makes through such a list later is never freed.)
inline void untrack(const nb::list& ints) { PyObject_GC_UnTrack(ints.ptr()); }

inline nb::list to_list(std::span<const Id> ids, Ints& ints) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(ids.size()));
    if (!list) throw nb::python_error();
    nb::list owned = nb::steal<nb::list>(list);
    for (size_t i = 0; i < ids.size(); ++i) {
        PyObject* id = ints.get(ids[i]);
        if (!id) throw nb::python_error();
        PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), id);
    }
    untrack(owned);
    return owned;
}

// Keeps the cyclic garbage collector from going through many new lists of ints again and again.
// For code that keeps the GIL.
class CollectorPause {
public:
    CollectorPause() : was_on_(PyGC_Disable() != 0) {}
    CollectorPause(const CollectorPause&) = delete;
    ~CollectorPause() {
        if (was_on_) PyGC_Enable();
    }

private:
    bool was_on_;
};

// New references to the items of a sequence. They lie anywhere in memory, so each is asked for long
// before it is counted up or down: waiting for one after the other took 15 % of the time of encoding.
class Items {
public:
    Items() = default;
    // `visit(item)`, which runs no code of Python, is called while the item is in the cache.
    template <class Visit>
    Items(nb::handle sequence, Visit&& visit) {
        nb::object fast = nb::borrow(sequence);
        if (!PyList_CheckExact(fast.ptr()) && !PyTuple_CheckExact(fast.ptr()))
            fast = nb::steal(PySequence_Tuple(fast.ptr()));
        if (!fast.ptr()) throw nb::python_error();
        PyObject** const items = PySequence_Fast_ITEMS(fast.ptr());
        items_.assign(items, items + PySequence_Fast_GET_SIZE(fast.ptr()));
        for_each([&](PyObject* item) {
            Py_INCREF(item);
            visit(item);
        });
    }
    Items(const Items&) = delete;
    ~Items() {
        for_each([](PyObject* item) { Py_DECREF(item); });
    }

    size_t size() const { return items_.size(); }
    nb::handle operator[](size_t i) const { return items_[i]; }

private:
    template <class Visit>
    void for_each(Visit&& visit) {
        constexpr size_t kAhead = 16;
        for (size_t i = 0; i < items_.size(); ++i) {
            if (i + kAhead < items_.size()) __builtin_prefetch(items_[i + kAhead], 1);
            visit(items_[i]);
        }
    }

    std::vector<PyObject*> items_;
};

// What str and bytes-like objects hold, kept alive.
class RawTexts {
public:
    explicit RawTexts(nb::handle texts)
        : items_(texts, [this](PyObject* item) {
              const bool is_str = PyUnicode_Check(item) && PyUnicode_IS_READY(item);
              has_others_ = has_others_ || !is_str;
              views_.push_back(is_str ? view_of_str(item) : Bytes());
          }) {
        if (has_others_)
            for (size_t i = 0; i < items_.size(); ++i) views_[i] = view(items_[i].ptr());
    }

    const std::vector<RawText>& views() const { return views_; }

private:
    struct Release {
        void operator()(Py_buffer* buffer) const {
            PyBuffer_Release(buffer);
            delete buffer;
        }
    };
    using Buffer = std::unique_ptr<Py_buffer, Release>;

    RawText view(PyObject* text) {
        if (PyUnicode_Check(text)) {
            if (PyUnicode_READY(text)) throw nb::python_error();
            return view_of_str(text);
        }
        if (!PyObject_CheckBuffer(text))
            throw nb::type_error((std::string("text must be str or bytes, not ") +
                                  Py_TYPE(text)->tp_name).c_str());
        auto raw = std::make_unique<Py_buffer>();
        if (PyObject_GetBuffer(text, raw.get(), PyBUF_SIMPLE)) throw nb::python_error();
        const Buffer& buffer = buffers_.emplace_back(raw.release());
        return Bytes(static_cast<const uint8_t*>(buffer->buf), static_cast<size_t>(buffer->len));
    }

    // Python would keep the UTF-8 that it makes of a str as long as the str: it is asked for none.
    static RawText view_of_str(PyObject* text) {
        const auto size = static_cast<size_t>(PyUnicode_GET_LENGTH(text));
        const void* data = PyUnicode_DATA(text);
        if (PyUnicode_IS_ASCII(text)) return RawText::ascii({static_cast<const uint8_t*>(data), size});
        switch (PyUnicode_KIND(text)) {
            case PyUnicode_1BYTE_KIND: return {static_cast<const uint8_t*>(data), size};
            case PyUnicode_2BYTE_KIND: return {static_cast<const uint16_t*>(data), size};
            default: return {static_cast<const uint32_t*>(data), size};
        }
    }

    std::vector<RawText> views_;
    std::vector<Buffer> buffers_;
    bool has_others_ = false;
    Items items_;
};

// UTF-8 of all of them at once.
class Texts {
public:
    explicit Texts(nb::handle texts) : raw_(texts) {
        size_t most = 0;
        for (const RawText text : raw_.views())
            if (!text.is_utf8()) most += text.most_bytes() + RawText::kBehind;
        room_.reserve(most);
        views_.reserve(raw_.views().size());
        for (const RawText text : raw_.views()) views_.push_back(text.utf8(room_));
    }

    const std::vector<Bytes>& views() const { return views_; }

private:
    RawTexts raw_;
    ByteBuffer room_;
    std::vector<Bytes> views_;
};

class Text {
public:
    explicit Text(nb::handle text)
        : raw_(nb::make_tuple(nb::borrow(text))), utf8_(raw_.views()[0].utf8(room_)) {}
    operator Bytes() const { return utf8_; }

private:
    RawTexts raw_;
    ByteBuffer room_;
    Bytes utf8_;
};

// The strings of a buffer that end at these offsets, the first of which starts at `begin`.
template <class String = Bytes>
std::vector<String> column_of(Bytes data, std::span<const int64_t> ends, int64_t begin) {
    std::vector<String> strings;
    strings.reserve(ends.size());
    for (const int64_t end : ends) {
        if (begin < 0 || end < begin || static_cast<size_t>(end) > data.size())
            throw std::invalid_argument("the offsets do not fit the buffer");
        strings.push_back(data.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
        begin = end;
    }
    return strings;
}

// Answers Ctrl-C and reports progress, at most twenty times a second. For calls without the GIL.
class PythonWatch : public Watch {
public:
    explicit PythonWatch(nb::object progress) : progress_(std::move(progress)) {}

    void tick(uint64_t done, uint64_t total) override {
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(50);
        const nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals()) throw nb::python_error();
        if (!progress_.is_none()) progress_(std::min(done, total), total);
    }

private:
    nb::object progress_;
    std::chrono::steady_clock::time_point next_ =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
};

// The scanner of a name, or one that was made from a regex.
Scanner scanner_of(nb::handle scanner);

// Each adds its part to the module.
void bind_flat(nb::module_& m);
void bind_encoder(nb::module_& m);
void bind_lists(nb::module_& m);
void bind_prepare(nb::module_& m);
void bind_ranks(nb::module_& m);
void bind_strings(nb::module_& m);
void bind_training(nb::module_& m);
void bind_vocabulary(nb::module_& m);

}  // namespace bpe::bindings
