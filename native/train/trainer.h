// Training: from counted pieces to merges.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "../base/parallel.h"
#include "pieces.h"
#include "start.h"

namespace bpe {

// Which pair is merged first among those of the greatest count.
enum class TieBreak {
    bytes,  // the greatest (left bytes, right bytes)
    ids,    // the lowest (left id, right id)
    first,  // the one that occurs first in the text
};

// Pairs of ids in the order they were merged: those below the number of symbols are symbols, and
// merge i makes the id that is i more than that number.
using MergeList = std::vector<std::pair<Id, Id>>;

struct TrainOptions {
    TieBreak tie_break = TieBreak::bytes;
    size_t merges = 0;                   // at most
    uint64_t min_frequency = 1;          // of a merged pair, inclusive
    size_t max_token_length = SIZE_MAX;  // bytes, inclusive
    MergeList first;                     // done before all others, whatever the counts are
    std::function<void()> pieces_read;   // called as soon as the pieces are needed no more
    std::function<bool(Bytes token)> forbids;  // tokens never to be made; asked on the caller's thread
    bool may_clash = false;              // a pair may spell a token that there is: it is passed over
    unsigned threads = 1;                // nothing depends on it
};

// The merges of BPE: again and again the pair with the greatest count becomes a token.
//
// Every adjacent pair counts, overlaps included, weighted by how often its piece occurs; a merge
// rewrites each piece from left to right. The result depends on the pieces, their counts and, for
// TieBreak::first, their order. Fewer merges than asked for: no pair was left.
MergeList train(const PieceCounts& pieces, const Start& start, const TrainOptions& options,
                Watch& watch);

}  // namespace bpe
