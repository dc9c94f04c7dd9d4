// All pairs of neighbouring tokens that training has seen, and their counts.
#pragma once

#include "../base/byte_strings.h"
#include "../base/hash.h"
#include "../base/memory.h"

namespace bpe {

using Pair = uint32_t;  // number of a pair in the order of appearance
inline constexpr Pair kNoPair = UINT32_MAX;

class PairTable {
public:
    struct Counted {
        Id left, right;
        uint64_t count;
    };

    PairTable() : slots_(1 << 12) {}

    size_t size() const { return pairs_.size(); }
    Counted& operator[](Pair pair) { return pairs_[pair]; }
    const Counted& operator[](Pair pair) const { return pairs_[pair]; }

    // The pair of two ids, or kNoPair.
    Pair find(Id left, Id right) const {
        const Slot& slot = slots_[slot_of(key(left, right))];
        return slot.used ? slot.pair : kNoPair;
    }
    // Asks for the memory that `find` or `add` will look at.
    void prefetch(Id left, Id right) const {
        __builtin_prefetch(&slots_[hash_of(key(left, right)) & (slots_.size() - 1)], 1);
    }
    void prefetch(Pair pair) const { __builtin_prefetch(&pairs_[pair], 1); }

    // Makes room for so many pairs more: until they are there, `add` moves nothing.
    void reserve(size_t more) {
        while (2 * (pairs_.size() + more) > slots_.size()) grow();
    }
    // Adds a pair that is not there yet.
    Pair add(Id left, Id right, uint64_t count) {
        reserve(1);
        const auto pair = static_cast<Pair>(pairs_.size());
        slots_[slot_of(key(left, right))] = {key(left, right), pair, 1};
        pairs_.push_back({left, right, count});
        return pair;
    }

private:
    struct Slot {
        uint64_t key;
        Pair pair;
        uint32_t used;
    };

    static uint64_t key(Id left, Id right) { return uint64_t{left} << 32 | right; }

    // Where a key is, or the empty slot where it would be.
    size_t slot_of(uint64_t key) const {
        size_t slot = hash_of(key) & (slots_.size() - 1);
        while (slots_[slot].used && slots_[slot].key != key) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    void grow() {
        ZeroedArray<Slot> old(2 * slots_.size());
        std::swap(old, slots_);
        for (size_t i = 0; i < old.size(); ++i)
            if (old[i].used) slots_[slot_of(old[i].key)] = old[i];
    }

    LargeVector<Counted> pairs_;
    ZeroedArray<Slot> slots_;  // a power of two, at most half full
};

}  // namespace bpe
