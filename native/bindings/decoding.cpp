// Ids to bytes and str.
#include "../base/runs.h"
#include "../base/utf8.h"
#include "bound_encoder.h"
#include "ids.h"

namespace bpe::bindings {
namespace {

// A str or bytes whose content comes later, from a text of this shape; no `errors` stand for bytes.
PyObject* unfilled(Bytes text, const TextShape& shape, const char* errors) {
    if (!errors) return PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(text.size()));
    return PyUnicode_New(static_cast<Py_ssize_t>(shape.characters), shape.most);
}

// Needs no GIL: nobody else knows of the object. False if the text is no UTF-8, and should be.
bool fill(PyObject* object, Bytes text, const TextShape& shape, const char* errors) {
    if (text.empty()) return true;
    if (errors && shape.characters == 0) return false;
    const size_t unit = errors ? PyUnicode_KIND(object) : 1;
    void* const out = errors ? PyUnicode_DATA(object) : PyBytes_AS_STRING(object);
    // Fresh memory takes longer to get than to fill.
    huge::ask(out, unit * (errors ? shape.characters : text.size()));
    if (!errors || shape.most == 0x7F) {
        std::memcpy(out, text.data(), text.size());
        return true;
    }
    if (unit == 1) return widen(text, static_cast<uint8_t*>(out));
    if (unit == 2) return widen(text, static_cast<uint16_t*>(out));
    return widen(text, static_cast<uint32_t*>(out));
}

// What Python makes of a text that is no UTF-8; null with an error if `errors` says so.
PyObject* repaired(Bytes text, const char* errors) {
    return PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(text.data()),
                                static_cast<Py_ssize_t>(text.size()), errors);
}

// Does `job()`, without the GIL if it takes longer than giving the GIL away and back.
template <class Job>
void unlocked(size_t ids, Job&& job) {
    if (ids < 2048) return job();
    const nb::gil_scoped_release released;
    job();
}

nb::object decode(const BoundEncoder& encoder, nb::handle ids, const char* errors) {
    const Decoder& decoder = encoder.decoder();
    IdLists listed;
    const LentInts lent(ids);
    if (!lent.ints()) listed.add(ids);
    const IntSpan all = lent.ints().value_or(listed.ids());
    ByteBuffer buffer = encoder.take_buffer();
    TextShape shape{};
    unlocked(all.size, [&] {
        all.visit([&](auto numbers) { decoder.decode(numbers, buffer); });
        if (errors) shape = shape_of(Bytes(buffer));
    });
    listed.check();
    const Bytes text(buffer);
    nb::object made = nb::steal(unfilled(text, shape, errors));
    if (!made.ptr()) throw nb::python_error();
    bool is_filled = false;
    unlocked(all.size, [&] { is_filled = fill(made.ptr(), text, shape, errors); });
    if (!is_filled) made = nb::steal(repaired(text, errors));
    if (!made.ptr()) throw nb::python_error();
    encoder.give_back(std::move(buffer));
    return made;
}

// Many texts become objects a few at a time: their bytes stay in a cache, and lie in memory that is
// used again. Python makes the objects, threads fill them.
class ManyTexts {
public:
    ManyTexts(const Decoder& decoder, IntSpan ids, std::span<const int64_t> offsets,
              unsigned threads, const char* errors)
        : decoder_(decoder), ids_(ids), offsets_(offsets), threads_(threads), errors_(errors) {}

    nb::list made() {
        const size_t count = offsets_.empty() ? 0 : offsets_.size() - 1;
        nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(count)));
        if (!list.ptr()) throw nb::python_error();
        const size_t wave_ids = threads_ == 1 ? kJobIds : threads_ * 16 * kJobIds;
        const auto waves = runs_of(count, wave_ids, [&](size_t i) { return size_of(i); });
        for (size_t wave = 0; wave + 1 < waves.size(); ++wave) make(waves[wave], waves[wave + 1], list);
        return list;
    }

private:
    static constexpr size_t kJobIds = 1 << 14;

    struct Job {
        size_t begin = 0;  // number of its first text
        Decoder::Texts texts;
        std::vector<TextShape> shapes;
        std::vector<size_t> refused;  // that are no UTF-8

        Bytes text(size_t i) const {
            const size_t begin = i ? texts.ends[i - 1] : 0;
            return Bytes(texts.bytes).subspan(begin, texts.ends[i] - begin);
        }
    };

    size_t size_of(size_t i) const { return static_cast<size_t>(offsets_[i + 1] - offsets_[i]); }

    void make(size_t begin, size_t end, nb::list& list) {
        const auto begins =
            runs_of(end - begin, kJobIds, [&](size_t i) { return size_of(begin + i); });
        const size_t jobs = begins.size() - 1;
        if (jobs_.size() < jobs) jobs_.resize(jobs);
        for_each_job(jobs, [&](size_t number) {
            decode(jobs_[number], begin + begins[number], begin + begins[number + 1]);
        });
        for (size_t number = 0; number < jobs; ++number) add_objects(jobs_[number], list);
        for_each_job(jobs, [&](size_t number) {
            Job& job = jobs_[number];
            for (size_t i = 0; i < job.shapes.size(); ++i) {
                PyObject* const object = PyList_GET_ITEM(list.ptr(), job.begin + i);
                if (!fill(object, job.text(i), job.shapes[i], errors_)) job.refused.push_back(i);
            }
        });
        for (size_t number = 0; number < jobs; ++number) repair(jobs_[number], list);
    }

    template <class Work>
    void for_each_job(size_t jobs, Work&& work) {
        PythonWatch watch{nb::none()};
        const nb::gil_scoped_release released;
        parallel_for(jobs, threads_, 0, watch, [](Beat&) { return 0; },
                     [&](size_t job, int, Beat& beat) {
                         work(job);
                         beat(0);
                     });
    }

    void decode(Job& job, size_t begin, size_t end) const {
        job.begin = begin;
        job.texts.bytes.resize(0);
        job.texts.ends.clear();
        job.shapes.clear();
        job.refused.clear();
        ids_.visit([&](auto ids) {
            decoder_.decode(ids, offsets_.subspan(begin, end - begin + 1), job.texts);
        });
        for (size_t i = 0; i < end - begin; ++i)
            job.shapes.push_back(errors_ ? shape_of(job.text(i)) : TextShape{});
    }

    void add_objects(const Job& job, nb::list& list) const {
        for (size_t i = 0; i < job.shapes.size(); ++i) {
            PyObject* const object = unfilled(job.text(i), job.shapes[i], errors_);
            if (!object) throw nb::python_error();
            PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(job.begin + i), object);
        }
    }

    void repair(const Job& job, nb::list& list) const {
        for (const size_t i : job.refused) {
            PyObject* const text = repaired(job.text(i), errors_);
            if (!text) throw nb::python_error();
            PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(job.begin + i), text);
        }
    }

    const Decoder& decoder_;
    IntSpan ids_;
    std::span<const int64_t> offsets_;
    unsigned threads_;
    const char* errors_;
    std::vector<Job> jobs_;
};

nb::list decode_batch(const BoundEncoder& encoder, nb::handle batch, unsigned threads,
                      const char* errors) {
    IdLists lists;
    for (nb::handle ids : batch)
        if (!lists.add(ids)) break;
    nb::list made =
        ManyTexts(encoder.decoder(), lists.ids(), lists.offsets(), threads, errors).made();
    lists.check();
    return made;
}

nb::list decode_arrays(const BoundEncoder& encoder, nb::handle ids, ArrayView<int64_t> offsets,
                       unsigned threads, const char* errors) {
    const LentInts lent(ids);
    if (!lent.ints()) throw nb::type_error("ids must be an array of integers");
    const auto all = span_of(offsets);
    if (!std::is_sorted(all.begin(), all.end()) ||
        (!all.empty() && (all.front() < 0 || static_cast<size_t>(all.back()) > lent.ints()->size)))
        throw std::invalid_argument("the offsets do not fit the ids");
    return ManyTexts(encoder.decoder(), *lent.ints(), all, threads, errors).made();
}

}  // namespace

void bind_decoding(nb::class_<BoundEncoder>& encoder) {
    encoder
        .def("token", [](const BoundEncoder& e, nb::handle id) { return to_bytes(e.token(id_of(id, 0))); },
             "id"_a, nb::sig("def token(self, id: int) -> bytes"))
        .def("decode", [](const BoundEncoder& e, nb::handle ids) { return decode(e, ids, nullptr); },
             "ids"_a, nb::sig("def decode(self, ids: object) -> bytes"))
        .def("decode_text", decode, "ids"_a, "errors"_a,
             nb::sig("def decode_text(self, ids: object, errors: str) -> str"))
        .def("decode_batch",
             [](const BoundEncoder& e, nb::handle batch, unsigned threads) {
                 return decode_batch(e, batch, threads, nullptr);
             }, "batch"_a, "threads"_a,
             nb::sig("def decode_batch(self, batch: object, threads: int) -> list[bytes]"))
        .def("decode_text_batch", decode_batch, "batch"_a, "threads"_a, "errors"_a,
             nb::sig("def decode_text_batch(self, batch: object, threads: int, errors: str)"
                     " -> list[str]"))
        .def("decode_arrays", decode_arrays, "ids"_a, "offsets"_a, "threads"_a, "errors"_a,
             "The texts whose ids lie one after the other in an array, at m + 1 offsets.",
             nb::sig("def decode_arrays(self, ids: object, offsets: NDArray[numpy.int64], threads: int,"
                     " errors: str) -> list[str]"));
}

}  // namespace bpe::bindings
