// The distinct pieces of a training text and how often each occurs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "added.h"
#include "parallel.h"
#include "scan/scanner.h"

namespace bpe {

// Distinct pieces in the order of their first appearance, with 64-bit counts.
class PieceCounts {
public:
    PieceCounts() : index_(pieces_) {}
    PieceCounts(const PieceCounts&) = delete;

    size_t size() const { return counts_.size(); }
    Bytes piece(size_t i) const { return pieces_[i]; }
    uint64_t count(size_t i) const { return counts_[i]; }

    void add(Bytes piece, uint64_t count = 1);
    // Adds all of `other`, whose text comes after the text counted here.
    void add(const PieceCounts& other);

private:
    ByteStrings pieces_;
    std::vector<uint64_t> counts_;
    BytesIndex index_;
};

// Where a training text is cut before it is split into pieces.
struct CountOptions {
    Scan scan;
    std::vector<std::string> specials;  // cut out of the text, never part of a piece
    bool by_line = false;               // split after each \n first
};

class PieceCounter {
public:
    explicit PieceCounter(CountOptions options);

    const PieceCounts& counts() const { return counts_; }

    // Counts the pieces of documents. The result does not depend on the number of threads.
    void add(std::span<const Bytes> documents, unsigned threads, Watch& watch);
    // Counts a piece that was cut elsewhere.
    void add_piece(Bytes piece, uint64_t count) { counts_.add(piece, count); }

private:
    void count_document(Bytes document, PieceCounts& counts, Beat& beat) const;

    CountOptions options_;
    std::vector<AddedToken> added_;
    std::vector<uint8_t> enabled_;
    AddedTokens specials_;
    PieceCounts counts_;
};

}  // namespace bpe
