// Which neighbours merge, and the merging of one piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../base/byte_strings.h"
#include "../base/memory.h"
#include "../base/parallel.h"

namespace bpe {

using Priority = uint32_t;  // lower merges first
inline constexpr Priority kNever = UINT32_MAX;

// (left id, right id) -> (priority, id of the merged token).
//
// Both merge rules of the field are this one table. Hugging Face lists its pairs: the priority is
// the place in the list. tiktoken merges any pair whose concatenation has a rank: the table holds
// every split of every token into two tokens, and the priority is the token's rank.
class MergeTable {
public:
    struct Entry {
        uint64_t pair = kEmpty;
        Id merged = kNoId;
        Priority priority = kNever;
    };

    explicit MergeTable(size_t expected = 0) {
        size_t slots = 16;
        while (slots < 2 * expected) slots *= 2;
        slots_ = empty(slots);
    }

    // Priority and merged token in one number: the lowest is the first to merge.
    using Merge = uint64_t;
    static constexpr Merge kNoMerge = UINT64_MAX;
    static Priority priority_of(Merge merge) { return static_cast<Priority>(merge >> 32); }
    static Id merged_of(Merge merge) { return static_cast<Id>(merge); }

    // What two tokens merge to. Without a branch that depends on the pair, but for full buckets.
    Merge merge_of(Id left, Id right) const {
        const uint64_t pair = key(left, right);
        for (size_t first = bucket_of(pair);; first = (first + kBucket) & (slots_.size() - 1)) {
            const Entry* const bucket = &slots_[first];
            Merge found = kNoMerge;
            for (size_t i = 0; i < kBucket; ++i) {
                Merge merge;
                std::memcpy(&merge, &bucket[i].merged, sizeof merge);
                found = bucket[i].pair == pair ? merge : found;
            }
            if (found != kNoMerge || bucket[kBucket - 1].pair == kEmpty) [[likely]] return found;
        }
    }
    // Asks for the memory that `merge_of` will look at.
    void prefetch(Id left, Id right) const {
        __builtin_prefetch(&slots_[bucket_of(key(left, right))]);
    }

    // A pair that is added twice keeps its last entry, as in tokenizers.
    void insert(Id left, Id right, Priority priority, Id merged);

private:
    static constexpr uint64_t kEmpty = UINT64_MAX;  // (kNoId, kNoId) is no pair
    static constexpr size_t kBucket = 4;            // entries of a cache line, filled in order

    static uint64_t key(Id left, Id right) { return uint64_t{left} << 32 | right; }
    size_t bucket_of(uint64_t pair) const { return hash_of(pair) & (slots_.size() - kBucket); }
    static ZeroedArray<Entry> empty(size_t slots) {
        ZeroedArray<Entry> entries(slots);
        std::fill_n(entries.data(), slots, Entry{});
        return entries;
    }

    ZeroedArray<Entry> slots_;  // a power of two, at most half full
    size_t used_ = 0;
};

// A token of a piece and the bytes of the piece that it covers.
struct Symbol {
    Id id;
    uint32_t start, end;
};

// Merges the symbols of one piece while a pair has a priority below the limit and more symbols than
// `keep` are left: always the pair of lowest priority, the leftmost among equals. Keeps its memory
// from piece to piece; one per thread.
class Merger {
public:
    // Long merges call `beat`, if there is one, with no work.
    explicit Merger(const MergeTable& table, Beat* beat = nullptr) : table_(table), beat_(beat) {}

    void merge(std::vector<Symbol>& symbols, Priority limit = kNever, size_t keep = 1) {
        symbols.size() <= kShort ? merge_short(symbols, limit, keep)
                                 : merge_long(symbols, limit, keep);
    }

private:
    // Up to here a scan for the minimum beats the heap and its bookkeeping.
    static constexpr size_t kShort = 32;

    struct Link {
        uint32_t previous, next;
        Priority priority;  // of this symbol with the next one
        Id merged;
    };
    struct Candidate {
        Priority priority;
        uint32_t at;
        bool operator>(const Candidate& o) const {
            return priority != o.priority ? priority > o.priority : at > o.at;
        }
    };

    // O(symbols x merges) and O(symbols x log symbols)
    void merge_short(std::vector<Symbol>& symbols, Priority limit, size_t keep);
    void merge_long(std::vector<Symbol>& symbols, Priority limit, size_t keep);
    void offer(const std::vector<Symbol>& symbols, uint32_t at);

    const MergeTable& table_;
    Beat* beat_;
    std::vector<MergeTable::Merge> pairs_;
    std::vector<Link> links_;
    std::vector<Candidate> heap_;
};

}  // namespace bpe
