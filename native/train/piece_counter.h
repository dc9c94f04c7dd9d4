// Counting the pieces of training text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../base/parallel.h"
#include "../encode/added.h"
#include "../scan/scanner.h"
#include "tally.h"

namespace bpe {

// How a training text is cut before it is split into pieces.
struct CountOptions {
    Scanner scanner;
    std::vector<std::string> specials;  // cut out of the text, never part of a piece
    bool by_line = false;               // split after each \n first
    size_t memory_limit = SIZE_MAX;     // bytes; see CountTable. Needs a single thread.
};

class PieceCounter {
public:
    explicit PieceCounter(CountOptions options);
    PieceCounter(const PieceCounter&) = delete;

    // Counts the pieces of documents. Neither the counts nor the order of first appearance depend
    // on the number of threads.
    void add(std::span<const Bytes> documents, unsigned threads, Watch& watch);
    // The same in two steps, of which the second one may be done by several callers at once, each a
    // worker of its own: in the order of the text, each gets the place for so many bytes.
    uint64_t reserve(uint64_t bytes);
    Tally& tally_of(unsigned worker);
    void add_at(std::span<const Bytes> documents, uint64_t place, Tally& tally, Watch& watch) const;
    // Counts a piece that was cut elsewhere; nothing if it is empty or occurs never. Throws
    // std::overflow_error if counts of pairs could be too large for 64 bits.
    void add_piece(Bytes piece, uint64_t count);

    // The last offset where a text may be cut in two without a change to its pieces, whatever
    // follows the text; 0 if there is none.
    size_t last_cut(Bytes text) const;

    // All that was counted.
    const CountTables& tables();
    // Forgets all that was counted.
    void clear();

private:
    struct Part {
        Bytes text;
        uint64_t order;
    };

    std::vector<Part> parts_of(std::span<const Bytes> documents, unsigned threads);
    void count_parts(std::span<const Part> parts, Tally& tally, Beat& beat) const;
    void count_part(Part part, Tally& tally, Beat& beat) const;
    bool splits_special(Bytes text, size_t at) const;
    void add_bytes(uint64_t bytes);

    CountOptions options_;
    std::vector<AddedToken> added_;
    std::vector<uint8_t> enabled_;
    AddedTokens specials_;
    std::unique_ptr<CountTables> tables_;
    std::vector<std::unique_ptr<Tally>> tallies_;  // one per thread
    uint64_t position_ = 0;     // of what comes next, in the whole text
    uint64_t total_bytes_ = 0;  // counted so far, an upper bound of any count
};

}  // namespace bpe
