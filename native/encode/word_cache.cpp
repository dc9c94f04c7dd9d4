#include "word_cache.h"

#include <algorithm>
#include <bit>

namespace bpe {

WordCache::WordCache(std::span<const Entry> seeds, size_t memory_limit)
    : most_entries_(std::bit_floor(std::max<size_t>(memory_limit / sizeof(Entry), 1 << 10))),
      entries_(std::min(most_entries_, std::bit_ceil(std::max<size_t>(2 * seeds.size(), 1 << 10)))),
      mask_(entries_.size() - 1) {
    for (const Entry& seed : seeds)
        place(seed, ShortKey{seed.low, seed.high & kKeyBits}.hash());
}

void WordCache::insert(ShortKey key, uint64_t hash, std::span<const Id> ids) {
    const bool few = ids.size() <= kMostIds;
    Entry entry{key.low, key.high | (few ? uint64_t{ids.size()} : kMany) << 60, {}};
    if (few) std::copy(ids.begin(), ids.end(), entry.ids);
    if (2 * (used_ + 1) > entries_.size() && entries_.size() < most_entries_) grow();
    place(entry, hash);
}

// The first free place, or else one of the places where it would be looked for.
void WordCache::place(const Entry& entry, uint64_t hash) {
    for (size_t step = 0; step < kProbes; ++step) {
        Entry& place = entries_[(hash + step) & mask_];
        if (place.high != 0) continue;
        place = entry;
        ++used_;
        return;
    }
    entries_[(hash + next_victim_++ % kProbes) & mask_] = entry;
}

void WordCache::grow() {
    ZeroedArray<Entry> old(2 * entries_.size());
    std::swap(old, entries_);
    mask_ = entries_.size() - 1;
    used_ = 0;
    for (size_t i = 0; i < old.size(); ++i)
        if (old[i].high != 0) place(old[i], ShortKey{old[i].low, old[i].high & kKeyBits}.hash());
}

bool WordCache::find_long(Bytes piece, uint64_t hash, std::span<const Id>& ids) const {
    if (ring_.size() == 0) return false;
    for (size_t way = 0; way < kWays; ++way) {
        const LongSlot& slot = long_slots_[(hash * kWays + way) & (kLongSlots - 1)];
        if (slot.hash != hash || slot.position + kRing < ring_end_) continue;
        const Id* record = ring_.data() + slot.position % kRing;
        const auto* bytes = reinterpret_cast<const uint8_t*>(record + 2 + record[0]);
        if (!equal(piece, {bytes, record[1]})) continue;
        ids = {record + 2, record[0]};
        return true;
    }
    return false;
}

void WordCache::insert_long(Bytes piece, uint64_t hash, std::span<const Id> ids) {
    if (ring_.size() == 0) {
        ring_ = ZeroedArray<Id>(kRing);
        long_slots_ = ZeroedArray<LongSlot>(kLongSlots);
    }
    const size_t size = 2 + ids.size() + (piece.size() + sizeof(Id) - 1) / sizeof(Id);
    if (ring_end_ % kRing + size > kRing) ring_end_ += kRing - ring_end_ % kRing;
    Id* record = ring_.data() + ring_end_ % kRing;
    record[0] = static_cast<Id>(ids.size());
    record[1] = static_cast<Id>(piece.size());
    std::copy(ids.begin(), ids.end(), record + 2);
    std::memcpy(record + 2 + ids.size(), piece.data(), piece.size());
    const auto older = [&](size_t a, size_t b) {
        return long_slots_[a].position < long_slots_[b].position;
    };
    size_t oldest = (hash * kWays) & (kLongSlots - 1);
    for (size_t way = 1; way < kWays; ++way)
        if (older(oldest / kWays * kWays + way, oldest)) oldest = oldest / kWays * kWays + way;
    long_slots_[oldest] = {hash, ring_end_};
    ring_end_ += size;
}

}  // namespace bpe
