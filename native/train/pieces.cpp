#include "pieces.h"

#include <algorithm>

namespace bpe {

PieceCounts::PieceCounts(const CountTable& table, bool in_order) : table_(table), in_order_(in_order) {
    if (!in_order) return;
    std::vector<std::pair<uint64_t, size_t>> found;  // order and place
    found.reserve(table.size());
    for (size_t place = 0; place < table.places(); ++place)
        table.look_at(place, [&](Bytes, uint64_t, uint64_t order) { found.push_back({order, place}); });
    std::sort(found.begin(), found.end());
    places_.reserve(found.size());
    for (const auto& [order, place] : found) places_.push_back(place);
}

}  // namespace bpe
