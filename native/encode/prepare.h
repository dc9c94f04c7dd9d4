// What happens to a text before its pieces are merged, for tokenizers that rewrite it, put a space in
// front of it, or split it in steps: it becomes segments, which an encoder takes as texts of their own.
#pragma once

#include <memory>
#include <vector>

#include "../normalize/normalizer.h"
#include "../scan/steps.h"
#include "encoder.h"

namespace bpe {

class Preparation {
public:
    // Does the steps of `normalizer`, puts a space in front of what does not begin with one if
    // `prefix_space`, and cuts by `steps`, each on the pieces of the last.
    Preparation(normalize::Normalizer normalizer, bool prefix_space, std::vector<scan::Step> steps)
        : normalizer_(std::move(normalizer)), prefix_space_(prefix_space), steps_(std::move(steps)) {}

    const normalize::Normalizer& normalizer() const { return normalizer_; }

    // Segments of texts in order, and what stands where: the place of an added token in the encoder's
    // list, or kSegment. What is not rewritten stays in its text, which must outlive this.
    struct Prepared {
        struct Segment {
            const uint8_t* text;  // where it begins; null for one in `bytes`
            size_t begin, size;   // in `bytes`
        };
        std::vector<uint8_t> bytes;
        std::vector<Segment> segments;
        std::vector<int64_t> items;

        Bytes operator[](size_t i) const {
            const auto& [text, begin, size] = segments[i];
            return {text ? text : bytes.data() + begin, size};
        }
    };
    static constexpr int64_t kSegment = -1;
    // Appends to `out`. Throws scan::EndlessRegex.
    void prepare(const Encoder& encoder, Bytes text, Enabled enabled, Beat& beat,
                 Prepared& out) const;
    // The same for text without added tokens that has gone through the normalizer; it need only outlive
    // `out` if it lies in `original`.
    void segment(Bytes text, Bytes original, Prepared& out) const;

private:
    void cut(Bytes text, size_t step, Bytes original, Prepared& out) const;

    normalize::Normalizer normalizer_;
    bool prefix_space_;
    std::vector<scan::Step> steps_;
};

}  // namespace bpe
