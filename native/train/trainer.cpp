#include "trainer.h"

#include "merge_loop.h"

namespace bpe {
namespace {

template <class Cell, class Number>
MergeList train_with(const PieceCounts& pieces, const TrainOptions& options, Watch& watch) {
    MergeLoop<Cell, Number> loop(pieces, options);
    MergeList merges;
    while (merges.size() < options.merges) {
        watch.tick(merges.size(), options.merges);
        const auto pair = loop.best_pair();
        if (!pair) break;
        loop.merge(*pair);
        merges.push_back(loop.ids_of(*pair));
    }
    return merges;
}

}  // namespace

MergeList train(const PieceCounts& pieces, const TrainOptions& options, Watch& watch) {
    uint64_t cells = 1, greatest = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
        cells += pieces.piece(i).size() + 1;
        greatest = std::max(greatest, pieces.count(i));
    }
    // The narrowest types that hold every id, every place and every word's count.
    if (cells > UINT32_MAX || greatest > UINT32_MAX)
        return train_with<uint32_t, uint64_t>(pieces, options, watch);
    if (256 + options.merges >= UINT16_MAX)
        return train_with<uint32_t, uint32_t>(pieces, options, watch);
    return train_with<uint16_t, uint32_t>(pieces, options, watch);
}

}  // namespace bpe
