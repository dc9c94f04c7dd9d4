// Tokens: id -> bytes, and bytes -> id for those that the model can produce.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "hash.h"
#include "memory.h"

namespace bpe {

using Id = uint32_t;
inline constexpr Id kNoId = UINT32_MAX;

// Two strings as one, without the first `cut` bytes of the right one; it lies in `room`.
inline Bytes joined(Bytes left, Bytes right, size_t cut, std::vector<uint8_t>& room) {
    const Bytes rest = right.subspan(std::min(cut, right.size()));
    room.assign(left.begin(), left.end());
    room.insert(room.end(), rest.begin(), rest.end());
    return room;
}

// Byte strings one after the other in one buffer.
class ByteStrings {
public:
    ByteStrings() = default;
    ByteStrings(Bytes blob, std::span<const int64_t> ends)
        : blob_(blob.begin(), blob.end()), ends_(ends.begin(), ends.end()) {}

    size_t size() const { return ends_.size(); }
    size_t total_bytes() const { return blob_.size(); }
    Bytes blob() const { return blob_; }
    std::span<const int64_t> ends() const { return ends_; }
    Bytes operator[](size_t i) const {
        const size_t begin = i ? static_cast<size_t>(ends_[i - 1]) : 0;
        return {blob_.data() + begin, static_cast<size_t>(ends_[i]) - begin};
    }
    void reserve(size_t strings, size_t bytes) {
        ends_.reserve(strings);
        blob_.reserve(bytes);
    }
    // Adds a string that does not lie in this object.
    void push_back(Bytes bytes) {
        blob_.insert(blob_.end(), bytes.begin(), bytes.end());
        ends_.push_back(static_cast<int64_t>(blob_.size()));
    }

private:
    LargeVector<uint8_t> blob_;
    LargeVector<int64_t> ends_;
};

// An index over some of the strings of a ByteStrings, which must outlive it.
class BytesIndex {
public:
    explicit BytesIndex(const ByteStrings& strings, size_t expected = 0) : strings_(strings) {
        resize(expected);
    }

    std::optional<Id> find(Bytes key) const { return find(key, hash_of(key)); }
    // The same in two steps, for many keys at once: cache misses overlap.
    void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
    std::optional<Id> find(Bytes key, uint64_t hash) const {
        const Slot& slot = slot_of(key, hash);
        return slot.id == kNoId ? std::nullopt : std::optional(slot.id);
    }

    // Calls `sink(id)` for each of some keys, in order; false at the first that is not there. All are
    // asked for before the first is looked up.
    template <class Sink>
    bool find_all(std::span<const Bytes> keys, Sink&& sink) const {
        std::vector<uint64_t> hashes;
        for (const Bytes key : keys) prefetch(hashes.emplace_back(hash_of(key)));
        for (size_t i = 0; i < keys.size(); ++i) {
            const auto id = find(keys[i], hashes[i]);
            if (!id) return false;
            sink(*id);
        }
        return true;
    }

    // Asks for the memory that a string some places behind this one will need, for loops over all.
    void look_ahead(size_t i) const {
        constexpr size_t kAhead = 16;
        if (i + kAhead < strings_.size()) prefetch(hash_of(strings_[i + kAhead]));
    }

    // Adds string number `id`; if an equal one is there already, returns that one instead.
    Id insert(Id id) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        const Bytes key = strings_[id];
        const uint64_t hash = hash_of(key);
        Slot& slot = const_cast<Slot&>(slot_of(key, hash));
        if (slot.id != kNoId) return slot.id;
        slot = {tag_of(hash), id};
        ++used_;
        return id;
    }

    // Begins anew with all strings that there are now; false if some are equal.
    bool rebuild() {
        resize(strings_.size());
        for (size_t i = 0; i < strings_.size(); ++i) {
            look_ahead(i);
            insert(static_cast<Id>(i));
        }
        return used_ == strings_.size();
    }

private:
    // Most strings that are not there are told by the tag, without a look at others.
    struct Slot {
        uint32_t tag = 0;
        Id id = kNoId;
    };

    static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

    void resize(size_t expected) {
        size_t slots = 16;
        while (slots < 2 * expected) slots *= 2;
        slots_.assign(slots, {});
        used_ = 0;
    }

    // Where this key is, or would be.
    const Slot& slot_of(Bytes key, uint64_t hash) const {
        for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
            const Slot& slot = slots_[at];
            if (slot.id == kNoId || (slot.tag == tag_of(hash) && equal(strings_[slot.id], key)))
                return slot;
        }
    }

    void grow() {
        LargeVector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.id == kNoId) continue;
            size_t at = hash_of(strings_[slot.id]) & (slots_.size() - 1);
            while (slots_[at].id != kNoId) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = slot;
        }
    }

    const ByteStrings& strings_;
    LargeVector<Slot> slots_;  // a power of two, at most half full
    size_t used_ = 0;
};

}  // namespace bpe
