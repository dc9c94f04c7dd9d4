// Where pairs occur, and what a merge does to the pairs on one side of it.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "pair_table.h"

namespace bpe {

// Lists of places: memory is handed out in order and freed at the end.
template <class Place>
class PlaceArena {
public:
    std::span<Place> allocate(size_t size) {
        if (size <= spare_.size()) return taken(spare_, size);
        if (size > left_.size()) {
            blocks_.emplace_back(std::max(size, std::min(kBlock, kFirst << blocks_.size())));
            left_ = {blocks_.back().data(), blocks_.back().size()};
        }
        return taken(left_, size);
    }
    // What is read no more is written again, if it is the largest of its kind: it lies in the caches,
    // while the system has to make new pages first.
    void give_back(std::span<Place> places) {
        if (places.size() > spare_.size()) spare_ = places;
    }

private:
    static constexpr size_t kFirst = 1 << 12, kBlock = huge::kPage / sizeof(Place);

    static std::span<Place> taken(std::span<Place>& from, size_t size) {
        const std::span<Place> places = from.first(size);
        from = from.subspan(size);
        return places;
    }

    std::vector<ZeroedArray<Place>> blocks_;
    std::span<Place> left_, spare_;
};

// Changes to the pairs of a merged pair's neighbours on one side, gathered per neighbour: one
// look-up per neighbour and merge instead of two per occurrence.
template <class Place>
class Side {
public:
    struct Change {
        Id neighbour;
        size_t places;            // of the pair with the new token
        uint64_t removed, added;  // counts of the pair with the old one, with the new one
    };

    // Neighbours are ids below this.
    void resize(size_t ids) { numbers_.resize(ids, kNone); }

    const std::vector<Change>& changes() const { return changes_; }
    uint32_t number_of(Id neighbour) const { return numbers_[neighbour]; }

    Change& of(Id neighbour) { return changes_[number(neighbour)]; }

    // An occurrence whose neighbour now stands beside the new token, at this place.
    [[gnu::always_inline]] void add(Id neighbour, Place place, uint64_t removed, uint64_t added) {
        const uint32_t n = number(neighbour);
        changes_[n].removed += removed;
        changes_[n].added += added;
        ++changes_[n].places;
        log_.push_back({place, n});
    }

    // Hands over the places of each change in the order in which they were added: `target(change)`
    // is where, nullptr for nowhere.
    template <class TargetOf>
    void distribute(TargetOf&& target) {
        Place dropped;
        targets_.clear();
        for (const Change& change : changes_) {
            Place* const to = target(change);
            targets_.push_back(to ? Target{to, 1} : Target{&dropped, 0});
        }
        for (const auto& [place, n] : log_) {  // no branch: most changes have no target
            Target& to = targets_[n];
            *to.place = place;
            to.place += to.step;
        }
    }

    void clear() {
        for (const Change& change : changes_) numbers_[change.neighbour] = kNone;
        changes_.clear();
        log_.clear();
    }

private:
    struct Entry {
        Place place;
        uint32_t number;
    };
    struct Target {
        Place* place;
        ptrdiff_t step;
    };
    static constexpr uint32_t kNone = UINT32_MAX;

    [[gnu::always_inline]] uint32_t number(Id neighbour) {
        uint32_t& n = numbers_[neighbour];
        if (n == kNone) {
            n = static_cast<uint32_t>(changes_.size());
            changes_.push_back({neighbour, 0, 0, 0});
        }
        return n;
    }

    std::vector<uint32_t> numbers_;  // of the changes, by neighbour; kNone between merges
    std::vector<Change> changes_;
    LargeVector<Entry> log_;
    std::vector<Target> targets_;
};

// Where a pair starts, and how often its word occurs.
template <class Number>
struct Place {
    Number at, count;
};

// A share of the words: where the pairs occur in them, and what a merge does to them.
template <class Number>
struct Shard {
    using Place = bpe::Place<Number>;

    PlaceArena<Place> arena;
    LargeVector<std::span<Place>> places;  // by pair, rising; stale ones stay; may be short
    // (left, a) -> (left, z) in front of a merge, (b, right) -> (z, right) behind it.
    Side<Place> before, after;

    std::span<const Place> of(Pair pair) const {
        return pair < places.size() ? places[pair] : std::span<Place>();
    }
    void drop(Pair pair) {
        if (pair < places.size()) arena.give_back(std::exchange(places[pair], {}));
    }
    void resize(size_t ids) {
        before.resize(ids);
        after.resize(ids);
    }
    void clear() {
        before.clear();
        after.clear();
    }
};

}  // namespace bpe
