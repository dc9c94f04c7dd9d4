// Training: from counted pieces to merges.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "pieces.h"

namespace bpe {

// Which pair is merged first among those of the greatest count.
enum class TieBreak {
    bytes,  // the greatest (left bytes, right bytes)
    ids,    // the lowest (left id, right id)
    first,  // the one that occurs first in the text
};

struct TrainOptions {
    TieBreak tie_break = TieBreak::bytes;
    std::array<uint8_t, 256> byte_order;  // the byte of each of the ids 0 to 255
    size_t merges = 0;                    // at most
    uint64_t min_frequency = 1;           // of a merged pair, inclusive
    size_t max_token_length = SIZE_MAX;   // bytes, inclusive
};

// Pairs of ids in the order they were merged: ids below 256 are bytes, 256 + i is merge i.
using MergeList = std::vector<std::pair<Id, Id>>;

// The merges of byte-level BPE: again and again the pair with the greatest count becomes a token.
//
// Every adjacent pair counts, overlaps included, weighted by how often its piece occurs; a merge
// rewrites each piece from left to right. The result depends on the pieces, their counts and, for
// TieBreak::first, their order. Fewer merges than asked for: no pair was left.
MergeList train(const PieceCounts& pieces, const TrainOptions& options, Watch& watch);

}  // namespace bpe
