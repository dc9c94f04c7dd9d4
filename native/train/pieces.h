// Counted pieces, as the trainer takes them.
#pragma once

#include <vector>

#include "count_table.h"

namespace bpe {

// Distinct pieces and their counts.
class PieceCounts {
public:
    // All of a table; in the order of first appearance if that is asked for.
    PieceCounts(const CountTable& table, bool in_order);

    size_t size() const { return counts_.size(); }
    Bytes piece(size_t i) const { return pieces_[i]; }
    uint64_t count(size_t i) const { return counts_[i]; }

private:
    ByteStrings pieces_;
    std::vector<uint64_t> counts_;
};

}  // namespace bpe
