// From strings with ids to a vocabulary of bytes, and back.
#pragma once

#include <array>
#include <map>
#include <string>

#include "../base/string_ids.h"
#include "vocabulary.h"

namespace bpe {

// The byte that each character below this one stands for; -1 for none.
using Alphabet = std::array<int16_t, 1 << 10>;

// What the strings of a tokenizer.json stand for: bytes that their characters spell, if there is an
// alphabet, else their UTF-8.
class Spelling {
public:
    // Ids must be below `size`, and no id there twice. `byte_fallback`: "<0x41>" is a byte.
    Spelling(const StringIds& strings, size_t size, const Alphabet* alphabet, bool byte_fallback);

    // Normal, or unused if no string has the id; control tokens are those that the alphabet cannot
    // spell, and the empty one.
    const std::vector<Kind>& kinds() const { return kinds_; }
    // By their ids; some may be replaced.
    ByteStrings tokens(const std::map<Id, std::string>& replaced) const;

private:
    static constexpr uint32_t kNowhere = UINT32_MAX;

    ByteStrings spelled_;            // in the order of the strings
    std::vector<uint32_t> places_;  // among these, of each id
    std::vector<Kind> kinds_;
};

// The character that stands for each byte, in UTF-8.
using Characters = std::array<std::string, 256>;

// The string of each token: its bytes in these characters, or as they are. Some may be replaced.
ByteStrings spelled(const Vocabulary& vocabulary, const Characters* characters,
                    const std::map<Id, std::string>& replaced);

}  // namespace bpe
