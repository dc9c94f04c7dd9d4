// Where pairs occur, and what a merge does to the pairs on one side of it.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "pair_table.h"

namespace bpe {

// Lists that are written once and read once: memory is handed out in order and freed at the end.
template <class Place>
class PlaceArena {
public:
    std::span<Place> allocate(size_t size) {
        if (size > left_.size()) {
            const size_t block = std::max(size, kBlock);
            blocks_.push_back(std::make_unique_for_overwrite<Place[]>(block));
            left_ = {blocks_.back().get(), block};
        }
        const std::span<Place> places = left_.first(size);
        left_ = left_.subspan(size);
        return places;
    }

private:
    static constexpr size_t kBlock = 1 << 17;

    std::vector<std::unique_ptr<Place[]>> blocks_;
    std::span<Place> left_;
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
    std::vector<Entry> log_;
    std::vector<Target> targets_;
};

}  // namespace bpe
