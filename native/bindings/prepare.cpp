// `Regex`, `Scan` and `Preparation`: what happens to a text before merging, beyond named scanners.
#include "../encode/prepare.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bound_encoder.h"
#include "common.h"

namespace bpe::bindings {
namespace {

using scan::Regex;
using SharedRegex = std::shared_ptr<Regex>;
// Regex, number of the behavior, invert, mapped.
using StepTuple = std::tuple<SharedRegex, int, bool, bool>;
// Number of the kind, left, right, pattern, content, regex or None.
using NormalizerTuple =
    std::tuple<int, bool, bool, std::string, std::string, std::optional<SharedRegex>>;

// Text that must be UTF-8 and is not.
class NotUtf8 : public std::runtime_error {
public:
    explicit NotUtf8(size_t offset)
        : std::runtime_error("byte " + std::to_string(offset) +
                             " of the text is not UTF-8; this tokenizer has a normalizer or a "
                             "split that needs characters") {}
};

template <class Number>
Number number_of(int value, Number last) {
    if (value < 0 || value > static_cast<int>(last)) throw std::invalid_argument("no such number");
    return static_cast<Number>(value);
}

scan::Step step_of(const StepTuple& step) {
    const auto& [regex, behavior, invert, mapped] = step;
    return {regex, number_of(behavior, scan::Behavior::contiguous), invert, mapped};
}

void make_regex(Regex* self, ArrayView<int32_t> code, const nb::bytes& sets,
                const nb::bytes& letters, size_t first) {
    std::vector<Regex::Set> members(sets.size() / sizeof(Regex::Set));
    std::memcpy(members.data(), sets.data(), members.size() * sizeof(Regex::Set));
    const auto numbers = span_of(code);
    new (self) Regex({numbers.begin(), numbers.end()}, std::move(members), bytes_of(letters), first);
}

void make_preparation(Preparation* self, const std::vector<NormalizerTuple>& normalizers,
                      bool prefix_space, const std::vector<StepTuple>& splits) {
    using normalize::Step;
    std::vector<Step> steps;
    for (const auto& [kind, left, right, pattern, content, regex] : normalizers)
        steps.push_back({number_of(kind, Step::Kind::replace), left, right, pattern, content,
                         regex.value_or(nullptr)});
    std::vector<scan::Step> cuts;
    for (const StepTuple& split : splits) cuts.push_back(step_of(split));
    new (self) Preparation(normalize::Normalizer(std::move(steps)), prefix_space, std::move(cuts));
}

void check_utf8(Bytes text) {
    const size_t offset = first_invalid(text);
    if (offset < text.size()) throw NotUtf8(offset);
}

nb::bytes normalized(const Preparation& preparation, nb::handle text) {
    const Text bytes(text);
    std::vector<uint8_t> out, spare;
    Bytes rewritten;
    {
        const nb::gil_scoped_release released;
        check_utf8(bytes);
        rewritten = preparation.normalizer().apply(bytes, out, spare);
    }
    return to_bytes(rewritten);
}

nb::list segments_of(const Preparation& preparation, nb::handle text) {
    const nb::bytes rewritten = normalized(preparation, text);
    Preparation::Prepared prepared;
    preparation.segment(bytes_of(rewritten), bytes_of(rewritten), prepared);
    nb::list segments;
    for (size_t i = 0; i < prepared.segments.size(); ++i) segments.append(to_bytes(prepared[i]));
    return segments;
}

nb::tuple prepare(const Preparation& preparation, const BoundEncoder& encoder, nb::handle texts,
                  const nb::bytes& enabled, unsigned threads) {
    const auto bytes = std::make_shared<const Texts>(texts);
    const auto& views = bytes->views();
    const Bytes mask = bytes_of(enabled);
    uint64_t total = 0;
    for (const Bytes view : views) total += view.size();
    // Jobs of many texts: the results of each are one allocation.
    const size_t jobs = std::min<size_t>(views.size(), 64 * std::max(1u, threads));
    const auto begin_of = [&](size_t job) { return views.size() * job / jobs; };
    std::vector<Preparation::Prepared> results(jobs);
    std::vector<std::vector<int64_t>> ends(jobs);
    PythonWatch watch{nb::none()};
    {
        const nb::gil_scoped_release released;
        parallel_for(jobs, threads, total, watch, [](Beat&) { return 0; },
                     [&](size_t job, int, Beat& beat) {
                         for (size_t i = begin_of(job); i < begin_of(job + 1); ++i) {
                             check_utf8(views[i]);
                             preparation.prepare(encoder, views[i], mask, beat, results[job]);
                             ends[job].push_back(static_cast<int64_t>(results[job].items.size()));
                             beat(views[i].size());
                         }
                     });
    }
    auto segments = std::make_unique<Segments>();
    segments->texts = bytes;
    std::vector<int64_t> items, item_ends{0};
    {
        const nb::gil_scoped_release released;
        for (size_t job = 0; job < jobs; ++job) {
            Preparation::Prepared& result = results[job];
            for (size_t i = 0; i < result.segments.size(); ++i) segments->views.push_back(result[i]);
            segments->buffers.push_back(std::move(result.bytes));  // moves none of them
            const auto offset = static_cast<int64_t>(items.size());
            for (const int64_t end : ends[job]) item_ends.push_back(offset + end);
            items.insert(items.end(), result.items.begin(), result.items.end());
        }
    }
    return nb::make_tuple(std::move(segments), to_array(std::move(items)), to_array(std::move(item_ends)));
}

std::vector<std::pair<size_t, size_t>> find_all(const Regex& regex, nb::handle text, bool mapped) {
    const Text bytes(text);
    const Bytes view(bytes);
    Regex::Memory memory(view.size());
    std::vector<std::pair<size_t, size_t>> found;
    const nb::gil_scoped_release released;
    for (size_t at = 0; at < view.size();) {
        const Regex::Match match = regex.find(view, at, mapped, memory);
        if (match.begin < match.end) found.emplace_back(match.begin, match.end);
        at = match.end;
    }
    return found;
}

}  // namespace

Scanner scanner_of(nb::handle scanner_) {
    if (nb::isinstance<nb::str>(scanner_)) return scanner(nb::cast<std::string>(scanner_));
    return {"", nb::cast<const Scan&>(scanner_), false};
}

void bind_prepare(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        const auto raise = [](const char* name, const char* what) {
            const nb::object error = nb::module_::import_("bpe_compat.errors").attr(name);
            PyErr_SetString(error.ptr(), what);
        };
        try {
            std::rethrow_exception(p);
        } catch (const scan::EndlessRegex& e) {
            raise("UnsupportedError", e.what());
        } catch (const NotUtf8& e) {
            raise("FormatError", e.what());
        }
    });
    nb::class_<Regex>(m, "Regex")
        .def("__init__", make_regex, "code"_a, "sets"_a, "letters"_a, "first"_a)
        .def("find_all", find_all, "text"_a, "mapped"_a = false,
             "Byte offsets of the matches in a text.");
    nb::class_<Scan>(m, "Scan");
    m.def("step_scan", [](const StepTuple& step) { return scan::step_scan(step_of(step)); }, "step"_a,
          "The scanner of a split step that removes nothing.");
    nb::class_<Segments>(m, "Segments", "Texts for an encoder.")
        .def("__len__", [](const Segments& s) { return s.views.size(); });
    nb::class_<Preparation>(m, "Preparation")
        .def("__init__", make_preparation, "normalizers"_a, "prefix_space"_a, "splits"_a)
        .def("normalize", normalized, "text"_a)
        .def("segments", segments_of, "text"_a,
             "Segments of a text without added tokens, which goes through the normalizer first.",
             nb::sig("def segments(self, text: object) -> list[bytes]"))
        .def("prepare", prepare, "encoder"_a, "texts"_a, "enabled"_a, "threads"_a,
             "Segments of all texts; items: -1 for a segment or the place of an added token; m + 1 "
             "offsets of the texts in the items.",
             nb::sig("def prepare(self, encoder: Encoder, texts: object, enabled: bytes, threads: int)"
                     " -> tuple[Segments, NDArray[numpy.int64], NDArray[numpy.int64]]"));
}

}  // namespace bpe::bindings
