// How often each distinct piece occurs, and where it occurred first.
#pragma once

#include <array>
#include <vector>

#include "../base/byte_strings.h"
#include "../base/memory.h"
#include "../base/short_key.h"

namespace bpe {

// Pieces of up to 15 bytes, nearly all of them, are keys themselves; longer ones lie in a buffer. A
// piece's order is the offset of its first appearance in the text.
//
// With a limit, the table forgets instead of growing beyond so many bytes. Short and long pieces may
// take half of it each; where that is full, all pieces are forgotten that have occurred at most n
// times, for the smallest n that frees half of the places.
class CountTable {
public:
    explicit CountTable(size_t memory_limit = SIZE_MAX)
        : memory_limit_(memory_limit), slots_(1 << 12) {}
    CountTable(const CountTable&) = delete;

    // Before the table is looked at, `flush` must have been called.
    size_t size() const { return short_count_ + long_pieces_.size(); }
    // An upper bound of how long all pieces together are.
    size_t total_bytes() const { return ShortKey::kMost * short_count_ + long_pieces_.total_bytes(); }
    // How often pieces occurred that were forgotten.
    uint64_t forgotten() const { return forgotten_; }

    // Adds consecutive pieces of a text, the first of which starts at `begin`. `order` is the place
    // of the text's start.
    void add_pieces(Bytes text, size_t begin, std::span<const size_t> ends, uint64_t order);
    void flush();
    // Adds one piece so many times.
    void add(Bytes piece, uint64_t count, uint64_t order);
    // Adds all of another table, on so many threads. Not for tables with a limit.
    void add(const CountTable& other, unsigned threads);

    // Pieces are at places below this, though not at each.
    size_t places() const { return slots_.size() + long_pieces_.size(); }
    // Calls `sink(piece, count, order)` if there is a piece at a place; `piece` is gone afterwards.
    template <class Sink>
    void look_at(size_t place, Sink&& sink) const {
        if (place >= slots_.size()) {
            const auto id = static_cast<Id>(place - slots_.size());
            sink(long_pieces_[id], long_counts_[id].count, long_counts_[id].order);
        } else if (const Slot& slot = slots_[place]; slot.key.high != 0) {
            sink(slot.key.bytes(), slot.count, slot.order);
        }
    }

private:
    struct Slot {
        ShortKey key;
        uint64_t count, order;
    };
    struct Counted {
        uint64_t count, order;
    };

    // A piece whose slot has been asked for: all slots of a batch are, before the first is looked
    // at, so that cache misses overlap.
    struct Waiting {
        ShortKey key;
        uint64_t hash, order;
    };

    static constexpr size_t kBatch = 64;

    void add_short(ShortKey key, uint64_t hash, uint64_t count, uint64_t order);
    size_t add_part(const CountTable& other, unsigned part, unsigned parts,
                    std::vector<const Slot*>& rest);
    void add_long(Bytes piece, uint64_t count, uint64_t order);
    void reserve(size_t more);
    void resize(size_t slots, uint64_t forgotten_count);
    void forget_long();

    size_t memory_limit_;
    uint64_t forgotten_ = 0;
    ZeroedArray<Slot> slots_;  // a power of two, at most 5/8 full; open addressing
    size_t short_count_ = 0;
    std::array<Waiting, kBatch> waiting_;
    size_t waiting_count_ = 0;
    ByteStrings long_pieces_;
    LargeVector<Counted> long_counts_;
    BytesIndex long_index_{long_pieces_};
};

}  // namespace bpe
