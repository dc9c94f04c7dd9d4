// Counting the pieces of training text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../encode/added.h"
#include "count_table.h"
#include "../base/parallel.h"
#include "../scan/scanner.h"

namespace bpe {

// Distinct pieces and their counts, as the trainer takes them.
class PieceCounts {
public:
    // All of a table; in the order of first appearance if that is asked for.
    PieceCounts(const CountTable& table, bool in_order);

    size_t size() const { return counts_.size(); }
    Bytes piece(size_t i) const { return pieces_[i]; }
    uint64_t count(size_t i) const { return counts_[i]; }

private:
    ByteStrings pieces_;
    std::vector<uint64_t> counts_;
};

// How a training text is cut before it is split into pieces.
struct CountOptions {
    Scan scan;
    std::vector<std::string> specials;  // cut out of the text, never part of a piece
    bool by_line = false;               // split after each \n first
};

class PieceCounter {
public:
    explicit PieceCounter(CountOptions options);
    PieceCounter(const PieceCounter&) = delete;

    // Counts the pieces of documents. Neither the counts nor the order of first appearance depend
    // on the number of threads.
    void add(std::span<const Bytes> documents, unsigned threads, Watch& watch);
    // Counts a piece that was cut elsewhere. Throws std::overflow_error if counts of pairs could be
    // too large for 64 bits.
    void add_piece(Bytes piece, uint64_t count);

    // All that was counted, in one table.
    const CountTable& table();

private:
    void add_weight(uint64_t bytes);
    void count_document(Bytes document, uint64_t order, CountTable& table, Beat& beat) const;

    CountOptions options_;
    std::vector<AddedToken> added_;
    std::vector<uint8_t> enabled_;
    AddedTokens specials_;
    std::vector<std::unique_ptr<CountTable>> tables_;  // one per thread, added up at the end
    uint64_t position_ = 0;                            // of what comes next, in the whole text
    uint64_t weight_ = 0;                              // bytes counted, an upper bound of any count
};

}  // namespace bpe
