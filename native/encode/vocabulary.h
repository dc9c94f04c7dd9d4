// What all models of a tokenizer share: its tokens, what each is for, and the merges of them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "../base/byte_strings.h"

namespace bpe {

enum class Kind : uint8_t {
    normal,   // can be produced by merges
    byte,     // stands for one byte of a character that has no token (SentencePiece's <0x41>)
    unknown,  // stands for what has no token
    control,  // produced by no merge: a special token
    unused,   // an id that nobody owns
};

struct Merge {
    Id left, right;
    Id merged = kNoId;
};

// Immutable, and sound: normal tokens differ, exactly unused ids have no bytes (a control token may
// have none), and every merge makes a normal token.
class Vocabulary {
public:
    // Null if that does not hold. The merged ids of merges need not be known; of the right half of a
    // merge the first `cut` bytes are dropped.
    static std::shared_ptr<const Vocabulary> make(ByteStrings tokens, std::vector<Kind> kinds,
                                                  std::vector<Merge> merges, size_t cut = 0);
    Vocabulary(const Vocabulary&) = delete;

    size_t size() const { return kinds_.size(); }
    const ByteStrings& tokens() const { return tokens_; }
    const std::vector<Kind>& kinds() const { return kinds_; }
    std::span<const Merge> merges() const { return merges_; }
    // Of the normal tokens.
    const BytesIndex& index() const { return index_; }

    // The same without merges, and with single bytes behind its tokens: ids that nobody owns, but that
    // the index knows.
    std::shared_ptr<const Vocabulary> with_stand_ins(std::span<const uint8_t> bytes) const;

private:
    Vocabulary(ByteStrings tokens, std::vector<Kind> kinds, std::vector<Merge> merges)
        : tokens_(std::move(tokens)),
          kinds_(std::move(kinds)),
          merges_(std::move(merges)),
          index_(tokens_, tokens_.size()) {}

    bool add_tokens();
    bool complete_merges(size_t cut);

    ByteStrings tokens_;
    std::vector<Kind> kinds_;
    std::vector<Merge> merges_;
    BytesIndex index_;
};

}  // namespace bpe
