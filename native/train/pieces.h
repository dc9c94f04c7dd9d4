// Counted pieces, as the trainer takes them.
#pragma once

#include <vector>

#include "../base/runs.h"
#include "count_table.h"

namespace bpe {

// The distinct pieces of a table and their counts; the table must outlive this object unchanged.
class PieceCounts {
public:
    // In the order of first appearance if that is asked for, else in that of the table.
    PieceCounts(const CountTable& table, bool in_order);

    size_t size() const { return table_.size(); }

    // Calls `sink(piece, count)` for each; `piece` is gone afterwards.
    template <class Sink>
    void for_each(Sink&& sink) const {
        for_each(0, 1, sink);
    }
    // The same for one of so many parts, which are one behind the other.
    template <class Sink>
    void for_each(size_t part, size_t parts, Sink&& sink) const {
        const auto [first, last] = part_of(in_order_ ? places_.size() : table_.places(), part, parts);
        for (size_t i = first; i < last; ++i)
            table_.look_at(in_order_ ? places_[i] : i,
                           [&](Bytes piece, uint64_t count, uint64_t) { sink(piece, count); });
    }

private:
    const CountTable& table_;
    bool in_order_;
    LargeVector<size_t> places_;  // in order
};

}  // namespace bpe
