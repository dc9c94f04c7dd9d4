// BPE proper: the bytes of one piece in, its tokens out.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "first_merges.h"
#include "merge.h"
#include "vocabulary.h"

namespace bpe {

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
    // The merges of the vocabulary are those of `options.prefix`; they do not count if `by_ranks`.
    Model(std::shared_ptr<const Vocabulary> vocabulary, ModelOptions options);
    Model(const Model&) = delete;

    // Ids below this one may be owned.
    Id size() const { return size_; }
    Bytes token(Id id) const { return vocabulary_->tokens()[id]; }
    bool owned(Id id) const { return id < size_ && kind(id) != Kind::unused; }
    const ModelOptions& options() const { return options_; }
    bool normal(Id id) const { return id < size_ && kind(id) == Kind::normal; }
    const MergeTable& table() const { return table_; }
    // The normal token with these bytes.
    std::optional<Id> find(Bytes bytes) const {
        const auto id = index().find(bytes);
        return id && *id < size_ ? id : std::nullopt;
    }

    // Whether pieces start as bytes that merge, and nothing else happens to them but that they may
    // be tokens as a whole.
    bool starts_as_bytes() const { return starts_as_bytes_; }
    // The first of these merges, if no byte is dropped or stood in for.
    bool has_first_merges() const { return starts_as_bytes_ && has_all_bytes_; }
    const FirstMerges& first_merges() const { return first_merges_; }
    // Whether bytes without a token have ids that nobody owns, from `size` on.
    bool has_stand_ins() const { return size_ < vocabulary_->size(); }
    // How many symbols there are at most for each byte of a piece: spelled out, bytes that a character
    // falls back to are also those of its affixes.
    size_t symbols_per_byte() const {
        const size_t affixes = options_.prefix.size() + options_.suffix.size();
        return 1 + (options_.byte_fallback ? affixes : 0) + options_.suffix_apart;
    }
    // Replaces `symbols` by the tokens of one piece. Throws MissingByte.
    void encode(Bytes piece, Merger& merger, std::vector<Symbol>& symbols) const;
    // Whether some merge takes the unknown token for a part.
    bool merges_unknown() const { return merges_unknown_; }
    // Whether all of a text becomes tokens, none of them unknown, whatever stands beside it.
    bool keeps_all() const {
        return has_all_bytes_ && (starts_as_bytes_ || (!options_.byte_level && options_.byte_fallback &&
                                                       options_.prefix.empty() &&
                                                       options_.suffix.empty()));
    }
    // Whether some token has these two bytes in it, one behind the other. Merges cross no other place.
    bool in_a_token(uint8_t left, uint8_t right) const { return in_tokens_[left << 8 | right]; }
    // The token that a piece is as a whole, which `ignore_merges` asks for.
    std::optional<Id> whole(Bytes piece) const;
    // Replaces `symbols` by what the merges of a piece start from.
    void start(Bytes piece, std::vector<Symbol>& symbols) const;

    // Calls `sink(left, right, merged)` for every two tokens whose concatenation is a normal one, by
    // its id. Look-ups wait for memory, so those of many tokens are asked for before they are made.
    template <class Sink>
    void for_each_pair(Sink&& sink) const {
        struct Cut {
            Id merged, left;
            size_t length;  // of `left`
            uint64_t hash;  // of what is looked up next
        };
        constexpr size_t kBatch = 128;
        std::vector<Cut> cuts;
        for (Id id = 0; id < size_;) {
            for (cuts.clear(); id < size_ && cuts.size() < kBatch; ++id) {
                const Bytes bytes = token(id);
                if (kind(id) != Kind::normal) continue;
                for (const size_t length : lengths_) {  // a long token need not be cut everywhere
                    if (length >= bytes.size()) break;
                    cuts.push_back({id, kNoId, length, hash_of(bytes.first(length))});
                    index().prefetch(cuts.back().hash);
                }
            }
            size_t kept = 0;
            for (const Cut& cut : cuts) {
                const Bytes bytes = token(cut.merged);
                const auto left = index().find(bytes.first(cut.length), cut.hash);
                if (!left) continue;
                cuts[kept] = {cut.merged, *left, cut.length, hash_of(bytes.subspan(cut.length))};
                index().prefetch(cuts[kept++].hash);
            }
            cuts.resize(kept);
            for (const Cut& cut : cuts)
                if (const auto right =
                        index().find(token(cut.merged).subspan(cut.length), cut.hash))
                    sink(cut.left, *right, cut.merged);
        }
    }

private:
    void add_missing_bytes();
    void add_pairs_of_ranks();
    void look_into_tokens();
    void add_listed_merges();
    void add_merges(std::vector<Merge> merges);
    bool drop_idle(std::vector<Merge>& merges) const;
    void add_characters();
    void start_with_characters(Bytes piece, std::vector<Symbol>& symbols) const;

    Kind kind(Id id) const { return vocabulary_->kinds()[id]; }
    const BytesIndex& index() const { return vocabulary_->index(); }

    std::shared_ptr<const Vocabulary> vocabulary_;
    ModelOptions options_;
    Id size_;  // the vocabulary goes on with stand-ins for bytes that have no token, if by_ranks
    bool starts_as_bytes_;  // the common case: no unknown token, no prefix, no suffix
    std::vector<size_t> lengths_;  // of the tokens in the index, each once, rising; if by_ranks
    std::array<Id, 256> bytes_;  // the token of each byte: Kind::normal if byte_level, else Kind::byte
    // The tokens of characters by code point, and kNoId, if a character is looked up as it is.
    std::vector<Id> characters_;
    MergeTable table_;
    FirstMerges first_merges_;
    std::vector<bool> in_tokens_;  // by two bytes
    // By the hash of a token of more than kShort bytes: most pieces as long are none, and to find
    // that out from 64 KB takes no time.
    std::vector<bool> long_tokens_;
    static constexpr size_t kShort = 15;
    size_t long_place(Bytes bytes) const { return hash_of(bytes) & (long_tokens_.size() - 1); }
    bool has_all_bytes_ = false, merges_unknown_ = false;
    size_t longest_ = 6;  // bytes of a token, or of the spelling of a byte
};

}  // namespace bpe
