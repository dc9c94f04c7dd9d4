// Tokens: id -> bytes, and bytes -> id for those that the model can produce.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "hash.h"

namespace bpe {

using Id = uint32_t;
inline constexpr Id kNoId = UINT32_MAX;

// Byte strings one after the other in one buffer.
class ByteStrings {
public:
    ByteStrings() = default;
    ByteStrings(Bytes blob, std::span<const int64_t> ends)
        : blob_(blob.begin(), blob.end()), ends_(ends.begin(), ends.end()) {}

    size_t size() const { return ends_.size(); }
    size_t total_bytes() const { return blob_.size(); }
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
    std::vector<uint8_t> blob_;
    std::vector<int64_t> ends_;
};

// An index over some of the strings of a ByteStrings, which must outlive it.
class BytesIndex {
public:
    explicit BytesIndex(const ByteStrings& strings, size_t expected = 0) : strings_(strings) {
        size_t slots = 16;
        while (slots < 2 * expected) slots *= 2;
        slots_.assign(slots, kNoId);
    }

    std::optional<Id> find(Bytes key) const {
        for (size_t slot = first_slot(key);; slot = (slot + 1) & (slots_.size() - 1)) {
            if (slots_[slot] == kNoId) return std::nullopt;
            if (equal(strings_[slots_[slot]], key)) return slots_[slot];
        }
    }

    // Adds string number `id`; if an equal one is there already, returns that one instead.
    Id insert(Id id) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        const Bytes key = strings_[id];
        for (size_t slot = first_slot(key);; slot = (slot + 1) & (slots_.size() - 1)) {
            if (slots_[slot] == kNoId) {
                slots_[slot] = id;
                ++used_;
                return id;
            }
            if (equal(strings_[slots_[slot]], key)) return slots_[slot];
        }
    }

    // Begins anew with all strings that there are now.
    void rebuild() {
        std::fill(slots_.begin(), slots_.end(), kNoId);
        used_ = 0;
        for (size_t i = 0; i < strings_.size(); ++i) insert(static_cast<Id>(i));
    }

private:
    size_t first_slot(Bytes key) const { return hash_of(key) & (slots_.size() - 1); }

    void grow() {
        std::vector<Id> old(2 * slots_.size(), kNoId);
        old.swap(slots_);
        for (const Id id : old) {
            if (id == kNoId) continue;
            size_t slot = first_slot(strings_[id]);
            while (slots_[slot] != kNoId) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = id;
        }
    }

    const ByteStrings& strings_;
    std::vector<Id> slots_;  // a power of two, at most half full
    size_t used_ = 0;
};

}  // namespace bpe
