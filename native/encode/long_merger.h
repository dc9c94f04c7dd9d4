// BPE of long pieces in linear time.
#pragma once

#include <vector>

#include "../base/buffer.h"
#include "short_merger.h"

namespace bpe {

// A long piece is merged in chunks, whose tokens are then joined. That is exact:
//
// Let x and y be merged apart, and let the merges of xy never cross from x to y. Then the merges of
// xy are those of x and those of y in some order, since merging always takes the lowest priority,
// leftmost, and what happens in one part changes nothing in the other. Whether some merge crosses can
// be told from the last token of x and the first of y: up to the first merge that would cross, these
// two are built as they would be alone, one behind the other; so it happens there, too.
//
// So tokens of a text are the text's tokens if every two neighbours are left as they are when they
// are merged as a text of their own. Where two chunks fail that test, the tokens around are merged
// anew as one text, more of them until the test holds.
class LongMerger {
public:
    explicit LongMerger(const Model& model)
        : model_(model), chunks_(model), window_(model), joints_(kJoints) {}

    // Appends the ids of a piece; `merger` is for what is too long to be merged in short pieces.
    // Only for models that keep all of a text, see `Model::keeps_all`.
    void merge(Bytes piece, Merger& merger, IdBuffer& ids);

private:
    struct Joint {
        uint64_t pair = UINT64_MAX;
        bool holds = false;
    };
    static constexpr size_t kChunk = 27, kLongChunk = 256;  // bytes
    static constexpr size_t kTried = 15;  // places for the end of a chunk
    static constexpr size_t kAround = 2;              // tokens on either side that are merged anew at first
    static constexpr size_t kChunks = 64;             // merged at a time
    static constexpr size_t kJoints = 1 << 13;
    // Bytes merged again for each byte of a piece from which on all of it is merged as one.
    static constexpr size_t kMostAgain = 8;

    size_t merge_short_chunks(Bytes piece, size_t& at, size_t first, Merger& merger, IdBuffer& ids);
    // Where a chunk of at most so many bytes ends.
    size_t chunk_end(Bytes piece, size_t at, size_t most) const;
    // Appends the tokens of a chunk to those in front of it, which begin at `first` in `ids`. `made`:
    // as it was merged alone; if it was not, it is merged together with the last ones. Where the two do not
    // fit, only what is around is merged anew. Returns how many bytes were merged for that.
    size_t join(Bytes piece, size_t begin, size_t end, std::span<const Id> made, size_t first,
                Merger& merger, IdBuffer& ids);
    size_t bytes_of(std::span<const Id> tokens) const;
    bool joint_holds(Id left, Id right, Merger& merger);
    // The tokens of a text, valid until the next call.
    std::span<const Id> merge_window(Bytes text, Merger& merger);

    const Model& model_;
    ShortMerger chunks_, window_;
    std::vector<Symbol> symbols_;
    std::vector<Id> merged_, kept_;
    std::vector<Joint> joints_;  // what `joint_holds` has found out
};

}  // namespace bpe
