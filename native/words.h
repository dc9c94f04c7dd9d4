// The pieces of a training text as sequences of ids, rewritten in place by merges.
#pragma once

#include <vector>

#include "pieces.h"

namespace bpe {

// All words lie in one array, each closed by an end mark; a merge compacts a word inside its own
// place. Neighbour tests need no bounds check, since the mark is an id that matches nothing.
class Words {
public:
    static constexpr Id kEnd = kNoId;

    // Words of at least two bytes, in the order of the pieces: others have no pair. `id_of` maps
    // bytes to ids.
    Words(const PieceCounts& pieces, const std::array<uint8_t, 256>& id_of) {
        for (size_t i = 0; i < pieces.size(); ++i) {
            const Bytes piece = pieces.piece(i);
            if (piece.size() < 2) continue;
            begins_.push_back(symbols_.size());
            counts_.push_back(pieces.count(i));
            for (const uint8_t byte : piece) symbols_.push_back(id_of[byte]);
            symbols_.push_back(kEnd);
        }
        if (begins_.size() >= kNoId) throw std::length_error("more than 2^32 distinct pieces");
    }

    size_t size() const { return begins_.size(); }
    Id* operator[](size_t word) { return symbols_.data() + begins_[word]; }
    const Id* operator[](size_t word) const { return symbols_.data() + begins_[word]; }
    uint64_t count(size_t word) const { return counts_[word]; }

private:
    std::vector<Id> symbols_;
    std::vector<size_t> begins_;
    std::vector<uint64_t> counts_;
};

}  // namespace bpe
