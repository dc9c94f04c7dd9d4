// Counting on several threads: tables that all share, and what each thread counts in front of them.
#pragma once

#include <array>
#include <deque>
#include <mutex>

#include "count_table.h"

namespace bpe {

// The counts of all pieces in a few tables, by hash, each for one thread at a time: no piece is in two
// of them, so that they take no more memory than one. With a limit there is one table.
class CountTables {
public:
    explicit CountTables(size_t memory_limit = SIZE_MAX);

    // Which table a piece is for, by bits of its hash that are not those of its place in the table.
    size_t table_of(uint64_t hash) const { return hash >> 32 & (tables_.size() - 1); }
    size_t tables() const { return tables_.size(); }

    // Adds pieces that are for one table; false if another thread has it, unless `must`.
    template <class Piece>
    bool add(size_t table, std::span<const Piece> pieces, bool must) {
        Shared& shared = tables_[table];
        std::unique_lock lock(shared.lock, std::defer_lock);
        if (!must && !lock.try_lock()) return false;
        if (must) lock.lock();
        shared.counts.add(pieces);
        return true;
    }

    // What follows is for when no thread adds anything.
    size_t size() const { return sum(&CountTable::size); }
    size_t total_bytes() const { return sum(&CountTable::total_bytes); }
    uint64_t forgotten() const { return sum(&CountTable::forgotten); }
    size_t places() const { return sum(&CountTable::places); }
    // Calls `sink(place, piece, count, order)` for each piece at a place from `first` to `last`.
    template <class Sink>
    void look_at(size_t first, size_t last, Sink&& sink) const {
        size_t begin = 0;
        for (const Shared& shared : tables_) {
            const size_t end = begin + shared.counts.places();
            for (size_t place = std::max(first, begin); place < std::min(last, end); ++place)
                shared.counts.look_at(place - begin, [&](Bytes piece, uint64_t count, uint64_t order) {
                    sink(place, piece, count, order);
                });
            begin = end;
        }
    }

private:
    struct Shared {
        explicit Shared(size_t memory_limit) : counts(memory_limit) {}
        std::mutex lock;
        CountTable counts;
    };

    template <class Number>
    size_t sum(Number (CountTable::*number)() const) const {
        size_t total = 0;
        for (const Shared& shared : tables_) total += (shared.counts.*number)();
        return total;
    }

    std::deque<Shared> tables_;  // a power of two
};

// One thread's counts. Each piece of up to 15 bytes is counted at one place by its hash as long as no
// other needs that place: of English, nine in ten never reach the tables. What does is gathered, and
// handed over many at a time.
class Tally {
public:
    explicit Tally(CountTables& tables);
    Tally(const Tally&) = delete;

    // Adds consecutive pieces of a text, the first of which starts at `begin`. `order` is the place
    // of the text's start.
    void add_pieces(Bytes text, size_t begin, std::span<const size_t> ends, uint64_t order);
    // Hands over the longer pieces: before the texts go, in which they lie.
    void leave_texts();
    // Forgets them: after an error.
    void drop_texts();
    // Hands over everything: before anybody looks at the tables.
    void flush();

private:
    // A piece whose place has been asked for: all of a batch are, before the first is looked at.
    struct Waiting {
        ShortKey key;
        uint64_t hash, order;
    };
    static constexpr size_t kBatch = 64;
    // What is handed over at once. The most that is gathered while others have the table.
    static constexpr size_t kHandful = 128, kMostGathered = 256;
    // Places. They begin few, as there are many short texts to train on; 4 MB is more than a level 2
    // cache, but the frequent ones are in it. With 512 KB twice as much reaches the tables.
    static constexpr size_t kFirst = 1 << 8, kMost = 1 << 17;

    // What is gathered for one table.
    template <class Piece>
    struct Gathered {
        std::array<Piece, kMostGathered> pieces;
        size_t size = 0;
    };
    template <class Piece>
    using AllGathered = std::vector<Gathered<Piece>>;  // by table

    void count_waiting();
    void evict_all();
    void grow();
    template <class Piece>
    void gather(AllGathered<Piece>& gathered, uint64_t hash, const Piece& piece);
    template <class Piece>
    void hand_over(AllGathered<Piece>& gathered);

    CountTables& tables_;
    std::array<Waiting, kBatch> waiting_;
    size_t waiting_count_ = 0;
    ZeroedArray<ShortPiece> places_;  // a power of two
    size_t evicted_ = 0;              // since there are so many places
    AllGathered<ShortPiece> short_;
    AllGathered<LongPiece> long_;
};

}  // namespace bpe
