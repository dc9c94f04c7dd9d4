// BPE proper: the bytes of one piece in, its tokens out.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "merge.h"

namespace bpe {

enum class Kind : uint8_t {
    normal,   // can be produced by merges
    byte,     // stands for one byte of a character that has no token (SentencePiece's <0x41>)
    unknown,  // stands for what has no token
    control,  // produced by no merge: a special token
    unused,   // an id that nobody owns
};

struct ModelOptions {
    bool byte_level = true;       // a piece starts as bytes, otherwise as characters
    bool by_ranks = false;        // tiktoken's merge rule, otherwise the listed pairs
    bool ignore_merges = false;   // a piece that is a token is that token
    bool byte_fallback = false;   // a character without a token becomes Kind::byte tokens
    bool fuse_unknown = false;    // neighbouring unknowns are one token
    Id unknown = kNoId;           // what has no token is dropped if this is kNoId
    std::string prefix, suffix;   // of characters inside a piece, of the last character
};

// Under tiktoken's rule every byte needs a token; under Hugging Face's a character without one is
// dropped if there is no unknown token.
class MissingByte : public std::invalid_argument {
public:
    explicit MissingByte(uint8_t byte);
};

class Model {
public:
    // `merges` holds left and right id of each merge in turn; empty if `by_ranks`. Throws
    // std::invalid_argument if the result of a merge is no token.
    Model(ByteStrings tokens, std::span<const uint8_t> kinds, std::span<const Id> merges,
          ModelOptions options);
    Model(const Model&) = delete;

    const ByteStrings& tokens() const { return tokens_; }
    const MergeTable& table() const { return table_; }
    bool owned(Id id) const { return id < kinds_.size() && kinds_[id] != Kind::unused; }
    bool normal(Id id) const { return kinds_[id] == Kind::normal; }
    std::optional<Id> find(Bytes bytes) const { return index_.find(bytes); }

    // Replaces `symbols` by the tokens of one piece. Throws MissingByte.
    void encode(Bytes piece, Merger& merger, std::vector<Symbol>& symbols) const;
    // Replaces `symbols` by what the merges of a piece start from.
    void split(Bytes piece, std::vector<Symbol>& symbols) const;

    // Calls `sink(left, right)` for every cut of the token into two normal tokens.
    template <class Sink>
    void for_each_split(Id id, Sink&& sink) const {
        const Bytes token = tokens_[id];
        for (size_t cut = 1; cut < token.size(); ++cut)
            if (const auto left = find(token.first(cut)))
                if (const auto right = find(token.subspan(cut))) sink(*left, *right);
    }

private:
    void add_listed_merges(std::span<const Id> merges);
    void split_characters(Bytes piece, std::vector<Symbol>& symbols) const;

    ByteStrings tokens_;
    std::vector<Kind> kinds_;
    ModelOptions options_;
    bool starts_as_bytes_;  // the common case: no unknown token, no prefix, no suffix
    BytesIndex index_;      // of the normal tokens
    std::array<Id, 256> bytes_;  // the token of each byte: Kind::normal if byte_level, else Kind::byte
    MergeTable table_;
};

}  // namespace bpe
