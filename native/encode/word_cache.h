// What pieces were encoded to: nearly every piece of a text has been seen before.
#pragma once

#include <span>
#include <utility>

#include "../base/byte_strings.h"
#include "../base/memory.h"
#include "../base/short_key.h"

namespace bpe {

// Bounded, and for one thread at a time. When it is full, new pieces take the places of others one
// by one, so it never starts anew in the middle of a text.
class WordCache {
    // Multiply-add-shift, whose good bits are the high ones: half the time of the usual hash.
    struct Multipliers {
        uint64_t low, high;
    };
    inline static const Multipliers kMultipliers{kSeedA, mix(kSeedA, kSeedB) | 1};
    static uint64_t mixed(ShortKey key, const Multipliers& by) {
        return __builtin_bswap64(key.low * by.low + key.high * by.high);
    }

public:
    static constexpr size_t kMostIds = 4;  // of an entry for a short piece

    // A short piece and its ids, in half a cache line. Bits 60 to 63 of `high` hold how many ids
    // there are: 0 in an empty entry, kMany if they lie in the ring, at the place that `ids` holds,
    // kPending if they are still to be found out.
    struct Entry {
        uint64_t low, high;
        Id ids[kMostIds];

        // How many ids there are if this is the entry of the key; 0 or more than kMostIds if not.
        uint64_t matches(ShortKey key) const {
            return low == key.low ? std::rotl(high ^ key.high, 4) : 0;
        }
        bool holds(ShortKey key) const { return low == key.low && (high & kKeyBits) == key.high; }
        size_t count() const { return high >> 60; }
    };

    // Pieces to be learned: as entries or, long ones and those of many ids, as records like those of
    // the ring.
    struct Words {
        LargeVector<Entry> entries;
        LargeVector<Id> records;
        void add_long(Bytes piece, std::span<const Id> ids);
    };
    // Seeded with some of which all short ones are entries; `memory_limit` in bytes, of the short pieces.
    WordCache(const Words& seeds, size_t memory_limit);
    WordCache(const WordCache&) = delete;

    // Whether all seeds are still there, of short pieces or of longer ones.
    bool has_all_seeds(bool of_short) const {
        return of_short ? has_all_seeds_ : has_all_long_seeds_ && is_kept(kFirst);
    }

    // Where a short piece is looked for first; its entry may be elsewhere.
    class View {
    public:
        const Entry* first(ShortKey key) const {
            return reinterpret_cast<const Entry*>(entries_ + (mixed(key, multipliers_) & mask_));
        }

    private:
        friend class WordCache;
        View(const Entry* entries, size_t mask)
            : entries_(reinterpret_cast<const char*>(entries)), mask_(mask * sizeof(Entry)) {}

        const char* entries_;
        Multipliers multipliers_ = kMultipliers;  // its own: stores could change others
        size_t mask_;                             // of a place in bytes
    };
    View view() const { return {entries_.data(), mask_}; }
    // The ids of a short piece, if it is in the cache line of that place; it is then at that place.
    // They may be read in steps of kMostIds.
    std::span<const Id> find_near(const Entry* place, ShortKey key) {
        const size_t first = place - entries_.data();
        if (!entries_[first].holds(key)) {
            if (!entries_[first ^ 1].holds(key)) return {};
            std::swap(entries_[first], entries_[first ^ 1]);
        }
        return ids_of(entries_[first]);
    }
    // The ids of a short piece, at least one if it is known, which is then found faster the next time;
    // or the one number that `announce` was given, if its ids have not been inserted since.
    struct Found {
        std::span<const Id> ids;
        bool is_pending = false;
        Entry* free = nullptr;  // for one that is not known, if there is one
    };
    Found find(ShortKey key) {
        Found found;
        const Entry* entry = entry_of(key, hash_of(key), &found.free);
        if (!entry) return found;
        if (entry->count() == kPending) return {{entry->ids, 1}, true};
        return {ids_of(*entry)};
    }
    // Says that the ids of a short piece, which was not found, will follow: `insert` or `forget` must
    // be called. Returns a place where it may be found sooner than elsewhere.
    size_t announce(ShortKey key, Id number, const Found& found);
    void forget(ShortKey key);
    // Adds a short piece that is not known, with at least one id.
    void insert(ShortKey key, std::span<const Id> ids, size_t place = 0);

    // The same for longer pieces, of up to kMostBytes.
    static constexpr size_t kMostBytes = 4096;
    void prefetch_long(uint64_t hash) const {
        __builtin_prefetch(long_slots_.data() + slot_of(hash));
    }
    void prefetch_ids(uint64_t hash) const;
    std::span<const Id> find_long(Bytes piece, uint64_t hash) const;
    void insert_long(Bytes piece, uint64_t hash, std::span<const Id> ids);

    // What was added since the last call, to be learned by the caches of other threads. Of very much, a
    // part; of short pieces, what was added while there were others to teach: the list takes 8 MB.
    void teach(bool others) { teaches_ = others; }
    bool has_fresh() const { return !fresh_.empty() || fresh_ring_ != ring_end_; }
    Words take_fresh();
    void learn(const Words& words);

private:
    static constexpr uint64_t kMany = 15, kPending = 14;
    static constexpr Entry kForgotten{0, kPending << 60, {}};
    static constexpr uint64_t kKeyBits = ~uint64_t{0} >> 4;
    // A piece is in one of so many cache lines from that of its place on. A line with a free place ends
    // the search.
    static constexpr size_t kLine = 2, kProbes = 8 * kLine, kFarthest = 128;
    static constexpr size_t kGrown = size_t{1} << 20;  // entries, of 32 MB, if there are more than at first

    static uint64_t hash_of(ShortKey key) { return mixed(key, kMultipliers) / sizeof(Entry); }
    static uint64_t hash_of_entry(const Entry& entry) {
        return hash_of({entry.low, entry.high & kKeyBits});
    }
    bool is_full() const { return 8 * (used_ + 1) > 5 * (mask_ + 1) && mask_ + 1 < most_entries_; }
    // The places from a hash's on: first the other one of its line.
    size_t place_of(uint64_t hash, size_t step) const {
        return ((hash + step / kLine * kLine) ^ step % kLine) & mask_;
    }
    // Whether what is looked for from a hash's place on would be found at another.
    bool reaches(uint64_t hash, size_t place) const {
        return ((place / kLine - hash / kLine) & (mask_ / kLine)) < kProbes / kLine;
    }
    Entry* entry_of(ShortKey key, uint64_t hash, Entry** free = nullptr);
    void place(const Entry& entry, uint64_t hash);
    size_t moved_near(uint64_t hash, size_t free);
    void grow();
    void add(const Entry& entry, uint64_t hash);
    void learn_records(std::span<const Id> records);

    // Ids of which there are many, and long pieces, lie in a ring of words, the oldest of which are
    // overwritten: number of ids and of bytes, the ids, the bytes. What is left at its end is skipped.
    struct LongSlot {
        uint64_t hash;
        uint64_t position;  // in the ring, counted on from round to round
    };
    static constexpr size_t kWays = 4;
    static constexpr size_t kRing = size_t{1} << 22, kLongSlots = size_t{1} << 18;
    static constexpr Id kSkip = kNoId;  // instead of a number of ids: the record is at the begin
    static constexpr size_t kMostFresh = size_t{1} << 18;

    static size_t slot_of(uint64_t hash) { return (hash * kWays) & (kLongSlots - 1); }
    // None if they are still to be found out, or overwritten in the ring.
    std::span<const Id> ids_of(const Entry& entry) const {
        const size_t count = entry.count();
        if (count <= kMostIds) return {entry.ids, count};
        if (count != kMany || !is_kept(position_of(entry))) return {};
        const Id* record = ring_.data() + position_of(entry) % kRing;
        return {record + 2, record[0]};
    }
    static uint64_t position_of(const Entry& entry) {
        return uint64_t{entry.ids[1]} << 32 | entry.ids[0];
    }
    static size_t record_size(size_t ids, size_t bytes) {
        return 2 + ids + (bytes + sizeof(Id) - 1) / sizeof(Id);
    }
    static void write_record(Id* record, Bytes piece, std::span<const Id> ids);
    uint64_t add_to_ring(Bytes piece, std::span<const Id> ids);
    bool is_kept(uint64_t position) const { return position + kRing >= ring_end_; }

    size_t most_entries_;
    ZeroedArray<Entry> entries_;  // room for all there may ever be
    size_t mask_;                 // of those in use, a power of two
    size_t used_ = 0;
    bool has_all_seeds_ = true, has_all_long_seeds_ = true;
    uint32_t turn_ = 0;  // counts on: whose place is taken, and when two entries change theirs
    ZeroedArray<Id> ring_;
    ZeroedArray<LongSlot> long_slots_;
    bool teaches_ = false;
    LargeVector<Entry> fresh_;
    static constexpr uint64_t kFirst = 2 * kRing;  // position in the ring
    uint64_t fresh_ring_ = kFirst;  // where the ring ended when the last ones were taken
    uint64_t ring_end_ = kFirst;    // positions below `ring_end_ - kRing` are overwritten
    uint64_t seeds_end_ = UINT64_MAX;  // of the long ones
};

}  // namespace bpe
