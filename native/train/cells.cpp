#include "cells.h"

namespace bpe {

Words::Words(const PieceCounts& pieces, const Start& start, bool keep_order, Crew& crew)
    : pieces_(pieces), start_(start), keep_order_(keep_order), nexts_(start.spell ? 1 : crew.size()) {
    std::vector<uint64_t> greatest(nexts_.size());
    crew.run([&](unsigned part) {
        if (part >= nexts_.size()) return;
        std::array<Next, kMagnitudes> sizes{};
        for_each_in(part, [&](size_t cells, auto&&, uint64_t count) {
            Next& size = sizes[magnitude(count)];
            ++size.word;
            size.cell += cells + 1;
            greatest[part] = std::max(greatest[part], count);
        });
        nexts_[part] = sizes;
    });
    greatest_count_ = *std::max_element(greatest.begin(), greatest.end());
    for (size_t m = 0; m < kMagnitudes; ++m)
        for (auto& nexts : nexts_) {
            const Next size = std::exchange(nexts[m], {size_, cells_});
            size_ += size.word;
            cells_ += size.cell;
        }
}

}  // namespace bpe
