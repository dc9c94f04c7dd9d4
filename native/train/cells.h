// The pieces of a training text as one array of cells, a cell for each byte, rewritten by merges.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "pieces.h"

namespace bpe {

// A token covers as many cells as it has bytes and never moves. Its first and its last cell hold its
// id, so both neighbours of a token are found without a list: the token after it starts right behind
// its last cell, and the cell before its first one is its left neighbour's last. What stands between
// is stale, but for the cell where the right part of the last merge began, which holds the id too:
// so a remembered place whose token was swallowed never looks alive again. Words are parted by kEnd.
template <class Cell>
struct Cells {
    static constexpr Cell kEnd = std::numeric_limits<Cell>::max();

    std::vector<Cell> cells;
    std::vector<size_t> begins;    // of each word
    std::vector<uint64_t> counts;  // of each word

    // Words of at least two bytes: others have no pair. `id_of` maps bytes to ids. Frequent words
    // come first, so that what is touched often lies together, unless the order of the pieces must
    // be kept.
    Cells(const PieceCounts& pieces, const std::array<uint8_t, 256>& id_of, bool keep_order) {
        std::vector<uint32_t> order;
        size_t size = 1;
        for (uint32_t i = 0; i < pieces.size(); ++i) {
            if (pieces.piece(i).size() < 2) continue;
            order.push_back(i);
            size += pieces.piece(i).size() + 1;
        }
        if (!keep_order) by_magnitude(pieces, order);
        cells.reserve(size);
        begins.reserve(order.size());
        counts.reserve(order.size());
        cells.push_back(kEnd);
        for (const uint32_t i : order) {
            begins.push_back(cells.size());
            counts.push_back(pieces.count(i));
            for (const uint8_t byte : pieces.piece(i)) cells.push_back(id_of[byte]);
            cells.push_back(kEnd);
        }
    }

private:
    // Sorts by the binary magnitude of the count, greatest first: all that the memory needs.
    static void by_magnitude(const PieceCounts& pieces, std::vector<uint32_t>& order) {
        std::array<size_t, 66> starts{};
        const auto bucket = [&](uint32_t i) { return 64 - std::bit_width(pieces.count(i)); };
        for (const uint32_t i : order) ++starts[bucket(i) + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        std::vector<uint32_t> sorted(order.size());
        for (const uint32_t i : order) sorted[starts[bucket(i)]++] = i;
        order.swap(sorted);
    }
};

}  // namespace bpe
