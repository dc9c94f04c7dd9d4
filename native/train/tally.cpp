#include "tally.h"

namespace bpe {

CountTables::CountTables(size_t memory_limit) {
    constexpr size_t kTables = 4;
    const size_t tables = memory_limit == SIZE_MAX ? kTables : 1;
    while (tables_.size() < tables) tables_.emplace_back(memory_limit);
}

// A table with a limit forgets what is rare: there, nothing is counted elsewhere.
Tally::Tally(CountTables& tables)
    : tables_(tables),
      places_(tables.tables() > 1 ? kFirst : 1),
      short_(tables.tables()),
      long_(tables.tables()) {}

void Tally::add_pieces(Bytes text, size_t begin, std::span<const size_t> ends, uint64_t order) {
    for (const size_t end : ends) {
        const size_t length = end - begin;
        if (length <= ShortKey::kMost) {
            const ShortKey key = ShortKey::of(text, begin, length);
            const uint64_t hash = key.hash();
            __builtin_prefetch(&places_[hash & (places_.size() - 1)], 1);
            waiting_[waiting_count_++] = {key, hash, order + begin};
            if (waiting_count_ == kBatch) count_waiting();
        } else {
            const Bytes piece = text.subspan(begin, length);
            const uint64_t hash = hash_of(piece);
            gather(long_, hash, {piece, hash, 1, order + begin});
        }
        begin = end;
    }
}

void Tally::count_waiting() {
    ShortPiece* const places = places_.data();
    const size_t mask = places_.size() - 1;
    for (size_t i = 0; i < waiting_count_; ++i) {
        const Waiting& waiting = waiting_[i];
        ShortPiece& place = places[waiting.hash & mask];
        if (place.key == waiting.key) {
            ++place.count;
        } else {
            if (place.count != 0) {
                gather(short_, place.key.hash(), place);
                ++evicted_;
            }
            place = {waiting.key, 1, waiting.order};
        }
    }
    waiting_count_ = 0;
    if (evicted_ > 4 * places_.size() && places_.size() >= kFirst && places_.size() < kMost) grow();
}

void Tally::evict_all() {
    for (size_t i = 0; i < places_.size(); ++i) {
        const ShortPiece piece = std::exchange(places_[i], {});
        if (piece.count != 0) gather(short_, piece.key.hash(), piece);
    }
}

void Tally::grow() {
    evict_all();
    places_ = ZeroedArray<ShortPiece>(8 * places_.size());
    evicted_ = 0;
}

template <class Piece>
[[gnu::always_inline]] inline void Tally::gather(AllGathered<Piece>& gathered, uint64_t hash,
                                                 const Piece& piece) {
    const size_t table = tables_.table_of(hash);
    Gathered<Piece>& some = gathered[table];
    some.pieces[some.size++] = piece;
    if (some.size % kHandful) return;
    const std::span<const Piece> pieces(some.pieces.data(), some.size);
    if (tables_.add(table, pieces, some.size == kMostGathered)) some.size = 0;
}

template <class Piece>
void Tally::hand_over(AllGathered<Piece>& gathered) {
    for (size_t table = 0; table < gathered.size(); ++table) {
        Gathered<Piece>& some = gathered[table];
        if (some.size == 0) continue;
        tables_.add(table, std::span<const Piece>(some.pieces.data(), some.size), true);
        some.size = 0;
    }
}

void Tally::leave_texts() { hand_over(long_); }

void Tally::drop_texts() {
    for (auto& some : long_) some.size = 0;
}

void Tally::flush() {
    count_waiting();
    evict_all();
    hand_over(short_);
}

}  // namespace bpe
