#include "pieces.h"

#include <algorithm>

namespace bpe {

PieceCounts::PieceCounts(const CountTables& tables, bool in_order)
    : tables_(tables), in_order_(in_order) {
    if (!in_order) return;
    std::vector<std::pair<uint64_t, size_t>> found;  // order and place
    found.reserve(tables.size());
    tables.look_at(0, tables.places(), [&](size_t place, Bytes, uint64_t, uint64_t order) {
        found.push_back({order, place});
    });
    std::sort(found.begin(), found.end());
    places_.reserve(found.size());
    for (const auto& [order, place] : found) places_.push_back(place);
}

}  // namespace bpe
