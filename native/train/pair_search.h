// Which pairs a text holds, and where.
#pragma once

#include <vector>

#include "cells.h"
#include "places.h"

namespace bpe {

// Searches the cells for pairs, counts them and lists their places by shard.
template <class Cell, class Number>
class PairSearch {
public:
    using Place = bpe::Place<Number>;

    PairSearch(const Cells<Cell, Number>& cells, const std::vector<uint32_t>& widths, PairTable& pairs,
               std::vector<Shard<Number>>& shards, Crew& crew)
        : cells_(cells), widths_(widths), pairs_(pairs), shards_(shards), crew_(crew) {}

    // Counts the pairs of bytes in squares of counters, then lists their places.
    void add_byte_pairs() {
        std::vector<LargeVector<Square>> tables(shards_.size(), LargeVector<Square>(kSquares));
        std::vector<LargeVector<Place*>> ends(shards_.size(), LargeVector<Place*>(kSquares));
        crew_.run([&](unsigned i) {
            for_each_byte_pair(i, [squares = tables[i].data()](size_t square, Place place) {
                squares[square].count += place.count;
                ++squares[square].size;
            });
        });
        for (size_t square = 0; square < kSquares; ++square) {
            uint64_t count = 0;
            for (const auto& table : tables) count += table[square].count;
            if (count == 0) continue;
            pairs_.add(static_cast<Id>(square >> 8), square & 0xFF, count);
            for (size_t i = 0; i < shards_.size(); ++i) {
                const auto places = shards_[i].arena.allocate(tables[i][square].size);
                shards_[i].places.push_back(places);
                ends[i][square] = places.data();
            }
        }
        crew_.run([&](unsigned i) {
            for_each_byte_pair(i, [to = ends[i].data()](size_t square, Place place) {
                *to[square]++ = place;
            });
        });
    }

    // Adds all pairs of any symbols that count at least so much and are not there yet.
    void add_pairs(uint64_t least) {
        PairTable found;
        struct List {
            std::vector<size_t> sizes;  // by number of the found pair
            std::vector<Place*> ends;
        };
        std::vector<List> lists(shards_.size());
        for (size_t i = 0; i < shards_.size(); ++i)
            for_each_start(i, [&](Id left, Id right, Place place) {
                if (pairs_.find(left, right) != kNoPair) return;
                Pair pair = found.find(left, right);
                if (pair == kNoPair) pair = found.add(left, right, 0);
                found[pair].count += place.count;
                if (lists[i].sizes.size() <= pair) lists[i].sizes.resize(pair + 1);
                ++lists[i].sizes[pair];
            });
        for (size_t i = 0; i < shards_.size(); ++i) {
            lists[i].sizes.resize(found.size());
            lists[i].ends.resize(found.size());
        }
        for (Pair pair = 0; pair < found.size(); ++pair) {
            const auto [left, right, count] = found[pair];
            if (count < least) continue;
            const Pair added = pairs_.add(left, right, count);
            for (size_t i = 0; i < shards_.size(); ++i) {
                const std::span<Place> places = shards_[i].arena.allocate(lists[i].sizes[pair]);
                shards_[i].places.resize(added + 1);
                shards_[i].places[added] = places;
                lists[i].ends[pair] = places.data();
            }
        }
        for (size_t i = 0; i < shards_.size(); ++i)
            for_each_start(i, [&](Id left, Id right, Place place) {
                const Pair pair = found.find(left, right);
                if (pair != kNoPair && found[pair].count >= least) *lists[i].ends[pair]++ = place;
            });
    }

private:
    // Calls `visit(place, count)` for every two symbols of a shard's words.
    template <class Visit>
    void for_each_start(size_t shard, Visit&& visit) const {
        const auto [first, last] = cells_.share(shard, shards_.size());
        const Cell* cells = cells_.data();
        for (size_t word = first; word < last; ++word)
            for (size_t at = cells_.begin(word);;) {
                const size_t next = at + widths_[cells[at]];
                if (cells[next] == Cells<Cell, Number>::kEnd) break;
                visit(cells[at], cells[next], Place{static_cast<Number>(at), cells_.count(word)});
                at = next;
            }
    }

    // How often a pair of bytes occurs, in the text and in the list of words.
    struct Square {
        uint64_t count, size;
    };
    static constexpr size_t kSquares = 1 << 16;

    // Calls `visit(square, place)` for every two bytes of a shard's words: a loop without a chain of
    // look-ups, as a byte is a cell wide.
    template <class Visit>
    void for_each_byte_pair(size_t shard, Visit&& visit) const {
        const auto [first, last] = cells_.share(shard, shards_.size());
        const Cell* cells = cells_.data();
        for (size_t word = first; word < last; ++word) {
            const Number count = cells_.count(word);
            const size_t end = cells_.begin(word + 1) - 2;  // the last byte
            for (size_t at = cells_.begin(word); at < end; ++at)
                visit(size_t{cells[at]} << 8 | cells[at + 1], Place{static_cast<Number>(at), count});
        }
    }

    const Cells<Cell, Number>& cells_;
    const std::vector<uint32_t>& widths_;  // of the tokens, in cells
    PairTable& pairs_;
    std::vector<Shard<Number>>& shards_;
    Crew& crew_;
};

}  // namespace bpe
