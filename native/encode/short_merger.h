// BPE of many short pieces at once.
#pragma once

#include <array>
#include <vector>

#include "model.h"

namespace bpe {

// Merging waits for one look-up after the other in a table that is larger than the caches, and
// guesses wrong at every turn. So several pieces are merged in turn: the look-ups of one are on their
// way while others are worked on; and a step has no branch but the one that ends a piece.
//
// Only for models whose pieces start as bytes: see `Model::starts_as_bytes`.
class ShortMerger {
public:
    static constexpr size_t kMost = 32;  // bytes of a piece

    explicit ShortMerger(const Model& model) : model_(model) {}

    // Adds a piece of 1 to kMost bytes, which must stay where it is until `run`.
    void add(Bytes piece) { jobs_.push_back({piece.data(), static_cast<uint32_t>(piece.size()), 0, 0}); }
    // Merges all that was added.
    void run();
    // The ids of piece number i, by what the merges leave: not what `ignore_merges` says. None if a
    // byte without a token is left.
    std::span<const Id> ids(size_t i) const {
        return {ids_.data() + jobs_[i].begin, jobs_[i].count};
    }
    size_t size() const { return jobs_.size(); }
    void clear() {
        jobs_.clear();
        ids_.clear();
    }

private:
    struct Job {
        const uint8_t* bytes;
        uint32_t size, begin, count;  // `begin` and `count` of the ids
    };
    // A piece that is being merged. Its symbols stay at the places 1 to n of their first bytes, in a
    // doubly linked list that ends at the places 0 and n + 1, whose symbols merge with nothing.
    static constexpr size_t kPlaces = kMost + 4;
    struct Lane {
        Job* job;
        size_t width;    // how many places are looked at: more than n, a multiple of 4
        size_t changed;  // the symbol whose two pairs have been asked for
        // Of each symbol with the next one: the priority and the place; from kNone on for no merge.
        std::array<uint64_t, kPlaces> order;
        std::array<Id, kPlaces> symbols, merged;
        std::array<uint8_t, kPlaces> next, previous;
    };
    static constexpr uint64_t kNone = uint64_t{kNever} << 8;
    static constexpr size_t kLanes = 16;

    void start(Lane& lane, Job& job) const;
    void set(Lane& lane, size_t place, MergeTable::Merge merge) const;
    bool step(Lane& lane) const;
    void finish(const Lane& lane);

    const Model& model_;
    std::vector<Job> jobs_;
    std::vector<Id> ids_;
    std::array<Lane, kLanes> lanes_;
};

}  // namespace bpe
