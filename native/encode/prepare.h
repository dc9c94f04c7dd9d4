// What happens to texts before they are split by a scanner.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../base/unicode.h"
#include "../normalize/normalizer.h"
#include "../scan/steps.h"

namespace bpe {

// Text that must be UTF-8 and is not.
class NotUtf8 : public std::runtime_error {
public:
    explicit NotUtf8(size_t offset)
        : std::runtime_error("byte " + std::to_string(offset) +
                             " of the text is not UTF-8; this tokenizer has a normalizer or a "
                             "split that needs characters"),
          offset(offset) {}

    size_t offset;
};

class Preparation {
public:
    // Does the steps of `normalizer`, puts a space in front of what does not begin with one if
    // `prefix_space`, and cuts by `steps`, each on the pieces of the last.
    Preparation(normalize::Normalizer normalizer, bool prefix_space, std::vector<scan::Step> steps)
        : normalizer_(std::move(normalizer)), prefix_space_(prefix_space), steps_(std::move(steps)) {}

    const normalize::Normalizer& normalizer() const { return normalizer_; }
    // Whether a space belongs in front of a segment.
    bool adds_space(Bytes segment) const {
        return prefix_space_ && !segment.empty() && segment[0] != ' ';
    }
    // Whether it does the same to both parts of a text that is cut between ASCII characters.
    bool keeps_cuts() const { return normalizer_.is_form() && !prefix_space_ && steps_.empty(); }

    // Calls `sink(part)` for the parts that the steps make of a segment. Throws scan::EndlessRegex.
    template <class Sink>
    void cut(Bytes segment, Sink&& sink, size_t step = 0) const {
        if (step == steps_.size()) return segment.empty() ? void() : sink(segment);
        scan::Cutter cutter(steps_[step], segment);
        while (cutter.next())
            cut(segment.subspan(cutter.begin(), cutter.end() - cutter.begin()), sink, step + 1);
    }

private:
    normalize::Normalizer normalizer_;
    bool prefix_space_;
    std::vector<scan::Step> steps_;
};

inline void check_utf8(Bytes text) {
    const size_t offset = first_invalid(text);
    if (offset < text.size()) throw NotUtf8(offset);
}

}  // namespace bpe
