#include "count_table.h"

#include <algorithm>

namespace bpe {
namespace {

// Masks that keep the first n bytes of 16, as two words.
constexpr auto kKeep = [] {
    std::array<std::array<uint64_t, 2>, 16> masks{};
    for (size_t n = 0; n < 16; ++n) {
        masks[n][0] = n >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * n)) - 1;
        masks[n][1] = n <= 8 ? 0 : (uint64_t{1} << (8 * (n - 8))) - 1;
    }
    return masks;
}();

}  // namespace

CountTable::Key CountTable::key_of(Bytes text, size_t begin, size_t length) {
    Key key;
    if (begin + 16 <= text.size()) {
        // Load 16 bytes whatever the length is: the load need not wait for it.
        std::memcpy(&key, text.data() + begin, 16);
        key.low &= kKeep[length][0];
        key.high &= kKeep[length][1];
    } else {
        key = {0, 0};
        std::memcpy(&key, text.data() + begin, length);
    }
    key.high |= uint64_t{length} << 56;
    return key;
}

void CountTable::add_pieces(Bytes text, size_t begin, std::span<const size_t> ends,
                            uint64_t order) {
    struct Waiting {
        Key key;
        uint64_t hash, order;
    };
    // All slots of a batch are requested before the first is looked at: cache misses overlap.
    constexpr size_t kBatch = 64;
    Waiting waiting[kBatch];
    while (!ends.empty()) {
        const auto batch = ends.first(std::min(kBatch, ends.size()));
        ends = ends.subspan(batch.size());
        reserve(batch.size());
        const size_t mask = slots_.size() - 1;
        size_t size = 0;
        for (const size_t end : batch) {
            const size_t length = end - begin;
            if (length <= kShort) {
                const Key key = key_of(text, begin, length);
                const uint64_t hash = hash_of(key);
                __builtin_prefetch(&slots_[hash & mask], 1);
                waiting[size++] = {key, hash, order + begin};
            } else {
                add_long(text.subspan(begin, length), 1, order + begin);
            }
            begin = end;
        }
        for (size_t i = 0; i < size; ++i)
            add_short(waiting[i].key, waiting[i].hash, 1, waiting[i].order);
    }
}

void CountTable::add(Bytes piece, uint64_t count, uint64_t order) {
    if (piece.size() > kShort) return add_long(piece, count, order);
    reserve(1);
    const Key key = key_of(piece, 0, piece.size());
    add_short(key, hash_of(key), count, order);
}

void CountTable::add(const CountTable& other) {
    other.for_each([this](Bytes piece, uint64_t count, uint64_t order) {
        add(piece, count, order);
    });
}

void CountTable::add_short(Key key, uint64_t hash, uint64_t count, uint64_t order) {
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
    long_pieces_.push_back(piece);
    long_counts_.push_back({count, order});
    long_index_.insert(static_cast<Id>(long_counts_.size() - 1));
}

// Makes room for so many short pieces more.
void CountTable::reserve(size_t more) {
    if (2 * (short_count_ + more) <= slots_.size()) return;
    ZeroedArray<Slot> old(2 * slots_.size());
    std::swap(old, slots_);
    for (size_t i = 0; i < old.size(); ++i) {
        if (old[i].key.high == 0) continue;
        size_t slot = hash_of(old[i].key) & (slots_.size() - 1);
        while (slots_[slot].key.high != 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = old[i];
    }
}

}  // namespace bpe
