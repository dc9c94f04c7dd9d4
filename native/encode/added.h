// Added tokens: strings that are cut out of the text before the split, special tokens among them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "../base/byte_strings.h"
#include "../base/parallel.h"

namespace bpe {

struct AddedToken {
    std::string content;
    Id id;
    bool lstrip, rstrip;  // the match takes the white space before, after it
    bool single_word;     // no match beside a word character
    bool normalized;      // matched in normalized text, after those that are not
};

// Where an added token stands, stripped white space included; `index` is its place in the list.
struct Match {
    size_t begin, end;
    uint32_t index;
};

// Finds the added tokens of one of the two passes: those matched in the raw text, or those matched
// in what is left of it, normalized. Leftmost first, the longest of those; a trie over the bytes.
class AddedTokens {
public:
    // `tokens` must outlive this object. One with no content, which normalizers may leave, never
    // matches; of several with the same content the first enabled one does.
    AddedTokens(const std::vector<AddedToken>& tokens, bool normalized);

    // Calls `sink(match)` for every match in order, and `beat` with no work now and then.
    // `enabled[i]` says whether token i takes part; the others are text. Matches overlap only where a stripped space is itself an added token.
    template <class Sink>
    void for_each_match(Bytes text, std::span<const uint8_t> enabled, Beat& beat,
                        Sink&& sink) const {
        if (nodes_.size() == 1 || !std::memchr(enabled.data(), 1, enabled.size())) return;
        size_t taken = 0, steps = 0;
        Run run;
        Candidates candidates(*this, text);
        for (size_t at = 0;;) {
            at = candidates.next(at);
            if (at == text.size()) break;
            if (++steps % 65536 == 0) beat(0);
            const Match found = longest_at(text, at, enabled);
            if (found.end == at) {
                ++at;
                continue;
            }
            at = found.end;
            const AddedToken& token = tokens_[found.index];
            if (token.single_word && !stands_alone(text, found)) continue;
            const Match match = stripped(text, found, taken, run);
            if (match.begin == match.end) continue;
            sink(match);
            taken = match.end;
        }
    }

    // Cuts a text at its matches: `on_text(begin, end)` and `on_token(match)` in order.
    template <class OnText, class OnToken>
    void cut(Bytes text, std::span<const uint8_t> enabled, Beat& beat, OnText&& on_text,
             OnToken&& on_token) const {
        size_t from = 0;
        for_each_match(text, enabled, beat, [&](Match match) {
            if (from < match.begin) on_text(from, match.begin);
            on_token(match);
            from = match.end;
        });
        if (from < text.size()) on_text(from, text.size());
    }

private:
    struct Node {
        uint32_t first_edge = 0, edges = 0;
        uint32_t index = kNoId;  // of the first token that ends here; see same_
    };
    // White space that has been gone through already: a stripped space may itself be a token.
    struct Run {
        size_t begin = 0, end = 0;
    };

    // Places where a token may begin: of few first bytes, each is searched for on its own.
    class Candidates {
    public:
        Candidates(const AddedTokens& tokens, Bytes text) : tokens_(tokens), text_(text) {
            next_.fill(0);
            if (tokens.nodes_[0].edges > kFew) return;
            for (size_t i = 0; i < tokens.nodes_[0].edges; ++i) next_[i] = search(i, 0);
        }

        // The first one from `at` on, or the end of the text.
        size_t next(size_t at) {
            if (tokens_.nodes_[0].edges > kFew) {
                while (at < text_.size() && tokens_.root_[text_[at]] == 0) ++at;
                return at;
            }
            size_t first = text_.size();
            for (size_t i = 0; i < tokens_.nodes_[0].edges; ++i) {
                if (next_[i] < at) next_[i] = search(i, at);
                first = std::min(first, next_[i]);
            }
            return first;
        }

    private:
        static constexpr size_t kFew = 4;

        size_t search(size_t i, size_t at) const {
            const uint8_t* begin = text_.data() + at;
            const void* found = at < text_.size() ? std::memchr(begin, tokens_.edge_bytes_[i],
                                                                text_.size() - at)
                                                  : nullptr;
            return found ? static_cast<const uint8_t*>(found) - text_.data() : text_.size();
        }

        const AddedTokens& tokens_;
        Bytes text_;
        std::array<size_t, kFew> next_;  // place of each first byte, from the last place asked for on
    };

    Match longest_at(Bytes text, size_t at, std::span<const uint8_t> enabled) const {
        Match found{at, at, kNoId};
        uint32_t node = root_[text[at]];
        for (size_t end = at + 1; node != 0; ++end) {
            uint32_t index = nodes_[node].index;
            while (index != kNoId && !enabled[index]) index = same_[index];
            if (index != kNoId) found = {at, end, index};
            node = end < text.size() ? child(node, text[end]) : 0;
        }
        return found;
    }
    uint32_t child(uint32_t node, uint8_t byte) const;
    bool stands_alone(Bytes text, Match match) const;
    Match stripped(Bytes text, Match match, size_t taken, Run& run) const;
    void build(std::span<const uint32_t> sorted, size_t depth, uint32_t node);

    const std::vector<AddedToken>& tokens_;
    std::array<uint32_t, 256> root_{};  // child of the root for each byte; 0: none
    std::vector<Node> nodes_;           // node 0 is the root
    std::vector<uint32_t> same_;        // the next token with the same content, or kNoId
    std::vector<uint8_t> edge_bytes_;   // sorted within a node
    std::vector<uint32_t> edge_nodes_;
};

}  // namespace bpe
