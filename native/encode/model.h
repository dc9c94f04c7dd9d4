// BPE proper: the bytes of one piece in, its tokens out.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "id_buffer.h"
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
    bool byte_level = true;      // a piece starts as bytes, otherwise as characters
    bool by_ranks = false;       // tiktoken's merge rule, otherwise the listed pairs
    bool ignore_merges = false;  // a piece that is a token is that token
    bool byte_fallback = false;  // a character without a token becomes Kind::byte tokens
    bool fuse_unknown = false;   // neighbouring unknowns are one token
    Id unknown = kNoId;          // what has no token is dropped if this is kNoId
    std::string prefix, suffix;  // of characters inside a piece, of the last character
    bool suffix_apart = false;   // the suffix is a symbol of its own behind the last character
};

// Under tiktoken's rule every byte that is not merged away needs a token; under Hugging Face's a
// character without one is dropped if there is no unknown token.
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

    // Ids below this one may be owned.
    Id size() const { return size_; }
    Bytes token(Id id) const { return tokens_[id]; }
    bool owned(Id id) const { return id < size_ && kinds_[id] != Kind::unused; }
    const ModelOptions& options() const { return options_; }
    bool normal(Id id) const { return id < size_ && kinds_[id] == Kind::normal; }
    const MergeTable& table() const { return table_; }
    // The normal token with these bytes.
    std::optional<Id> find(Bytes bytes) const {
        const auto id = index_.find(bytes);
        return id && *id < size_ ? id : std::nullopt;
    }

    // The ids of a piece of up to kShortPiece bytes, if that is all there is to it: bytes that merge.
    // False if it is not, and nothing is appended.
    static constexpr size_t kShortPiece = 32;
    bool encode_short(Bytes piece, IdBuffer& ids) const;
    // Replaces `symbols` by the tokens of one piece. Throws MissingByte.
    void encode(Bytes piece, Merger& merger, std::vector<Symbol>& symbols) const;
    // Replaces `symbols` by what the merges of a piece start from.
    void start(Bytes piece, std::vector<Symbol>& symbols) const;

    // Calls `sink(left, right)` for every two tokens whose concatenation is this one.
    template <class Sink>
    void for_each_pair(Id id, Sink&& sink) const {
        const Bytes token = tokens_[id];
        for (const size_t length : lengths_) {  // of tokens: a long one need not be cut everywhere
            if (length >= token.size()) break;
            if (const auto left = index_.find(token.first(length)))
                if (const auto right = index_.find(token.subspan(length))) sink(*left, *right);
        }
    }

private:
    void add_missing_bytes();
    void add_byte_pairs();
    void add_listed_merges(std::span<const Id> merges);
    void start_with_characters(Bytes piece, std::vector<Symbol>& symbols) const;
    std::optional<Id> whole(Bytes piece) const;

    ByteStrings tokens_;
    std::vector<Kind> kinds_;
    ModelOptions options_;
    Id size_;  // tokens_ goes on with stand-ins for bytes that have no token, if by_ranks
    bool starts_as_bytes_;  // the common case: no unknown token, no prefix, no suffix
    BytesIndex index_;      // of the normal tokens and the stand-ins
    std::vector<size_t> lengths_;  // of the tokens in the index, each once, rising; if by_ranks
    std::array<Id, 256> bytes_;  // the token of each byte: Kind::normal if byte_level, else Kind::byte
    MergeTable table_;
    // What two bytes merge to, as in `table_`; empty unless pieces start as bytes.
    std::vector<MergeTable::Merge> byte_pairs_;
};

}  // namespace bpe
