#include "count_table.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>

#include "../base/crew.h"
#include "../base/runs.h"

namespace bpe {
namespace {

uint64_t median(std::vector<uint64_t>& counts) {
    const auto middle = counts.begin() + static_cast<ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    return *middle;
}

}  // namespace

void CountTable::add_pieces(Bytes text, size_t begin, std::span<const size_t> ends,
                            uint64_t order) {
    for (const size_t end : ends) {
        const size_t length = end - begin;
        if (length <= ShortKey::kMost) {
            const ShortKey key = ShortKey::of(text, begin, length);
            const uint64_t hash = key.hash();
            __builtin_prefetch(&slots_[hash & (slots_.size() - 1)], 1);
            waiting_[waiting_count_++] = {key, hash, order + begin};
            if (waiting_count_ == kBatch) flush();
        } else {
            add_long(text.subspan(begin, length), 1, order + begin);
        }
        begin = end;
    }
}

void CountTable::flush() {
    reserve(waiting_count_);
    for (size_t i = 0; i < waiting_count_; ++i)
        add_short(waiting_[i].key, waiting_[i].hash, 1, waiting_[i].order);
    waiting_count_ = 0;
}

void CountTable::add(Bytes piece, uint64_t count, uint64_t order) {
    if (piece.size() > ShortKey::kMost) return add_long(piece, count, order);
    reserve(1);
    const ShortKey key = ShortKey::of(piece, 0, piece.size());
    add_short(key, key.hash(), count, order);
}

void CountTable::add(const CountTable& other, unsigned threads) {
    // Most pieces of the other table are here already.
    reserve(other.short_count_ / 2);
    std::vector<std::vector<const Slot*>> rests(threads);
    std::vector<size_t> added(threads);
    Crew crew(threads);
    std::atomic<unsigned> next{0};
    crew.run([&](unsigned) {
        for (unsigned part; (part = next++) < threads;)
            added[part] = add_part(other, part, threads, rests[part]);
    });
    short_count_ = std::accumulate(added.begin(), added.end(), short_count_);
    for (const auto& rest : rests)
        for (const Slot* slot : rest) {
            reserve(1);
            add_short(slot->key, slot->key.hash(), slot->count, slot->order);
        }
    for (Id i = 0; i < other.long_pieces_.size(); ++i)
        add_long(other.long_pieces_[i], other.long_counts_[i].count, other.long_counts_[i].order);
}

// Adds what belongs into one part of the slots and returns how many slots that took. What would be
// written beyond the part, or make it too full, is left for later in `rest`.
size_t CountTable::add_part(const CountTable& other, unsigned part, unsigned parts,
                            std::vector<const Slot*>& rest) {
    constexpr size_t kAhead = 16;
    const size_t mask = slots_.size() - 1;
    const auto [first, last] = part_of(slots_.size(), part, parts);
    const size_t most = (5 * slots_.size() / 8 - short_count_) / parts;
    size_t added = 0;
    for (size_t i = 0; i < other.slots_.size(); ++i) {
        if (i + kAhead < other.slots_.size()) {
            const size_t ahead = other.slots_[i + kAhead].key.hash() & mask;
            if (ahead >= first && ahead < last) __builtin_prefetch(&slots_[ahead], 1);
        }
        const Slot& from = other.slots_[i];
        if (from.key.high == 0) continue;
        size_t at = from.key.hash() & mask;
        if (at < first || at >= last) continue;
        while (at < last && slots_[at].key.high != 0 && slots_[at].key != from.key) ++at;
        if (at == last || (slots_[at].key.high == 0 && added == most)) {
            rest.push_back(&from);
        } else if (slots_[at].key.high == 0) {
            slots_[at] = from;
            ++added;
        } else {
            slots_[at].count += from.count;
            slots_[at].order = std::min(slots_[at].order, from.order);
        }
    }
    return added;
}

void CountTable::add_short(ShortKey key, uint64_t hash, uint64_t count, uint64_t order) {
    for (size_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
        Slot& s = slots_[slot];
        if (s.key == key) {
            s.count += count;
            s.order = std::min(s.order, order);
            return;
        }
        if (s.key.high == 0) {
            s = {key, count, order};
            ++short_count_;
            return;
        }
    }
}

void CountTable::add_long(Bytes piece, uint64_t count, uint64_t order) {
    if (const auto known = long_index_.find(piece)) {
        long_counts_[*known].count += count;
        long_counts_[*known].order = std::min(long_counts_[*known].order, order);
        return;
    }
    if (long_pieces_.total_bytes() + piece.size() > memory_limit_ / 2 && !long_counts_.empty())
        forget_long();
    long_pieces_.push_back(piece);
    long_counts_.push_back({count, order});
    long_index_.insert(static_cast<Id>(long_counts_.size() - 1));
}

// Makes room for so many short pieces more.
void CountTable::reserve(size_t more) {
    const size_t wanted = 8 * (short_count_ + more) / 5 + 1;
    if (wanted <= slots_.size()) return;
    const size_t slots = std::bit_ceil(wanted);
    if (slots * sizeof(Slot) <= memory_limit_ / 2) return resize(slots, 0);
    std::vector<uint64_t> counts;
    for (size_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].key.high != 0) counts.push_back(slots_[i].count);
    resize(slots_.size(), median(counts));
}

// Moves the short pieces that occurred more often than that to a table of so many slots.
void CountTable::resize(size_t slots, uint64_t forgotten_count) {
    ZeroedArray<Slot> old(slots);
    std::swap(old, slots_);
    short_count_ = 0;
    for (size_t i = 0; i < old.size(); ++i) {
        if (old[i].count <= forgotten_count) {
            forgotten_ += old[i].count;
            continue;
        }
        size_t slot = old[i].key.hash() & (slots_.size() - 1);
        while (slots_[slot].key.high != 0) slot = (slot + 1) & (slots_.size() - 1);
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
