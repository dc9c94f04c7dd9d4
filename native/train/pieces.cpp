#include "pieces.h"

#include <algorithm>
#include <string>

namespace bpe {

PieceCounts::PieceCounts(const CountTable& table, bool in_order) {
    pieces_.reserve(table.size(), table.total_bytes());
    counts_.reserve(table.size());
    if (!in_order) {
        table.for_each([this](Bytes piece, uint64_t count, uint64_t) {
            pieces_.push_back(piece);
            counts_.push_back(count);
        });
        return;
    }
    struct Found {
        uint64_t order, count;
        std::string piece;
    };
    std::vector<Found> all;
    all.reserve(table.size());
    table.for_each([&](Bytes piece, uint64_t count, uint64_t order) {
        all.push_back({order, count, std::string(piece.begin(), piece.end())});
    });
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.order < b.order; });
    for (const Found& found : all) {
        pieces_.push_back(as_bytes(found.piece));
        counts_.push_back(found.count);
    }
}

}  // namespace bpe
