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

    // Segments of a text one after the other, and what stands where: the place of an added token in
    // the encoder's list, or kSegment.
    struct Prepared {
        std::vector<uint8_t> bytes;
        std::vector<size_t> ends;
        std::vector<int64_t> items;
    };
    static constexpr int64_t kSegment = -1;
    // Appends to `out`. Throws scan::EndlessRegex.
    void prepare(const Encoder& encoder, Bytes text, Enabled enabled, Beat& beat,
                 Prepared& out) const;
    // The same for text without added tokens that has gone through the normalizer.
    void segment(Bytes text, Prepared& out) const;

private:
    void cut(Bytes text, size_t step, Prepared& out) const;

    normalize::Normalizer normalizer_;
    bool prefix_space_;
    std::vector<scan::Step> steps_;
};

}  // namespace bpe
