#include "trainer.h"

#include <algorithm>

#include "merge_loop.h"
#include "ties.h"

namespace bpe {
namespace {

template <class Tie>
MergeList train_with(const PieceCounts& pieces, const TrainOptions& options, Watch& watch) {
    MergeLoop<Tie> loop(pieces, options);
    MergeList merges;
    while (merges.size() < options.merges) {
        watch.tick(merges.size(), options.merges);
        const auto pair = loop.best_pair();
        if (!pair) break;
        loop.merge(*pair);
        merges.push_back(loop.ids_of(*pair));
    }
    watch.tick(options.merges, options.merges);
    return merges;
}

}  // namespace

MergeList train(const PieceCounts& pieces, const TrainOptions& options, Watch& watch) {
    switch (options.tie_break) {
        case TieBreak::bytes: return train_with<GreatestBytes>(pieces, options, watch);
        case TieBreak::ids: return train_with<LowestIds>(pieces, options, watch);
        case TieBreak::first: return train_with<FirstOccurrence>(pieces, options, watch);
    }
    return {};
}

}  // namespace bpe
