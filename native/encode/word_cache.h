// What pieces were encoded to: nearly every piece of a text has been seen before.
#pragma once

#include <span>
#include <vector>

#include "../base/memory.h"
#include "../base/short_key.h"
#include "../base/vocab.h"

namespace bpe {

// Bounded, and for one thread at a time. When it is full, new pieces take the places of others one
// by one, so it never starts anew in the middle of a text.
class WordCache {
public:
    static constexpr size_t kMostIds = 4;  // of an entry for a short piece

    // A short piece and its ids, in half a cache line. Bits 60 to 63 of `high` hold how many ids
    // there are: 0 in an empty entry, kMany if they are kept as those of a longer piece.
    struct Entry {
        uint64_t low, high;
        Id ids[kMostIds];

        size_t count() const { return high >> 60; }
        bool has_ids() const { return count() <= kMostIds; }
        bool holds(ShortKey key) const { return low == key.low && (high & kKeyBits) == key.high; }
    };

    // Seeded with entries that are copied; `memory_limit` in bytes.
    WordCache(std::span<const Entry> seeds, size_t memory_limit);
    WordCache(const WordCache&) = delete;

    // Asks for the memory that `find` will look at.
    void prefetch(uint64_t hash) const { __builtin_prefetch(&entries_[hash & mask_]); }
    // The entry of a short piece, if there is one.
    const Entry* find(ShortKey key, uint64_t hash) const {
        for (size_t step = 0; step < kProbes; ++step) {
            const Entry& entry = entries_[(hash + step) & mask_];
            if (entry.holds(key)) return &entry;
            if (entry.high == 0) break;
        }
        return nullptr;
    }
    // Adds a short piece that has ids.
    void insert(ShortKey key, uint64_t hash, std::span<const Id> ids);

    // The same for longer pieces, of up to kMostBytes, and the ids of short ones that have many.
    static constexpr size_t kMostBytes = 256;
    bool find_long(Bytes piece, uint64_t hash, std::span<const Id>& ids) const;
    void insert_long(Bytes piece, uint64_t hash, std::span<const Id> ids);

private:
    static constexpr uint64_t kMany = 15;
    static constexpr uint64_t kKeyBits = ~uint64_t{0} >> 4;
    static constexpr size_t kProbes = 8;

    void place(const Entry& entry, uint64_t hash);
    void grow();

    // Long pieces lie in a ring of words, the oldest of which are overwritten: number of ids and of
    // bytes, the ids, the bytes.
    struct LongSlot {
        uint64_t hash;
        uint64_t position;  // in the ring, counted on from round to round
    };
    static constexpr size_t kWays = 4;
    static constexpr size_t kRing = size_t{1} << 22, kLongSlots = size_t{1} << 19;

    size_t most_entries_;
    ZeroedArray<Entry> entries_;  // a power of two
    size_t mask_;
    size_t used_ = 0;
    uint32_t next_victim_ = 0;
    ZeroedArray<Id> ring_;
    ZeroedArray<LongSlot> long_slots_;
    uint64_t ring_end_ = 2 * kRing;  // positions below `ring_end_ - kRing` are overwritten
};

}  // namespace bpe
