// The state of a training run between two merges, and one step of it.
#pragma once

#include <algorithm>
#include <optional>

#include "pair_queue.h"
#include "pair_search.h"
#include "trainer.h"

namespace bpe {

// Why this is exact, with z the token that the pair (a, b) becomes:
// * Only pairs with z are new; every other pair keeps or loses count. So a queued count is an upper
//   bound, and a pair popped with an outdated one is queued again with what is left.
// * A pair's list of places is complete when the pair appears, and rises, since the places of (a, b)
//   do; from then on it only goes stale.
// * Only pairs of at least `threshold_` are queued. When none is left, all others are smaller.
// * Pairs that count less than `floor_` when they appear are not even listed. When none is left that
//   counts as much, the floor is lowered and the text is searched for them.
// * Words are shared out among shards, one for each thread. What they gather is added up, so the
//   result does not depend on their number. A merge with few places is all done by shard 0, which
//   then holds all places of the pairs that it makes, in order, since its words come first.
template <class Cell, class Number>
class MergeLoop {
public:
    MergeLoop(const Words& words, const Start& start, const TrainOptions& options, Crew& crew)
        : options_(options),
          prefix_(start.prefix.size()),
          crew_(crew),
          cells_(words, crew),
          tokens_(start.tokens),
          widths_(start.widths),
          shards_(crew.size()) {
        if (options_.pieces_read) options_.pieces_read();
        if (options_.may_clash)
            for (Id id = 0; id < tokens_.size(); ++id) known_.insert(id);
        for (Shard& shard : shards_) shard.resize(tokens_.size());
        if (!start.spell)
            search().add_byte_pairs();
        else
            search().add_pairs(1);
        floor_ = least_worth_a_list();
    }

    // The pair to merge next, if one is left.
    std::optional<Pair> best_pair() {
        while (!queue_.empty() || lower_threshold()) {
            const Waiting top = queue_.pop();
            if (top.count != pairs_[top.pair].count)
                enqueue(top.pair);
            else if (may_become_token(top.pair))
                return top.pair;
        }
        return std::nullopt;
    }

    std::pair<Id, Id> ids_of(Pair pair) const { return {pairs_[pair].left, pairs_[pair].right}; }
    Pair find(Id left, Id right) const { return pairs_.find(left, right); }

    // Makes the pair a token everywhere.
    void merge(Pair pair) {
        const Id a = pairs_[pair].left, b = pairs_[pair].right;
        const Id z = append_token(a, b);
        size_t places = 0;
        for (const Shard& shard : shards_) places += shard.of(pair).size();
        const bool together = shares(places);
        if (together)
            run([&](unsigned i) { visit(shards_[i], shards_[i].of(pair), a, b, z); });
        else
            for (const Shard& shard : shards_) visit(shards_[0], shard.of(pair), a, b, z);
        for (Shard& shard : shards_) shard.drop(pair);
        pairs_[pair].count = 0;
        const auto first_new = static_cast<Pair>(pairs_.size());
        apply(a, b, z);
        if (together)
            run([&](unsigned i) { hand_out(shards_[i]); });
        else
            hand_out(shards_[0]);
        shards_[0].clear();
        for (Pair p = first_new; p < pairs_.size(); ++p) enqueue(p);
    }

    // Makes a token of two that need not occur side by side.
    Id append_token(Id a, Id b) {
        const auto z = static_cast<Id>(tokens_.size());
        tokens_.push_back(joined(a, b));
        if (options_.may_clash) known_.insert(z);
        widths_.push_back(widths_[a] + widths_[b]);
        for (Shard& shard : shards_) shard.resize(tokens_.size());
        return z;
    }

private:
    using Place = bpe::Place<Number>;
    using Shard = bpe::Shard<Number>;
    static constexpr Cell kEnd = Cells<Cell, Number>::kEnd;

    PairSearch<Cell, Number> search() { return {cells_, widths_, pairs_, shards_, crew_}; }

    // From so many places on, all threads work on a merge: a step together costs about 1 µs.
    static constexpr size_t kWorthSharing = 400;
    // After a step for which the others were late, some merges are done by one thread, and twice as
    // many the next time: beside a program that keeps a processor busy, 32,000 merges took 4 to 10 s
    // instead of 0.3 s.
    static constexpr size_t kFewestAlone = 8, kMostAlone = 1 << 12;

    bool shares(size_t places) {
        if (places < kWorthSharing) return false;
        if (alone_ == 0) return true;
        --alone_;
        return false;
    }
    template <class Job>
    void run(Job&& job) {
        crew_.run(job);
        if (crew_.was_late()) {
            alone_ = next_alone_;
            next_alone_ = std::min(2 * next_alone_, kMostAlone);
        } else {
            next_alone_ = std::max(next_alone_ / 2, kFewestAlone);
        }
    }

    // A guess at a count below which no pair is merged. Of 100 MB of English, the last of 32,000
    // merges counts 1/34 of what they would on average: most pairs that appear are rarer than 1/64.
    uint64_t least_worth_a_list() const {
        if (!options_.first.empty()) return 1;  // these pairs may be of any count
        uint64_t total = 0;
        for (Pair pair = 0; pair < pairs_.size(); ++pair) total += pairs_[pair].count;
        const uint64_t mean = total / std::max<uint64_t>(options_.merges, 1);
        return std::max({uint64_t{1}, options_.min_frequency, mean / 64});
    }

    // Queues the pair with its count of now, unless that is below the threshold or the options rule
    // the pair out.
    void enqueue(Pair pair) {
        if (pairs_[pair].count < threshold_ || is_too_long(pair)) return;
        queue_.push({pairs_[pair].count, key_of(pair), pair});
    }

    // Queues what is below the threshold, from an eighth of the greatest count on; false if nothing
    // is left that may be merged.
    bool lower_threshold() {
        const uint64_t least = std::max<uint64_t>(options_.min_frequency, 1);
        while (queue_.empty() && threshold_ > least) {
            uint64_t greatest = 0;
            for (Pair pair = 0; pair < pairs_.size(); ++pair)
                if (pairs_[pair].count < threshold_)
                    greatest = std::max(greatest, pairs_[pair].count);
            if (greatest < floor_ && floor_ > least) {
                floor_ = std::max(least, floor_ / 8);
                search().add_pairs(floor_);
                continue;
            }
            const uint64_t ceiling = threshold_;
            threshold_ = std::max({least, floor_, greatest / 8});
            for (Pair pair = 0; pair < pairs_.size(); ++pair)
                if (pairs_[pair].count < ceiling) enqueue(pair);
        }
        return !queue_.empty();
    }

    bool is_too_long(Pair pair) const {
        const auto [left, right] = ids_of(pair);
        return tokens_[left].size() + tokens_[right].size() - prefix_ > options_.max_token_length;
    }

    // No string becomes a token twice: two ids of one string are none that encoding could give. It
    // takes seed tokens, an old vocabulary or a prefix for that.
    bool may_become_token(Pair pair) const {
        if (!options_.may_clash && !options_.forbids) return true;
        const auto [left, right] = ids_of(pair);
        const std::vector<uint8_t> token = joined(left, right);
        if (options_.may_clash && known_.find(token)) return false;
        return !options_.forbids || !options_.forbids(token);
    }

    std::vector<uint8_t> joined(Id a, Id b) const {
        const Bytes left = tokens_[a], right = tokens_[b].subspan(prefix_);
        std::vector<uint8_t> token(left.begin(), left.end());
        token.insert(token.end(), right.begin(), right.end());
        return token;
    }

    // What decides among equal counts. It may only get worse while a pair waits, and only when the
    // count falls: then the queue always pops the right pair.
    uint64_t key_of(Pair pair) {
        const auto [left, right] = ids_of(pair);
        if (options_.tie_break != TieBreak::first) return uint64_t{left} << 32 | right;
        for (Shard& shard : shards_) {
            if (pair >= shard.places.size()) break;  // shard 0 has all its places
            auto& places = shard.places[pair];
            while (!places.empty() && !is_at(places.front().at, left, right))
                places = places.subspan(1);
            if (!places.empty()) return places.front().at;
        }
        return UINT64_MAX;  // not reached: a pair that counts has a place
    }

    bool is_at(size_t at, Id left, Id right) const {
        const Cell* cell = cells_.data() + at;
        return cell[0] == left && cell[widths_[left]] == right;
    }

    // Merges (a, b) at every place where it still is, and gathers what that does to its neighbours.
    void visit(Shard& shard, std::span<const Place> places, Id a, Id b, Id z) {
        constexpr size_t kAhead = 16;
        const auto prefetch = [&](size_t i) {
            __builtin_prefetch(cells_.data() + places[i].at - 1, 1);
        };
        for (size_t i = 0; i < std::min(kAhead, places.size()); ++i) prefetch(i);
        for (size_t i = 0; i < places.size(); ++i) {
            if (i + kAhead < places.size()) prefetch(i + kAhead);
            merge_at(shard, places[i], a, b, z);
        }
    }

    // The left neighbour has been merged already, the right one not yet.
    void merge_at(Shard& shard, Place place, Id a, Id b, Id z) {
        Cell* const cell = cells_.data() + place.at;
        const uint32_t middle = widths_[a], width = widths_[z];
        if (cell[0] != a || cell[middle] != b) return;
        const Cell left = cell[-1], right = cell[width];
        cell[0] = cell[middle] = cell[width - 1] = static_cast<Cell>(z);
        if (left == z) {
            // Two matches in a row: the pair between them went with the first one, which took this
            // `a` for its right neighbour.
            shard.after.of(a).added -= place.count;
            shard.after.add(z, {static_cast<Number>(place.at - width), place.count}, 0, place.count);
        } else if (left != kEnd) {
            const auto at = static_cast<Number>(place.at - widths_[left]);
            shard.before.add(left, {at, place.count}, place.count, place.count);
        }
        if (right != kEnd) shard.after.add(right, place, place.count, place.count);
    }

    // Brings what all shards have gathered into the pairs.
    void apply(Id a, Id b, Id z) {
        Side<Place>&before = shards_[0].before, &after = shards_[0].after;
        for (size_t i = 1; i < shards_.size(); ++i) {
            add_up(shards_[i].before, before);
            add_up(shards_[i].after, after);
        }
        pairs_.reserve(before.changes().size() + after.changes().size());
        for (const auto& change : before.changes()) {
            pairs_.prefetch(change.neighbour, a);
            if (change.added >= floor_) pairs_.prefetch(change.neighbour, z);
        }
        for (const auto& change : after.changes()) {
            pairs_.prefetch(b, change.neighbour);
            if (change.added >= floor_) pairs_.prefetch(z, change.neighbour);
        }
        old_.clear();
        for (const auto& change : before.changes()) old_.push_back(pairs_.find(change.neighbour, a));
        for (const auto& change : after.changes()) old_.push_back(pairs_.find(b, change.neighbour));
        for (const Pair pair : old_)
            if (pair != kNoPair) pairs_.prefetch(pair);
        size_t n = 0;
        new_before_.clear();
        new_after_.clear();
        for (const auto& change : before.changes()) {
            const Pair old = old_[n++];
            if (old != kNoPair) pairs_[old].count -= change.removed;
            new_before_.push_back(
                change.added >= floor_ ? pairs_.add(change.neighbour, z, change.added) : kNoPair);
        }
        for (const auto& change : after.changes()) {
            // (b, z) is new, and (a, a) is the merged pair itself.
            const Pair old = old_[n++];
            if (old != kNoPair && (change.neighbour != a || b != a)) pairs_[old].count -= change.removed;
            new_after_.push_back(
                change.added >= floor_ ? pairs_.add(z, change.neighbour, change.added) : kNoPair);
        }
    }

    static void add_up(const Side<Place>& part, Side<Place>& sum) {
        for (const auto& change : part.changes()) {
            auto& to = sum.of(change.neighbour);
            to.removed += change.removed;
            to.added += change.added;
        }
    }

    // Gives the new pairs a shard's places. The numbers of the changes are those of shard 0.
    void hand_out(Shard& shard) {
        shard.places.resize(pairs_.size());
        const auto target = [&](const std::vector<Pair>& pairs, const Side<Place>& numbers) {
            return [&](const typename Side<Place>::Change& change) -> Place* {
                const Pair pair = pairs[numbers.number_of(change.neighbour)];
                if (pair == kNoPair || change.places == 0) return nullptr;
                const std::span<Place> places = shard.arena.allocate(change.places);
                shard.places[pair] = places;
                return places.data();
            };
        };
        shard.before.distribute(target(new_before_, shards_[0].before));
        shard.after.distribute(target(new_after_, shards_[0].after));
        if (&shard != &shards_[0]) shard.clear();
    }

    const TrainOptions& options_;
    size_t prefix_;  // bytes
    Crew& crew_;
    Cells<Cell, Number> cells_;
    ByteStrings tokens_;
    BytesIndex known_{tokens_};     // filled if a pair may clash
    std::vector<uint32_t> widths_;  // of the tokens, in cells
    std::vector<Shard> shards_;
    PairTable pairs_;
    PairQueue queue_{options_.tie_break, tokens_};
    uint64_t threshold_ = UINT64_MAX, floor_ = 1;
    size_t alone_ = 0, next_alone_ = kFewestAlone;
    std::vector<Pair> old_, new_before_, new_after_;  // of the changes of one merge
};

}  // namespace bpe
