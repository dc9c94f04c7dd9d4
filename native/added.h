// Added tokens: strings that are cut out of the text before the split, special tokens among them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "vocab.h"

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
    // `tokens` must outlive this object. Throws std::invalid_argument for an empty content.
    AddedTokens(const std::vector<AddedToken>& tokens, bool normalized);

    // Calls `sink(match)` for every match in order. `enabled[i]` says whether token i takes part;
    // the others are text. Matches overlap only where a stripped space is itself an added token.
    template <class Sink>
    void for_each_match(Bytes text, std::span<const uint8_t> enabled, Sink&& sink) const {
        if (nodes_.size() == 1) return;
        size_t taken = 0;
        for (size_t at = 0; at < text.size();) {
            const Match found = longest_at(text, at, enabled);
            if (found.end == at) {
                ++at;
                continue;
            }
            at = found.end;
            const AddedToken& token = tokens_[found.index];
            if (token.single_word && !stands_alone(text, found)) continue;
            const Match match = stripped(text, found, taken);
            sink(match);
            taken = match.end;
        }
    }

private:
    struct Node {
        uint32_t first_edge = 0, edges = 0;
        uint32_t index = kNoId;  // of the token that ends here
    };

    Match longest_at(Bytes text, size_t at, std::span<const uint8_t> enabled) const {
        Match found{at, at, kNoId};
        uint32_t node = root_[text[at]];
        for (size_t end = at + 1; node != 0; ++end) {
            const uint32_t index = nodes_[node].index;
            if (index != kNoId && enabled[index]) found = {at, end, index};
            node = end < text.size() ? child(node, text[end]) : 0;
        }
        return found;
    }
    uint32_t child(uint32_t node, uint8_t byte) const;
    bool stands_alone(Bytes text, Match match) const;
    Match stripped(Bytes text, Match match, size_t taken) const;
    void build(std::span<const uint32_t> sorted, size_t depth, uint32_t node);

    const std::vector<AddedToken>& tokens_;
    std::array<uint32_t, 256> root_{};  // child of the root for each byte; 0: none
    std::vector<Node> nodes_;           // node 0 is the root
    std::vector<uint8_t> edge_bytes_;   // sorted within a node
    std::vector<uint32_t> edge_nodes_;
};

}  // namespace bpe
