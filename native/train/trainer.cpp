#include "trainer.h"

#include "merge_loop.h"

namespace bpe {
namespace {

template <class Cell, class Number>
MergeList train_with(const Words& words, const Start& start, const TrainOptions& options, Crew& crew,
                     Watch& watch) {
    MergeLoop<Cell, Number> loop(words, start, options, crew);
    MergeList merges;
    for (const auto& [left, right] : options.first) {
        watch.tick(merges.size(), options.merges);
        if (const Pair pair = loop.find(left, right); pair != kNoPair)
            loop.merge(pair);
        else
            loop.append_token(left, right);
        merges.push_back({left, right});
    }
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

Start Start::of_bytes(const std::array<uint8_t, 256>& byte_order) {
    Start start;
    for (size_t id = 0; id < 256; ++id) {
        start.tokens.push_back({&byte_order[id], 1});
        start.byte_ids[byte_order[id]] = static_cast<uint8_t>(id);
    }
    start.widths.assign(256, 1);
    return start;
}

MergeList train(const PieceCounts& pieces, const Start& start, const TrainOptions& options,
                Watch& watch) {
    Crew crew(options.threads);
    const Words words(pieces, start, options.tie_break == TieBreak::first, crew);
    // The narrowest types that hold every id, every place and every word's count.
    const size_t ids = start.tokens.size() + std::max(options.merges, options.first.size());
    if (words.cells() > UINT32_MAX || words.greatest_count() > UINT32_MAX)
        return train_with<uint32_t, uint64_t>(words, start, options, crew, watch);
    if (ids >= UINT16_MAX) return train_with<uint32_t, uint32_t>(words, start, options, crew, watch);
    return train_with<uint16_t, uint32_t>(words, start, options, crew, watch);
}

}  // namespace bpe
