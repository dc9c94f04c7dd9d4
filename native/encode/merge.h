// Which neighbours merge, and the merging of one piece.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../base/byte_strings.h"
#include "../base/memory.h"
#include "../base/parallel.h"

namespace bpe {

using Priority = uint32_t;  // lower merges first
inline constexpr Priority kNever = (1u << 27) - 1;

// (left id, right id) -> (priority, id of the merged token).
//
// Both merge rules of the field are this one table. Hugging Face lists its pairs: the priority is
// the place in the list. tiktoken merges any pair whose concatenation has a rank: the table holds
// every split of every token into two tokens, and the priority is the token's rank.
class MergeTable {
public:
    // Priority and merged token in one number: the lowest is the first to merge. Between them five
    // bits are free, for a place in a piece: of equal priorities, the first place is the lowest.
    using Merge = uint64_t;
    static constexpr unsigned kPlaceShift = 32;
    static constexpr Merge merge(Priority priority, Id merged) { return uint64_t{priority} << 37 | merged; }
    static constexpr Merge kNoMerge = uint64_t{kNever} << 37 | kNoId;
    static Priority priority_of(Merge merge) { return static_cast<Priority>(merge >> 37); }
    static Id merged_of(Merge merge) { return static_cast<Id>(merge); }

    explicit MergeTable(size_t expected = 0)
        : MergeTable(std::bit_ceil(std::max<size_t>(expected / 2 + 1, 4)), 0) {}

    // What two tokens merge to.
    Merge merge_of(Id left, Id right) const { return find(ask(left, right)); }

    // The same in two steps, so that one can do other things in between: the memory is on its way.
    struct Question {
        uint64_t pair = kEmpty;
        size_t bucket = 0;
    };
    Question ask(Id left, Id right) const {
        const uint64_t pair = uint64_t{left} << 32 | right;
        const Question question{pair, bucket_of(pair)};
        __builtin_prefetch(&buckets_[question.bucket]);
        return question;
    }
    // Without a branch that depends on the pair, but where a bucket has run over.
    Merge find(Question asked) const {
        for (size_t i = asked.bucket;; i = (i + 1) & (buckets_.size() - 1)) {
            const Bucket& bucket = buckets_[i];
            Merge found = kNoMerge;
            for (size_t n = 0; n < kSize; ++n)
                found = bucket.pairs[n] == asked.pair ? bucket.merges[n] : found;
            if (found != kNoMerge || !(bucket.merges[0] & kRunOver)) [[likely]] return found & ~kRunOver;
        }
    }

    // A pair that is added twice keeps its last entry, as in tokenizers. Throws std::length_error if
    // the priority is too large.
    void insert(Id left, Id right, Priority priority, Id merged);

private:
    static constexpr uint64_t kEmpty = UINT64_MAX;  // (kNoId, kNoId) is no pair
    static constexpr size_t kSize = 4;

    // A cache line, filled in order. A pair that finds no place goes to the next one, and the first
    // merge of this one says so in one of its free bits: that every seventh is full would be guessed
    // wrong.
    static constexpr Merge kRunOver = uint64_t{1} << kPlaceShift;
    struct Bucket {
        std::array<uint64_t, kSize> pairs;
        std::array<Merge, kSize> merges;
    };

    void put(uint64_t pair, Merge merge);
    MergeTable(size_t buckets, size_t used)
        : buckets_(buckets), used_(used), shift_(64 - std::countr_zero(buckets)) {
        Bucket empty;
        empty.pairs.fill(kEmpty);
        empty.merges.fill(kNoMerge);
        std::fill_n(buckets_.data(), buckets, empty);
    }
    // The multiplier is odd, and another one in each process.
    size_t bucket_of(uint64_t pair) const { return pair * kSeedA >> shift_; }

    ZeroedArray<Bucket> buckets_;  // a power of two, their places at most half full
    size_t used_;
    unsigned shift_;
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
