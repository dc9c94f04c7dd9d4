// The Python module `bpe_compat._core`: arguments in, GIL released, results out. No algorithm here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>

#include "encoder.h"
#include "ranks.h"
#include "trainer.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace bpe;

namespace {

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Matrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
template <class T>
using ArrayView = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hands the memory of a vector over to NumPy.
template <class T>
auto owner_of(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return std::pair(kept->data(), owner);
}

template <class T>
Array<T> to_array(std::vector<T>&& values) {
    const size_t size = values.size();
    auto [data, owner] = owner_of(std::move(values));
    return Array<T>(data, {size}, owner);
}

Matrix<Id> to_matrix(std::vector<Id>&& values, size_t columns) {
    const size_t rows = values.size() / columns;
    auto [data, owner] = owner_of(std::move(values));
    return Matrix<Id>(data, {rows, columns}, owner);
}

template <class T>
std::span<const T> span_of(const ArrayView<T>& array) {
    return {array.data(), array.shape(0)};
}

Bytes bytes_of(const nb::bytes& bytes) {
    return {static_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

nb::bytes to_bytes(Bytes bytes) { return nb::bytes(bytes.data(), bytes.size()); }

nb::list to_list(std::span<const Id> ids) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(ids.size()));
    if (!list) throw nb::python_error();
    for (size_t i = 0; i < ids.size(); ++i)
        PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), PyLong_FromUnsignedLong(ids[i]));
    return nb::steal<nb::list>(list);
}

// The bytes of str objects (as UTF-8) and of bytes-like objects, kept alive.
class Texts {
public:
    explicit Texts(nb::handle texts) : owned_(nb::steal<nb::tuple>(PySequence_Tuple(texts.ptr()))) {
        if (!owned_.ptr()) throw nb::python_error();
        views_.reserve(owned_.size());
        for (nb::handle text : owned_) views_.push_back(view(text));
    }
    ~Texts() {
        for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
    }
    Texts(const Texts&) = delete;

    const std::vector<Bytes>& views() const { return views_; }

private:
    Bytes view(nb::handle text) {
        if (PyUnicode_Check(text.ptr())) {
            Py_ssize_t size;
            const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
            if (!data) throw nb::python_error();
            return {reinterpret_cast<const uint8_t*>(data), static_cast<size_t>(size)};
        }
        if (!PyObject_CheckBuffer(text.ptr()))
            throw nb::type_error((std::string("text must be str or bytes, not ") +
                                  Py_TYPE(text.ptr())->tp_name).c_str());
        Py_buffer buffer;
        if (PyObject_GetBuffer(text.ptr(), &buffer, PyBUF_SIMPLE)) throw nb::python_error();
        buffers_.push_back(buffer);
        return {static_cast<const uint8_t*>(buffer.buf), static_cast<size_t>(buffer.len)};
    }

    nb::tuple owned_;
    std::vector<Py_buffer> buffers_;
    std::vector<Bytes> views_;
};

class Text {
public:
    explicit Text(nb::handle text) : texts_(nb::make_tuple(nb::borrow(text))) {}
    operator Bytes() const { return texts_.views()[0]; }

private:
    Texts texts_;
};

// Answers Ctrl-C and reports progress, at most twenty times a second.
class PythonWatch : public Watch {
public:
    explicit PythonWatch(nb::object progress) : progress_(std::move(progress)) {}

    void tick(uint64_t done, uint64_t total) override {
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(50);
        const nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals()) throw nb::python_error();
        if (!progress_.is_none()) progress_(done, total);
    }

private:
    nb::object progress_;
    std::chrono::steady_clock::time_point next_ =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
};

// An id given as a Python int; one that fits no int64 is no token's.
int64_t id_of(nb::handle id, size_t position) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(id.ptr(), &overflow);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    if (overflow) throw BadId(nb::str(id).c_str(), position);
    return value;
}

std::vector<int64_t> ids_of(nb::handle ids) {
    const nb::object fast = nb::steal(PySequence_Fast(ids.ptr(), "ids must be a sequence of int"));
    if (!fast.ptr()) throw nb::python_error();
    const auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(fast.ptr()));
    PyObject** items = PySequence_Fast_ITEMS(fast.ptr());
    std::vector<int64_t> result(size);
    for (size_t i = 0; i < size; ++i) result[i] = id_of(items[i], i);
    return result;
}

nb::bytes decode(const Encoder& encoder, nb::handle ids) {
    const std::vector<int64_t> numbers = ids_of(ids);
    std::vector<uint8_t> text;
    {
        const nb::gil_scoped_release released;
        for (size_t i = 0; i < numbers.size(); ++i) {
            const Bytes token = encoder.token(numbers[i], i);
            text.insert(text.end(), token.begin(), token.end());
        }
    }
    return to_bytes(text);
}

// Added tokens come as tuples: content, id, lstrip, rstrip, single_word, normalized.
using AddedTuple = std::tuple<nb::bytes, Id, bool, bool, bool, bool>;

void make_encoder(Encoder* self, const nb::bytes& tokens, ArrayView<int64_t> ends,
                  const nb::bytes& kinds, ArrayView<Id> merges, std::string_view scanner_name,
                  const std::vector<AddedTuple>& added, bool byte_level, bool by_ranks,
                  bool ignore_merges, bool byte_fallback, bool fuse_unknown,
                  std::optional<Id> unknown, const nb::bytes& prefix, const nb::bytes& suffix) {
    std::vector<AddedToken> added_tokens;
    for (const auto& [content, id, lstrip, rstrip, single_word, normalized] : added)
        added_tokens.push_back({std::string(content.c_str(), content.size()), id, lstrip, rstrip,
                                single_word, normalized});
    ModelOptions options{byte_level, by_ranks, ignore_merges, byte_fallback, fuse_unknown,
                         unknown.value_or(kNoId), std::string(prefix.c_str(), prefix.size()),
                         std::string(suffix.c_str(), suffix.size())};
    const Scan scan = scanner(scanner_name);
    ByteStrings strings(bytes_of(tokens), span_of(ends));
    const Bytes kind_bytes = bytes_of(kinds);
    const auto pairs = span_of(merges);
    const nb::gil_scoped_release released;
    new (self) Encoder(std::make_unique<const Model>(std::move(strings), kind_bytes, pairs,
                                                     std::move(options)),
                       std::move(added_tokens), scan);
}

// One text on this thread, with or without spans.
std::vector<Id> encode(const Encoder& encoder, nb::handle text, const nb::bytes& enabled,
                       std::vector<Span>* spans = nullptr) {
    const Text bytes(text);
    std::vector<Id> ids;
    const Bytes mask = bytes_of(enabled);
    PythonWatch watch{nb::none()};
    const nb::gil_scoped_release released;
    parallel_for(
        1, 1, Bytes(bytes).size(), watch, [&] { return Encoder::Worker(encoder); },
        [&](size_t, Encoder::Worker& worker, Beat& beat) {
            encoder.encode(bytes, mask, worker, beat, ids, spans);
        });
    return ids;
}

Encoder::Batch encode_batch(const Encoder& encoder, nb::handle texts, const nb::bytes& enabled,
                            unsigned threads, nb::object progress) {
    const Texts bytes(texts);
    PythonWatch watch(std::move(progress));
    const Bytes mask = bytes_of(enabled);
    const nb::gil_scoped_release released;
    return encoder.encode_batch(bytes.views(), mask, threads, watch);
}

// Byte offsets to characters: a token that covers part of a character covers the character.
void to_characters(Bytes text, std::vector<Span>& spans) {
    std::vector<uint64_t> character(text.size() + 1);  // that the byte belongs to
    uint64_t count = 0;
    for (size_t at = 0; at < text.size(); ++count) {
        const size_t end = at + character_at(text, at).length;
        while (at < end) character[at++] = count;
    }
    character[text.size()] = count;
    for (Span& span : spans)
        span = {character[span.begin],
                span.end > span.begin ? character[span.end - 1] + 1 : character[span.end]};
}

nb::list pairs_of(const std::vector<Span>& spans) {
    nb::list pairs;
    for (const Span span : spans) pairs.append(nb::make_tuple(span.begin, span.end));
    return pairs;
}

std::vector<std::tuple<size_t, size_t, int64_t>> cut(const Encoder& encoder, nb::handle text,
                                                     const nb::bytes& enabled, bool normalized) {
    const Text bytes(text);
    std::vector<std::tuple<size_t, size_t, int64_t>> segments;
    Encoder::cut(encoder.pass(normalized), bytes, bytes_of(enabled),
                 [&](size_t begin, size_t end) { segments.emplace_back(begin, end, -1); },
                 [&](Match match) { segments.emplace_back(match.begin, match.end, match.index); });
    return segments;
}

void bind_encoder(nb::module_& m) {
    nb::class_<Encoder>(m, "Encoder")
        .def("__init__", make_encoder, nb::kw_only(), "tokens"_a, "ends"_a, "kinds"_a, "merges"_a,
             "scanner"_a, "added"_a, "byte_level"_a, "by_ranks"_a, "ignore_merges"_a,
             "byte_fallback"_a, "fuse_unknown"_a, "unknown"_a.none(), "prefix"_a, "suffix"_a)
        .def("encode",
             [](const Encoder& e, nb::handle text, const nb::bytes& enabled) {
                 return to_list(encode(e, text, enabled));
             }, "text"_a, "enabled"_a,
             nb::sig("def encode(self, text: object, enabled: bytes) -> list[int]"))
        .def("encode_array",
             [](const Encoder& e, nb::handle text, const nb::bytes& enabled) {
                 return to_array(encode(e, text, enabled));
             }, "text"_a, "enabled"_a)
        .def("encode_with_offsets",
             [](const Encoder& e, nb::handle text, const nb::bytes& enabled, bool characters) {
                 std::vector<Span> spans;
                 const std::vector<Id> ids = encode(e, text, enabled, &spans);
                 if (characters) to_characters(Text(text), spans);
                 return nb::make_tuple(to_list(ids), pairs_of(spans));
             }, "text"_a, "enabled"_a, "characters"_a,
             nb::sig("def encode_with_offsets(self, text: object, enabled: bytes, characters: bool)"
                     " -> tuple[list[int], list[tuple[int, int]]]"))
        .def("encode_batch",
             [](const Encoder& e, nb::handle texts, const nb::bytes& enabled, unsigned threads,
                nb::object progress) {
                 Encoder::Batch batch = encode_batch(e, texts, enabled, threads, progress);
                 batch.ends.insert(batch.ends.begin(), 0);
                 return std::pair(to_array(std::move(batch.ids)), to_array(std::move(batch.ends)));
             }, "texts"_a, "enabled"_a, "threads"_a, "progress"_a = nb::none(),
             "Ids of all texts, and m + 1 offsets of the texts in them.")
        .def("encode_lists",
             [](const Encoder& e, nb::handle texts, const nb::bytes& enabled, unsigned threads) {
                 const Encoder::Batch batch = encode_batch(e, texts, enabled, threads, nb::none());
                 nb::list lists;
                 size_t begin = 0;
                 for (const int64_t end : batch.ends) {
                     lists.append(to_list(std::span(batch.ids).subspan(begin, end - begin)));
                     begin = static_cast<size_t>(end);
                 }
                 return lists;
             }, "texts"_a, "enabled"_a, "threads"_a,
             nb::sig("def encode_lists(self, texts: object, enabled: bytes, threads: int)"
                     " -> list[list[int]]"))
        .def("encode_pieces",
             [](const Encoder& e, const std::vector<nb::bytes>& pieces) {
                 std::vector<Id> ids;
                 std::vector<Span> spans;
                 nb::list result;
                 Encoder::Worker worker(e);
                 for (const nb::bytes& piece : pieces) {
                     ids.clear();
                     spans.clear();
                     e.encode_piece(bytes_of(piece), 0, worker, ids, &spans);
                     result.append(nb::make_tuple(to_list(ids), pairs_of(spans)));
                 }
                 return result;
             }, "pieces"_a, "Ids of each piece and the bytes of it that each id covers.",
             nb::sig("def encode_pieces(self, pieces: Sequence[bytes])"
                     " -> list[tuple[list[int], list[tuple[int, int]]]]"))
        .def("cut", cut, "text"_a, "enabled"_a, "normalized"_a,
             "Segments (begin, end, place of the added token or -1) of one pass over a text.")
        .def("find",
             [](const Encoder& e, const nb::bytes& bytes) { return e.model().find(bytes_of(bytes)); },
             "token"_a, "The id of a normal token.")
        .def("token", [](const Encoder& e, nb::handle id) { return to_bytes(e.token(id_of(id, 0))); },
             "id"_a, nb::sig("def token(self, id: int) -> bytes"))
        .def("decode", decode, "ids"_a);
}

void bind_ranks(nb::module_& m) {
    const auto model_of = [](const nb::bytes& tokens, const ArrayView<int64_t>& ends,
                             const nb::bytes& kinds) {
        ModelOptions options;
        options.by_ranks = true;
        return std::make_unique<const Model>(ByteStrings(bytes_of(tokens), span_of(ends)),
                                             bytes_of(kinds), std::span<const Id>{},
                                             std::move(options));
    };
    const auto flat = [](const std::vector<Merge>& merges) {
        std::vector<Id> values;
        values.reserve(3 * merges.size());
        for (const Merge& m : merges) values.insert(values.end(), {m.left, m.right, m.merged});
        return values;
    };
    m.def("canonical_merges",
          [=](const nb::bytes& tokens, ArrayView<int64_t> ends, const nb::bytes& kinds) {
              PythonWatch watch{nb::none()};
              std::vector<Id> odd, values;
              {
                  const nb::gil_scoped_release released;
                  values = flat(canonical_merges(*model_of(tokens, ends, kinds), odd, watch));
              }
              return std::pair(to_matrix(std::move(values), 3), to_array(std::move(odd)));
          }, "tokens"_a, "ends"_a, "kinds"_a,
          "Rows (left, right, merged) by merged id, and the ids that no two tokens make.");
    m.def("all_splits",
          [=](const nb::bytes& tokens, ArrayView<int64_t> ends, const nb::bytes& kinds) {
              std::vector<Id> values;
              {
                  const nb::gil_scoped_release released;
                  values = flat(all_splits(*model_of(tokens, ends, kinds)));
              }
              return to_matrix(std::move(values), 3);
          }, "tokens"_a, "ends"_a, "kinds"_a, "Rows (left, right, merged) by merged, left, right.");
}

TieBreak tie_break_of(std::string_view name) {
    if (name == "bytes") return TieBreak::bytes;
    if (name == "ids") return TieBreak::ids;
    if (name == "first") return TieBreak::first;
    throw std::invalid_argument("tie_break must be 'bytes', 'ids' or 'first'");
}

void bind_training(nb::module_& m) {
    nb::class_<PieceCounter>(m, "PieceCounter")
        .def("__init__",
             [](PieceCounter* self, std::string_view name, std::vector<nb::bytes> specials,
                bool by_line) {
                 CountOptions options{scanner(name), {}, by_line};
                 for (const nb::bytes& s : specials)
                     options.specials.emplace_back(s.c_str(), s.size());
                 new (self) PieceCounter(std::move(options));
             }, "scanner"_a, "specials"_a, "by_line"_a)
        .def("add",
             [](PieceCounter& counter, nb::handle documents, unsigned threads, nb::object progress) {
                 const Texts texts(documents);
                 PythonWatch watch(std::move(progress));
                 const nb::gil_scoped_release released;
                 counter.add(texts.views(), threads, watch);
             }, "documents"_a, "threads"_a, "progress"_a = nb::none())
        .def("add_piece",
             [](PieceCounter& counter, const nb::bytes& piece, uint64_t count) {
                 counter.add_piece(bytes_of(piece), count);
             }, "piece"_a, "count"_a)
        .def("__len__", [](const PieceCounter& counter) { return counter.counts().size(); })
        .def("items",
             [](const PieceCounter& counter) {
                 nb::list items;
                 for (size_t i = 0; i < counter.counts().size(); ++i)
                     items.append(nb::make_tuple(to_bytes(counter.counts().piece(i)),
                                                 counter.counts().count(i)));
                 return items;
             }, "Pieces in the order of their first appearance, with their counts.",
             nb::sig("def items(self) -> list[tuple[bytes, int]]"));
    m.def("train",
          [](const PieceCounter& counter, std::string_view tie_break, const nb::bytes& byte_order,
             size_t merges, uint64_t min_frequency, size_t max_token_length, nb::object progress) {
              if (byte_order.size() != 256)
                  throw std::invalid_argument("byte_order must hold all 256 bytes");
              TrainOptions options;
              options.tie_break = tie_break_of(tie_break);
              std::copy_n(bytes_of(byte_order).data(), 256, options.byte_order.begin());
              options.merges = merges;
              options.min_frequency = min_frequency;
              options.max_token_length = max_token_length;
              PythonWatch watch(std::move(progress));
              std::vector<Id> values;
              {
                  const nb::gil_scoped_release released;
                  for (const auto& [a, b] : train(counter.counts(), options, watch))
                      values.insert(values.end(), {a, b});
              }
              return to_matrix(std::move(values), 2);
          }, "counter"_a, "tie_break"_a, "byte_order"_a, "merges"_a, "min_frequency"_a,
          "max_token_length"_a, "progress"_a = nb::none(),
          "Rows (left, right): ids below 256 are places in byte_order, 256 + i is merge i.");
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Native core of bpe_compat; use the package, not this module.";
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const BadId& e) {
            PyErr_SetString(PyExc_KeyError, e.what());
        }
    });
    m.attr("unicode_version") = kUnicodeVersion;
    m.def("scanners", [] {
        std::vector<std::string> names;
        for (const Scanner& s : scanners()) names.emplace_back(s.name);
        return names;
    }, "Names of the native scanners.");
    m.def("piece_ends",
          [](nb::handle text, std::string_view name) {
              const Text bytes(text);
              std::vector<int64_t> ends;
              for_each_piece(
                  scanner(name), bytes,
                  [&](size_t, size_t end) { ends.push_back(static_cast<int64_t>(end)); },
                  [](size_t) {});
              return to_array(std::move(ends));
          }, "text"_a, "scanner"_a, "Byte offsets of the ends of a text's pieces.");
    m.def("categories", [] {
        std::vector<uint8_t> table(0x110000);
        for (uint32_t c = 0; c < table.size(); ++c) table[c] = Properties(c).category();
        return to_bytes(table);
    }, "The general category of each code point, as a number; see unicode.h.");
    m.def("first_invalid",
          [](nb::handle text) {
              const Text bytes(text);
              const nb::gil_scoped_release released;
              return first_invalid(bytes);
          }, "text"_a, "Offset of the first byte that is not UTF-8, or the size if there is none.");
    bind_encoder(m);
    bind_ranks(m);
    bind_training(m);
}
