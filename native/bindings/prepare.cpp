// `Regex`, `Scan` and `Preparation`: what happens to a text before merging, beyond named scanners.
#include "../encode/prepare.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

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
    std::string segment(rewritten.c_str(), rewritten.size());
    if (preparation.adds_space(as_bytes(segment))) segment.insert(segment.begin(), ' ');
    nb::list segments;
    preparation.cut(as_bytes(segment), [&](Bytes part) { segments.append(to_bytes(part)); });
    return segments;
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
    nb::class_<Preparation>(m, "Preparation")
        .def("__init__", make_preparation, "normalizers"_a, "prefix_space"_a, "splits"_a)
        .def("normalize", normalized, "text"_a)
        .def("segments", segments_of, "text"_a,
             "Segments of a text without added tokens, which goes through the normalizer first.",
             nb::sig("def segments(self, text: object) -> list[bytes]"));
}

}  // namespace bpe::bindings
