// BPE of many short pieces at once.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "../base/short_key.h"
#include "model.h"

namespace bpe {

// Merging waits for one look-up after the other in a table that is larger than the caches, and
// guesses wrong at every turn. So several pieces are merged in turn: the look-ups of one are on their
// way while others are worked on; and a step has no branch but the one that ends a piece.
class ShortMerger {
public:
    static constexpr size_t kMost = 32;  // symbols of a piece

    explicit ShortMerger(const Model& model) : model_(model) {}

    // Whether so many bytes become few enough symbols.
    bool takes(size_t bytes) const { return bytes * model_.symbols_per_byte() <= kMost; }
    // Adds a piece of at least one byte.
    void add(Bytes piece) {
        if (!model_.starts_as_bytes()) return add_symbols(piece);
        Job job{{}, static_cast<uint32_t>(piece.size()), 0, 0};
        std::memcpy(job.bytes, piece.data(), piece.size());
        add(job);
    }
    // The same for a model whose pieces start as bytes.
    void add(ShortKey key) {
        Job job{{}, static_cast<uint32_t>(key.length()), 0, 0};
        std::memcpy(job.bytes, &key, sizeof key);
        add(job);
    }
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
        for (auto& jobs : of_width_) jobs.clear();
        starts_.clear();
        most_ = used_ = 0;
    }

private:
    struct Job {
        uint8_t bytes[kMost];         // of the piece, and any others, if it starts as bytes
        uint32_t size;                // how many symbols it starts from, or fewer
        uint32_t begin, count;        // of the ids; before there are any, `begin` of the symbols
    };
    // A piece that is being merged. Its symbols stay at the places 1 to n of their first bytes, in a
    // doubly linked list that ends at the places 0 and n + 1, whose symbols merge with nothing.
    static constexpr size_t kPlaces = kMost + 4;
    struct Lane {
        Job* job;
        size_t count;  // of symbols
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
    void start(Lane& lane, Job& job) const;
    template <size_t width>
    size_t start_all(Lane& lane, const Job& job) const;
    template <size_t width>
    size_t start_known(Lane& lane, const Job& job) const;
    template <size_t width>
    size_t start_symbols(Lane& lane, const Job& job) const;
    static int32_t order_of(Priority priority, size_t place);
    void ask(Lane& lane, size_t before, size_t changed, size_t next) const;
    void answer(Lane& lane) const;
    template <size_t width>
    bool step(Lane& lane) const;
    void finish(const Lane& lane);
    void add_symbols(Bytes piece);
    void add(const Job& job) {
        const uint32_t size = job.size;
        of_width_[size < 8 ? 0 : size < 12 ? 1 : size < 16 ? 2 : 3].push_back(
            static_cast<uint32_t>(jobs_.size()));
        jobs_.push_back(job);
        most_ += size;
    }

    const Model& model_;
    std::vector<Job> jobs_;
    std::array<std::vector<uint32_t>, 4> of_width_;  // their numbers
    std::vector<Symbol> symbols_;
    std::vector<Id> starts_;  // what pieces start from that do not start as bytes
    std::vector<Id> ids_;
    size_t most_ = 0, used_ = 0;  // how many ids there may be, and are
    std::array<Lane, kLanes> lanes_;
};

}  // namespace bpe
