// The pieces of a training text as one array of cells, a cell for each byte, rewritten by merges.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "../base/crew.h"
#include "pieces.h"
#include "start.h"

namespace bpe {

// A token covers as many cells as it has bytes and never moves. Its first and its last cell hold its
// id, so both neighbours of a token are found without a list: the token after it starts right behind
// its last cell, and the cell before its first one is its left neighbour's last. What stands between
// is stale, but for the cell where the right part of the last merge began, which holds the id too:
// so a remembered place whose token was swallowed never looks alive again. Words are parted by kEnd.
template <class Cell>
class Cells {
public:
    static constexpr Cell kEnd = std::numeric_limits<Cell>::max();

    // Words of at least two symbols: others have no pair. Frequent words come first, so that what
    // is touched often lies together, unless the order of the pieces must be kept.
    Cells(const PieceCounts& pieces, const Start& start, bool keep_order, Crew& crew) {
        std::vector<uint32_t> order;
        std::vector<std::vector<Id>> spelled;  // by piece, unless bytes are symbols
        if (start.spell) spelled.resize(pieces.size());
        for (uint32_t i = 0; i < pieces.size(); ++i) {
            if (start.spell) start.spell(pieces.piece(i), spelled[i]);
            if ((start.spell ? spelled[i].size() : pieces.piece(i).size()) >= 2) order.push_back(i);
        }
        if (!keep_order) by_magnitude(pieces, order);
        begins_.reserve(order.size() + 1);
        counts_.reserve(order.size());
        size_t end = 1;
        for (const uint32_t i : order) {
            begins_.push_back(end);
            counts_.push_back(pieces.count(i));
            if (start.spell)
                for (const Id id : spelled[i]) end += start.widths[id];
            else
                end += pieces.piece(i).size();
            ++end;
        }
        begins_.push_back(end);
        cells_ = std::make_unique_for_overwrite<Cell[]>(end);
        cells_[0] = kEnd;
        crew.run([&](unsigned part) {
            const auto [first, last] = share(part, crew.size());
            for (size_t word = first; word < last; ++word) {
                Cell* cell = cells_.get() + begins_[word];
                if (start.spell)
                    for (const Id id : spelled[order[word]])
                        cell = std::fill_n(cell, start.widths[id], static_cast<Cell>(id));
                else
                    for (const uint8_t byte : pieces.piece(order[word])) *cell++ = start.byte_ids[byte];
                *cell = kEnd;
            }
        });
    }

    Cell* data() { return cells_.get(); }
    const Cell* data() const { return cells_.get(); }
    uint64_t count(size_t word) const { return counts_[word]; }
    // The first cell of a word; the last one before that of the next word is an end.
    size_t begin(size_t word) const { return begins_[word]; }

    // The words of one of so many parts of about equal size.
    std::pair<size_t, size_t> share(size_t part, size_t parts) const {
        const auto word_at = [&](size_t p) -> size_t {
            const size_t cell = begins_.back() / parts * p;
            if (p == parts) return counts_.size();
            return std::lower_bound(begins_.begin(), begins_.end() - 1, cell) - begins_.begin();
        };
        return {word_at(part), word_at(part + 1)};
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

    std::unique_ptr<Cell[]> cells_;
    std::vector<size_t> begins_;  // of each word, and where the last one ends
    std::vector<uint64_t> counts_;
};

}  // namespace bpe
