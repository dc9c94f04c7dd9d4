// All pairs of neighbouring tokens that training has seen, with their counts and places.
#pragma once

#include <memory>
#include <vector>

#include "../base/hash.h"
#include "../base/vocab.h"

namespace bpe {

// Lists that are written once and read once: memory is handed out in order and freed at the end.
template <class Place>
class PlaceArena {
public:
    std::span<Place> allocate(size_t size) {
        if (size > left_.size()) {
            const size_t block = std::max(size, kBlock);
            blocks_.push_back(std::make_unique_for_overwrite<Place[]>(block));
            left_ = {blocks_.back().get(), block};
        }
        const std::span<Place> places = left_.first(size);
        left_ = left_.subspan(size);
        return places;
    }

private:
    static constexpr size_t kBlock = 1 << 17;

    std::vector<std::unique_ptr<Place[]>> blocks_;
    std::span<Place> left_;
};

using Pair = uint32_t;  // number of a pair in the order of appearance

template <class Place>
struct PairState {
    Id left, right;
    uint64_t count;
    std::span<const Place> places;  // rising; those where the pair is gone stay
};

template <class Place>
class PairTable {
public:
    PairTable() : slots_(1 << 12) {}

    size_t size() const { return pairs_.size(); }
    PairState<Place>& operator[](Pair pair) { return pairs_[pair]; }
    const PairState<Place>& operator[](Pair pair) const { return pairs_[pair]; }

    // The pair of two ids, which must be there.
    Pair find(Id left, Id right) const { return slots_[slot_of(key(left, right))].pair; }

    // Adds a pair that is not there yet.
    Pair add(Id left, Id right, uint64_t count, std::span<const Place> places) {
        if (2 * (pairs_.size() + 1) > slots_.size()) grow();
        const auto pair = static_cast<Pair>(pairs_.size());
        slots_[slot_of(key(left, right))] = {key(left, right), pair};
        pairs_.push_back({left, right, count, places});
        return pair;
    }

private:
    struct Slot {
        uint64_t key = UINT64_MAX;
        Pair pair = 0;
    };

    static uint64_t key(Id left, Id right) { return uint64_t{left} << 32 | right; }

    // Where a key is, or the empty slot where it would be.
    size_t slot_of(uint64_t key) const {
        size_t slot = hash_of(key) & (slots_.size() - 1);
        while (slots_[slot].key != key && slots_[slot].key != UINT64_MAX)
            slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.key != UINT64_MAX) slots_[slot_of(slot.key)] = slot;
    }

    std::vector<PairState<Place>> pairs_;
    std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace bpe
