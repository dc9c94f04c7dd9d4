// BPE of many short pieces at once.
#pragma once

#include <array>
#include <vector>

#include "model.h"

namespace bpe {

// Merging waits for one look-up after the other in a table that is larger than the caches, and
// guesses wrong at every turn. So several pieces are merged in turn: the look-ups of one are on their
// way while others are worked on; and a step has no branch but the one that ends a piece.
class ShortMerger {
public:
    static constexpr size_t kMost = 32;       // symbols of a piece
    static constexpr size_t kTogether = 256;  // pieces that are worth merging at once

    explicit ShortMerger(const Model& model) : model_(model) {}

    // Whether so many bytes become few enough symbols.
    bool takes(size_t bytes) const { return bytes * model_.symbols_per_byte() <= kMost; }
    // Adds a piece of at least one byte.
    void add(Bytes piece);
    // Merges all that was added, while a piece is more symbols than `keep`.
    void run(size_t keep = 1);
    // The ids of piece number i, by what the merges leave: not what `ignore_merges` says. None if a
    // byte without a token is left.
    std::span<const Id> ids(size_t i) const {
        return {ids_.data() + jobs_[i].begin, jobs_[i].count};
    }
    size_t size() const { return jobs_.size(); }
    void clear() {
        jobs_.clear();
        for (auto& jobs : of_width_) jobs.clear();
        left_.size = left_.asked_size = 0;
    }

private:
    struct Job {
        uint32_t begin, count;  // of what it starts from in `starts_`, then of its ids in `ids_`
    };
    // A piece that is being merged. Its symbols start at the places 1 to n; what they merge to is at the
    // place of the left one, in a doubly linked list that ends at the places 0 and n + 1, which are none.
    static constexpr size_t kPlaces = kMost + 4;
    struct Lane {
        Job* job;
        size_t size, count;  // of symbols, at first and now
        // The symbol whose two pairs, with the one before and the next, have been asked for.
        size_t before, changed;
        MergeTable::Question with_before, with_next;
        // Of each symbol with the next one: the priority and, in the last bits, the place; from kNone
        // on for none.
        std::array<int32_t, kPlaces> order;
        std::array<Id, kPlaces> symbols;
        std::array<uint16_t, kPlaces> next, previous;
    };
    static constexpr unsigned kPlaceBits = 5;
    static constexpr int32_t kNone = int32_t{kNever} << kPlaceBits;
    static_assert(kMost - 1 < 1 << kPlaceBits && kNever < 1 << (31 - kPlaceBits));
    static constexpr size_t kLanes = 16;
    static constexpr size_t kAtOnce = 4;  // ids that are written before they are counted

    // Merges jobs of fewer than `width` symbols, a multiple of 4: so many places are looked at each
    // time. What differs from piece to piece would be guessed wrong.
    template <size_t width>
    void run(const std::vector<uint32_t>& jobs);
    template <size_t width>
    bool start(Lane& lane, Job& job) const;
    template <size_t width>
    bool start_next(Lane& lane, const std::vector<uint32_t>& jobs, size_t& next);
    static int32_t order_of(Priority priority, size_t place);
    void ask(Lane& lane, size_t before, size_t changed, size_t next) const;
    void answer(Lane& lane) const;
    template <size_t width>
    bool step(Lane& lane) const;
    void finish(const Lane& lane);
    void end(Job& job, size_t count);
    void find_priorities();
    void add_symbols(Bytes piece);
    void make_room();

    const Model& model_;
    std::vector<Job> jobs_;
    std::array<std::vector<uint32_t>, 5> of_width_;  // their numbers
    // What pieces start from, and what was asked; the memory that `left_` fills.
    std::vector<Id> starts_;
    std::vector<Priority> priorities_;
    std::vector<uint32_t> asked_;
    FirstMerges::Left left_{};
    std::vector<MergeTable::Question> questions_;
    std::vector<Id> ids_;
    size_t used_ = 0;  // of the ids
    size_t keep_ = 1;
    std::vector<Symbol> symbols_;
    std::array<Lane, kLanes> lanes_;
};

}  // namespace bpe
