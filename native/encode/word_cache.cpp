#include "word_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace bpe {

WordCache::WordCache(const Words& seeds, size_t memory_limit)
    : most_entries_(std::bit_floor(std::max<size_t>(memory_limit / sizeof(Entry), 1 << 10))),
      entries_(most_entries_),
      mask_(std::min(most_entries_, std::bit_ceil(std::max<size_t>(2 * seeds.entries.size(), 1 << 10))) - 1),
      ring_(kRing + kMostIds),
      long_slots_(kLongSlots) {
    for (const Entry& seed : seeds.entries) place(seed, hash_of_entry(seed));
    learn_records(seeds.records);
    seeds_end_ = ring_end_;
}

// An entry that is not where it is looked for first changes places with the one that is there, if
// that one can be found at the other place; one time of four, as two common ones would take turns.
WordCache::Entry* WordCache::entry_of(ShortKey key, uint64_t hash, Entry** free) {
    bool has_free = false;
    for (size_t step = 0; step < kProbes && !(has_free && step % kLine == 0); ++step) {
        const size_t place = place_of(hash, step);
        Entry& entry = entries_[place];
        if (entry.high == 0 && !has_free) {
            has_free = true;
            if (free) *free = &entry;
        }
        if (!entry.holds(key)) continue;
        Entry& first = entries_[hash & mask_];
        if (step == 0 || ++turn_ % 4 > 0 || !reaches(hash_of_entry(first), place)) return &entry;
        std::swap(entry, first);
        return &first;
    }
    return nullptr;
}

void WordCache::insert(ShortKey key, std::span<const Id> ids, size_t place) {
    Entry entry{key.low, key.high | uint64_t{ids.size()} << 60, {}};
    if (ids.size() <= kMostIds) {
        std::copy(ids.begin(), ids.end(), entry.ids);
        if (teaches_ && fresh_.size() < kMostFresh) fresh_.push_back(entry);
    } else {
        const uint64_t position = add_to_ring(key.bytes(), ids);
        entry.high = key.high | kMany << 60;
        entry.ids[0] = static_cast<Id>(position);
        entry.ids[1] = static_cast<Id>(position >> 32);
    }
    if (entries_[place].holds(key))
        entries_[place] = entry;
    else
        add(entry, hash_of(key));
}

size_t WordCache::announce(ShortKey key, Id number, const Found& found) {
    const Entry entry{key.low, key.high | kPending << 60, {number}};
    if (!found.free || is_full()) {
        add(entry, hash_of(key));
        return 0;
    }
    *found.free = entry;
    ++used_;
    return found.free - entries_.data();
}

// The place must stay taken: others may have been put behind it. What takes it is nothing's entry, and
// has no number of ids either: the key of a piece that is too long to be looked up is {0, 0}.
void WordCache::forget(ShortKey key) {
    if (Entry* known = entry_of(key, hash_of(key))) *known = kForgotten;
}

void WordCache::add(const Entry& entry, uint64_t hash) {
    // Its ids may have been overwritten in the ring.
    if (Entry* known = entry_of({entry.low, entry.high & kKeyBits}, hash)) {
        *known = entry;
        return;
    }
    if (is_full()) grow();
    place(entry, hash);
}

// The first free place, or else one of the places where it would be looked for.
void WordCache::place(const Entry& entry, uint64_t hash) {
    // Where few are free, none is worth a long search.
    const size_t farthest = 8 * used_ > 7 * mask_ ? kProbes : kFarthest;
    size_t step = 0;
    while (step < farthest && entries_[place_of(hash, step)].high != 0) ++step;
    step = step < farthest ? moved_near(hash, step) : kProbes;
    if (step < kProbes) {
        ++used_;
    } else {
        has_all_seeds_ = false;
        step = turn_++ % kProbes;
    }
    entries_[place_of(hash, step)] = entry;
}

// Lets entries move on to a free place so many steps from a hash, each still where it is looked for,
// until the place that is free is near; kProbes if that cannot be. (Hopscotch hashing.)
size_t WordCache::moved_near(uint64_t hash, size_t free) {
    while (free >= kProbes) {
        const size_t end = free / kLine * kLine;
        size_t step = end + kLine - kProbes;
        const auto may_go = [&] {
            return reaches(hash_of_entry(entries_[place_of(hash, step)]), place_of(hash, free));
        };
        while (step < end && !may_go()) ++step;
        if (step == end) return kProbes;
        entries_[place_of(hash, free)] = std::exchange(entries_[place_of(hash, step)], kForgotten);
        free = step;
    }
    return free;
}

// In place: fresh memory takes longer to get than to fill. An entry goes to its line, to one before
// that, or to the new part; but those at the front that belong to the old end go last.
void WordCache::grow() {
    const size_t old_mask = mask_;
    // Twofold each time, all entries were moved again and again: a tenth of encoding new text.
    mask_ = std::min(most_entries_, std::max(4 * (mask_ + 1), kGrown)) - 1;
    used_ = 0;
    std::array<Entry, kProbes> from_end{};
    for (size_t i = 0; i <= old_mask; i += kLine) {
        std::array<Entry, kLine> line{};
        std::swap_ranges(line.begin(), line.end(), &entries_[i]);
        for (size_t n = 0; n < kLine; ++n) {
            if ((line[n].high & kKeyBits) == 0) continue;  // empty, or forgotten
            const uint64_t hash = hash_of_entry(line[n]);
            if (i < kProbes && (hash & old_mask) >= i + kLine)
                from_end[i + n] = line[n];
            else
                place(line[n], hash);
        }
    }
    for (const Entry& entry : from_end)
        if (entry.high != 0) place(entry, hash_of_entry(entry));
}

void WordCache::prefetch_ids(uint64_t hash) const {
    for (size_t way = 0; way < kWays; ++way) {
        const LongSlot& slot = long_slots_[slot_of(hash) + way];
        if (slot.hash == hash) __builtin_prefetch(ring_.data() + slot.position % kRing);
    }
}

std::span<const Id> WordCache::find_long(Bytes piece, uint64_t hash) const {
    for (size_t way = 0; way < kWays; ++way) {
        const LongSlot& slot = long_slots_[slot_of(hash) + way];
        if (slot.hash != hash) continue;
        if (!is_kept(slot.position)) continue;
        const Id* record = ring_.data() + slot.position % kRing;
        const auto* bytes = reinterpret_cast<const uint8_t*>(record + 2 + record[0]);
        if (equal(piece, {bytes, record[1]})) return {record + 2, record[0]};
    }
    return {};
}

void WordCache::insert_long(Bytes piece, uint64_t hash, std::span<const Id> ids) {
    const size_t first = slot_of(hash);
    size_t oldest = first;
    for (size_t slot = first + 1; slot < first + kWays; ++slot)
        if (long_slots_[slot].position < long_slots_[oldest].position) oldest = slot;
    const uint64_t evicted = long_slots_[oldest].position;
    if (evicted != 0 && evicted < seeds_end_) has_all_long_seeds_ = false;
    long_slots_[oldest] = {hash, add_to_ring(piece, ids)};
}

uint64_t WordCache::add_to_ring(Bytes piece, std::span<const Id> ids) {
    const size_t size = record_size(ids.size(), piece.size());
    if (ring_end_ % kRing + size > kRing) {
        ring_[ring_end_ % kRing] = kSkip;
        ring_end_ += kRing - ring_end_ % kRing;
    }
    const uint64_t position = ring_end_;
    write_record(ring_.data() + position % kRing, piece, ids);
    ring_end_ += size;
    return position;
}

void WordCache::write_record(Id* record, Bytes piece, std::span<const Id> ids) {
    record[0] = static_cast<Id>(ids.size());
    record[1] = static_cast<Id>(piece.size());
    std::copy(ids.begin(), ids.end(), record + 2);
    std::memcpy(record + 2 + ids.size(), piece.data(), piece.size());
}

void WordCache::Words::add_long(Bytes piece, std::span<const Id> ids) {
    const size_t begin = records.size();
    records.resize(begin + record_size(ids.size(), piece.size()));
    write_record(records.data() + begin, piece, ids);
}

WordCache::Words WordCache::take_fresh() {
    Words fresh{std::exchange(fresh_, {}), {}};
    if (ring_end_ - fresh_ring_ < kRing) {
        while (fresh_ring_ < ring_end_) {
            const Id* record = ring_.data() + fresh_ring_ % kRing;
            const size_t size = record[0] == kSkip ? kRing - fresh_ring_ % kRing
                                                   : record_size(record[0], record[1]);
            if (record[0] != kSkip) fresh.records.insert(fresh.records.end(), record, record + size);
            fresh_ring_ += size;
        }
    }
    fresh_ring_ = ring_end_;
    return fresh;
}

void WordCache::learn(const Words& words) {
    for (const Entry& entry : words.entries) add(entry, hash_of_entry(entry));
    learn_records(words.records);
}

void WordCache::learn_records(std::span<const Id> records) {
    for (size_t at = 0; at < records.size();) {
        const Id* record = records.data() + at;
        const std::span<const Id> ids(record + 2, record[0]);
        const Bytes piece(reinterpret_cast<const uint8_t*>(record + 2 + record[0]), record[1]);
        at += record_size(record[0], record[1]);
        if (piece.size() <= ShortKey::kMost)
            insert(ShortKey::of(piece, 0, piece.size()), ids);
        else if (const uint64_t hash = bpe::hash_of(piece); find_long(piece, hash).empty())
            insert_long(piece, hash, ids);
    }
    fresh_ring_ = ring_end_;
}

}  // namespace bpe
