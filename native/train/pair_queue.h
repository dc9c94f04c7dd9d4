// The pairs that may be merged next, the best one first.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "pair_table.h"
#include "trainer.h"

namespace bpe {

// A pair with its count, at the time it was queued, and what decides among equal counts.
struct Waiting {
    uint64_t count, key;
    Pair pair;
};

class PairQueue {
public:
    // With TieBreak::bytes, keys are the two ids (left in the upper half) of tokens to compare;
    // otherwise the least key comes first.
    PairQueue(TieBreak tie_break, const ByteStrings& tokens)
        : by_bytes_(tie_break == TieBreak::bytes), tokens_(tokens) {}

    bool empty() const { return heap_.empty(); }

    void push(const Waiting& waiting) {
        heap_.push_back(waiting);
        std::push_heap(heap_.begin(), heap_.end(), Later{*this});
    }

    Waiting pop() {
        std::pop_heap(heap_.begin(), heap_.end(), Later{*this});
        const Waiting best = heap_.back();
        heap_.pop_back();
        return best;
    }

private:
    struct Later {
        const PairQueue& queue;
        bool operator()(const Waiting& a, const Waiting& b) const { return queue.comes_later(a, b); }
    };

    bool comes_later(const Waiting& a, const Waiting& b) const {
        if (a.count != b.count) return a.count < b.count;
        if (!by_bytes_) return a.key > b.key;
        if (const int order = compare(a.key >> 32, b.key >> 32)) return order < 0;
        return compare(static_cast<Id>(a.key), static_cast<Id>(b.key)) < 0;
    }

    int compare(Id a, Id b) const {
        if (a == b) return 0;  // different tokens are different strings
        const Bytes x = tokens_[a], y = tokens_[b];
        const int order = std::memcmp(x.data(), y.data(), std::min(x.size(), y.size()));
        return order ? order : (x.size() < y.size() ? -1 : 1);
    }

    bool by_bytes_;
    const ByteStrings& tokens_;
    LargeVector<Waiting> heap_;
};

}  // namespace bpe
