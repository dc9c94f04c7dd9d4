// The state of a training run between two merges, and one step of it.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>

#include "cells.h"
#include "pair_table.h"
#include "trainer.h"

namespace bpe {

// Why this is exact, with z the token that the pair (a, b) becomes:
// * Only pairs with z are new; every other pair keeps or loses count. So a queued count is an upper
//   bound, and a pair popped with an outdated one is queued again with what is left.
// * A pair's list of places is complete when the pair appears, and rises, since the places of (a, b)
//   do; from then on it only goes stale.
// * What a merge changes is gathered per neighbour first: one look-up per neighbour and merge
//   instead of four per occurrence. And the work follows the occurrences, never the length of words.
template <class Cell, class Number>
class MergeLoop {
public:
    MergeLoop(const PieceCounts& pieces, const TrainOptions& options)
        : options_(options),
          cells_(pieces, inverse(options.byte_order), options.tie_break == TieBreak::first) {
        for (const uint8_t byte : options.byte_order) tokens_.push_back({&byte, 1});
        lengths_.assign(256, 1);
        before_.resize(256);
        after_.resize(256);
        add_byte_pairs();
    }

    // The pair to merge next, if one is left.
    std::optional<Pair> best_pair() {
        const auto later = [this](const Waiting& a, const Waiting& b) { return comes_later(a, b); };
        while (!queue_.empty()) {
            const Waiting top = queue_.front();
            std::pop_heap(queue_.begin(), queue_.end(), later);
            queue_.pop_back();
            if (top.count == pairs_[top.pair].count) return top.pair;
            enqueue(top.pair);
        }
        return std::nullopt;
    }

    std::pair<Id, Id> ids_of(Pair pair) const { return {pairs_[pair].left, pairs_[pair].right}; }

    // Makes the pair a token everywhere.
    void merge(Pair pair) {
        const auto [a, b] = ids_of(pair);
        const auto z = static_cast<Id>(lengths_.size());
        append_token(a, b);
        const std::span<const Place> places = pairs_[pair].places;
        constexpr size_t kAhead = 12;
        for (size_t i = 0; i < places.size(); ++i) {
            if (i + kAhead < places.size())
                __builtin_prefetch(cells_.cells.data() + places[i + kAhead].at - 1, 1);
            merge_at(places[i], a, b, z);
        }
        pairs_[pair].count = 0;
        apply(a, b, z);
    }

private:
    // Where a pair starts, and how often its word occurs.
    struct Place {
        Number at, count;
    };
    struct Waiting {
        uint64_t count, key;
        Pair pair;
    };
    // What one merge does to the pairs of one neighbour: (left, a) -> (left, z) on one side,
    // (b, right) -> (z, right) on the other.
    struct Gatherer {
        uint64_t removed = 0, added = 0;
        std::vector<Place> places;  // of the added pair
    };

    static std::array<uint8_t, 256> inverse(const std::array<uint8_t, 256>& byte_order) {
        std::array<uint8_t, 256> id_of{};
        for (size_t id = 0; id < 256; ++id) id_of[byte_order[id]] = static_cast<uint8_t>(id);
        return id_of;
    }

    void append_token(Id a, Id b) {
        const Bytes left = tokens_[a], right = tokens_[b];
        std::vector<uint8_t> joined(left.begin(), left.end());
        joined.insert(joined.end(), right.begin(), right.end());
        tokens_.push_back(joined);
        lengths_.push_back(static_cast<uint32_t>(joined.size()));
        before_.emplace_back();
        after_.emplace_back();
    }

    // Counts the pairs of bytes in a square of counters, then lists their places.
    void add_byte_pairs() {
        std::vector<uint64_t> counts(1 << 16);
        std::vector<size_t> sizes(1 << 16);
        const auto& cells = cells_.cells;
        const auto for_each = [&](auto&& visit) {
            for (size_t word = 0; word < cells_.begins.size(); ++word)
                for (size_t at = cells_.begins[word]; cells[at + 1] != Cells<Cell>::kEnd; ++at)
                    visit(cells[at] << 8 | cells[at + 1], at, cells_.counts[word]);
        };
        for_each([&](size_t pair, size_t, uint64_t count) {
            counts[pair] += count;
            ++sizes[pair];
        });
        std::vector<Place*> ends(1 << 16);
        for (size_t pair = 0; pair < ends.size(); ++pair) {
            if (sizes[pair] == 0) continue;
            const std::span<Place> places = arena_.allocate(sizes[pair]);
            ends[pair] = places.data();
            pairs_.add(static_cast<Id>(pair >> 8), pair & 0xFF, counts[pair], places);
        }
        for_each([&](size_t pair, size_t at, uint64_t count) {
            *ends[pair]++ = {static_cast<Number>(at), static_cast<Number>(count)};
        });
        for (Pair pair = 0; pair < pairs_.size(); ++pair) enqueue(pair);
    }

    // Queues the pair with its count of now, unless the options rule it out.
    void enqueue(Pair pair) {
        const auto& p = pairs_[pair];
        if (p.count < std::max<uint64_t>(options_.min_frequency, 1)) return;
        if (lengths_[p.left] + lengths_[p.right] > options_.max_token_length) return;
        queue_.push_back({p.count, key_of(pair), pair});
        std::push_heap(queue_.begin(), queue_.end(),
                       [this](const Waiting& x, const Waiting& y) { return comes_later(x, y); });
    }

    // What decides among equal counts. It may only get worse while a pair waits, and only when the
    // count falls: then the queue always pops the right pair.
    uint64_t key_of(Pair pair) {
        auto& p = pairs_[pair];
        if (options_.tie_break != TieBreak::first) return uint64_t{p.left} << 32 | p.right;
        while (!is_at(p.places.front().at, p.left, p.right)) p.places = p.places.subspan(1);
        return p.places.front().at;
    }

    bool comes_later(const Waiting& a, const Waiting& b) const {
        if (a.count != b.count) return a.count < b.count;
        if (options_.tie_break != TieBreak::bytes) return a.key > b.key;
        if (const int order = compare(a.key >> 32, b.key >> 32)) return order < 0;
        return compare(static_cast<Id>(a.key), static_cast<Id>(b.key)) < 0;
    }

    int compare(Id a, Id b) const {
        if (a == b) return 0;  // different tokens are different strings
        const Bytes x = tokens_[a], y = tokens_[b];
        const int order = std::memcmp(x.data(), y.data(), std::min(x.size(), y.size()));
        return order ? order : (x.size() < y.size() ? -1 : 1);
    }

    bool is_at(size_t at, Id left, Id right) const {
        const Cell* cell = cells_.cells.data() + at;
        return cell[0] == left && cell[lengths_[left]] == right;
    }

    // Merges (a, b) at a place, if it is still there, and gathers what that does to the neighbours.
    // The left neighbour has been merged already, the right one not yet.
    void merge_at(Place place, Id a, Id b, Id z) {
        Cell* const cell = cells_.cells.data() + place.at;
        const uint32_t middle = lengths_[a], size = lengths_[z];
        if (cell[0] != a || cell[middle] != b) return;
        const Cell left = cell[-1], right = cell[size];
        cell[0] = cell[middle] = cell[size - 1] = static_cast<Cell>(z);
        if (left == z) {
            // Two matches in a row: the pair between them went with the first one, which took this
            // `a` for its right neighbour.
            after_[a].added -= place.count;
            after_[z].added += place.count;
            after_[z].places.push_back({static_cast<Number>(place.at - size), place.count});
        } else if (left != Cells<Cell>::kEnd) {
            const auto at = static_cast<Number>(place.at - lengths_[left]);
            gather(before_[left], touched_before_, left, {at, place.count});
        }
        if (right != Cells<Cell>::kEnd) gather(after_[right], touched_after_, right, place);
    }

    static void gather(Gatherer& gatherer, std::vector<Id>& touched, Id neighbour, Place place) {
        if (gatherer.removed == 0) touched.push_back(neighbour);
        gatherer.removed += place.count;
        gatherer.added += place.count;
        gatherer.places.push_back(place);
    }

    // Brings the gathered changes into the pairs.
    void apply(Id a, Id b, Id z) {
        for (const Id left : touched_before_) {
            pairs_[pairs_.find(left, a)].count -= before_[left].removed;
            create(left, z, before_[left]);
        }
        for (const Id right : touched_after_) {
            if (right != a || b != a) pairs_[pairs_.find(b, right)].count -= after_[right].removed;
            create(z, right, after_[right]);
        }
        create(z, z, after_[z]);
        touched_before_.clear();
        touched_after_.clear();
    }

    void create(Id left, Id right, Gatherer& gatherer) {
        if (gatherer.added) {
            const auto places = arena_.allocate(gatherer.places.size());
            std::copy(gatherer.places.begin(), gatherer.places.end(), places.begin());
            enqueue(pairs_.add(left, right, gatherer.added, places));
        }
        gatherer.removed = gatherer.added = 0;
        gatherer.places.clear();
    }

    const TrainOptions& options_;
    Cells<Cell> cells_;
    ByteStrings tokens_;
    std::vector<uint32_t> lengths_;  // of the tokens
    PlaceArena<Place> arena_;
    PairTable<Place> pairs_;
    std::vector<Waiting> queue_;
    std::vector<Gatherer> before_, after_;  // by the neighbour's id; empty between merges
    std::vector<Id> touched_before_, touched_after_;
};

}  // namespace bpe
