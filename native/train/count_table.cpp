#include "count_table.h"

#include <algorithm>
#include <bit>

namespace bpe {
namespace {

uint64_t median(std::vector<uint64_t>& counts) {
    const auto middle = counts.begin() + static_cast<ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    return *middle;
}

}  // namespace

void CountTable::add(std::span<const ShortPiece> pieces) {
    constexpr size_t kAhead = 64;
    reserve(pieces.size());
    const auto prefetch = [&](size_t i) {
        if (i < pieces.size()) __builtin_prefetch(&slots_[pieces[i].key.hash() & (slots_.size() - 1)], 1);
    };
    for (size_t i = 0; i < kAhead; ++i) prefetch(i);
    for (size_t i = 0; i < pieces.size(); ++i) {
        prefetch(i + kAhead);
        add(pieces[i]);
    }
}

void CountTable::add(std::span<const LongPiece> pieces) {
    for (const LongPiece& piece : pieces) long_index_.prefetch(piece.hash);
    for (const LongPiece& piece : pieces) add(piece);
}

void CountTable::add(const ShortPiece& piece) {
    const size_t mask = slots_.size() - 1;
    for (size_t at = piece.key.hash() & mask;; at = (at + 1) & mask) {
        ShortPiece& slot = slots_[at];
        if (slot.key == piece.key) {
            slot.count += piece.count;
            slot.order = std::min(slot.order, piece.order);
            return;
        }
        if (slot.count == 0) {
            slot = piece;
            ++short_count_;
            return;
        }
    }
}

void CountTable::add(const LongPiece& piece) {
    if (const auto known = long_index_.find(piece.piece, piece.hash)) {
        Counted& counted = long_counts_[*known];
        counted.count += piece.count;
        counted.order = std::min(counted.order, piece.order);
        return;
    }
    if (long_pieces_.total_bytes() + piece.piece.size() > memory_limit_ / 2 && !long_counts_.empty())
        forget_long();
    long_pieces_.push_back(piece.piece);
    long_counts_.push_back({piece.count, piece.order});
    long_index_.insert(static_cast<Id>(long_counts_.size() - 1));
}

// Makes room for so many short pieces more.
void CountTable::reserve(size_t more) {
    constexpr size_t kSmall = 1 << 15;
    const size_t wanted = 8 * (short_count_ + more) / 5 + 1;
    if (wanted <= slots_.size()) return;
    // Small tables grow fast: their pages are not used again.
    const size_t slots = std::max(std::bit_ceil(wanted), (slots_.size() < kSmall ? 4 : 2) * slots_.size());
    if (slots * sizeof(ShortPiece) <= memory_limit_ / 2) return resize(slots, 0);
    std::vector<uint64_t> counts;
    for (size_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].count != 0) counts.push_back(slots_[i].count);
    resize(slots_.size(), median(counts));
}

// Moves the short pieces that occurred more often than that to a table of so many slots.
void CountTable::resize(size_t slots, uint64_t forgotten_count) {
    ZeroedArray<ShortPiece> old(slots);
    std::swap(old, slots_);
    short_count_ = 0;
    for (size_t i = 0; i < old.size(); ++i) {
        if (old[i].count <= forgotten_count) {
            forgotten_ += old[i].count;
            continue;
        }
        size_t slot = old[i].key.hash() & (slots_.size() - 1);
        while (slots_[slot].count != 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = old[i];
        ++short_count_;
    }
}

void CountTable::forget_long() {
    std::vector<uint64_t> counts;
    for (const Counted& counted : long_counts_) counts.push_back(counted.count);
    const uint64_t forgotten_count = median(counts);
    ByteStrings pieces;
    LargeVector<Counted> kept;
    for (Id i = 0; i < long_pieces_.size(); ++i) {
        if (long_counts_[i].count <= forgotten_count) {
            forgotten_ += long_counts_[i].count;
            continue;
        }
        pieces.push_back(long_pieces_[i]);
        kept.push_back(long_counts_[i]);
    }
    long_pieces_ = std::move(pieces);
    long_counts_ = std::move(kept);
    long_index_.rebuild();
}

}  // namespace bpe
