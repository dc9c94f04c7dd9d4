// How often each distinct piece occurs, and where it occurred first.
#pragma once

#include <vector>

#include "../base/byte_strings.h"
#include "../base/memory.h"
#include "../base/short_key.h"

namespace bpe {

// A piece of up to 15 bytes. The count of none is 0.
struct ShortPiece {
    ShortKey key;
    uint64_t count, order;
};

// A longer one, which lies in some text.
struct LongPiece {
    Bytes piece;
    uint64_t hash;  // `hash_of` it
    uint64_t count, order;
};

// Pieces of up to 15 bytes, nearly all of them, are keys themselves; longer ones lie in a buffer. A
// piece's order is the offset of its first appearance in the text.
//
// With a limit, the table forgets instead of growing beyond so many bytes. Short and long pieces may
// take half of it each; where that is full, all pieces are forgotten that have occurred at most n
// times, for the smallest n that frees half of the places.
class CountTable {
public:
    explicit CountTable(size_t memory_limit = SIZE_MAX) : memory_limit_(memory_limit), slots_(1 << 7) {}
    CountTable(const CountTable&) = delete;

    size_t size() const { return short_count_ + long_pieces_.size(); }
    // An upper bound of how long all pieces together are.
    size_t total_bytes() const { return ShortKey::kMost * short_count_ + long_pieces_.total_bytes(); }
    // How often pieces occurred that were forgotten.
    uint64_t forgotten() const { return forgotten_; }

    // Memory is asked for some pieces ahead, so that cache misses overlap.
    void add(std::span<const ShortPiece> pieces);
    void add(std::span<const LongPiece> pieces);

    // Pieces are at places below this, though not at each.
    size_t places() const { return slots_.size() + long_pieces_.size(); }
    // Calls `sink(piece, count, order)` if there is a piece at a place; `piece` is gone afterwards.
    template <class Sink>
    void look_at(size_t place, Sink&& sink) const {
        if (place >= slots_.size()) {
            const auto id = static_cast<Id>(place - slots_.size());
            sink(long_pieces_[id], long_counts_[id].count, long_counts_[id].order);
        } else if (const ShortPiece& slot = slots_[place]; slot.count != 0) {
            sink(slot.key.bytes(), slot.count, slot.order);
        }
    }

private:
    struct Counted {
        uint64_t count, order;
    };

    void add(const ShortPiece& piece);
    void add(const LongPiece& piece);
    void reserve(size_t more);
    void resize(size_t slots, uint64_t forgotten_count);
    void forget_long();

    size_t memory_limit_;
    uint64_t forgotten_ = 0;
    ZeroedArray<ShortPiece> slots_;  // a power of two, at most 5/8 full; open addressing
    size_t short_count_ = 0;
    ByteStrings long_pieces_;
    LargeVector<Counted> long_counts_;
    BytesIndex long_index_{long_pieces_};
};

}  // namespace bpe
