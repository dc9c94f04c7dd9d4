#include "trainer.h"

#include "merge_loop.h"

namespace bpe {
namespace {

template <class Cell, class Number>
MergeList train_with(const PieceCounts& pieces, const Start& start, const TrainOptions& options,
                     Watch& watch) {
    Crew crew(options.threads);
    MergeLoop<Cell, Number> loop(pieces, start, options, crew);
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
    uint64_t cells = 1, greatest = 0;
    uint64_t width = 1;
    for (const uint32_t symbol : start.widths) width = std::max<uint64_t>(width, symbol);
    for (size_t i = 0; i < pieces.size(); ++i) {
        cells += (pieces.piece(i).size() + 2) * (start.spell ? width : 1);  // at most
        greatest = std::max(greatest, pieces.count(i));
    }
    // The narrowest types that hold every id, every place and every word's count.
    const size_t ids = start.tokens.size() + std::max(options.merges, options.first.size());
    if (cells > UINT32_MAX || greatest > UINT32_MAX)
        return train_with<uint32_t, uint64_t>(pieces, start, options, watch);
    if (ids >= UINT16_MAX) return train_with<uint32_t, uint32_t>(pieces, start, options, watch);
    return train_with<uint16_t, uint32_t>(pieces, start, options, watch);
}

}  // namespace bpe
