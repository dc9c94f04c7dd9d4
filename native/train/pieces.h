// Counted pieces, as the trainer takes them.
#pragma once

#include <vector>

#include "../base/runs.h"
#include "tally.h"

namespace bpe {

// The distinct pieces in tables and their counts; the tables must outlive this object unchanged.
class PieceCounts {
public:
    // In the order of first appearance if that is asked for, else in that of the tables.
    PieceCounts(const CountTables& tables, bool in_order);

    size_t size() const { return tables_.size(); }

    // Calls `sink(piece, count)` for each; `piece` is gone afterwards.
    template <class Sink>
    void for_each(Sink&& sink) const {
        for_each(0, 1, sink);
    }
    // The same for one of so many parts, which are one behind the other.
    template <class Sink>
    void for_each(size_t part, size_t parts, Sink&& sink) const {
        const auto to_sink = [&](size_t, Bytes piece, uint64_t count, uint64_t) { sink(piece, count); };
        const auto [first, last] = part_of(in_order_ ? places_.size() : tables_.places(), part, parts);
        if (!in_order_) return tables_.look_at(first, last, to_sink);
        for (size_t i = first; i < last; ++i) tables_.look_at(places_[i], places_[i] + 1, to_sink);
    }

private:
    const CountTables& tables_;
    bool in_order_;
    LargeVector<size_t> places_;  // in order
};

}  // namespace bpe
