// Tie rules: the order of pairs with equal counts.
//
// A rule makes a key for a pair when it is queued and says which of two keys is merged first. Keys
// may only get worse while a pair waits, and only when its count falls: then a queue that re-queues
// pairs with outdated counts always pops the right one.
#pragma once

#include <cstring>

#include "words.h"

namespace bpe {

// What a rule may look at.
struct TieContext {
    const ByteStrings& tokens;  // bytes of each id
    const Words& words;
};

struct LowestIds {
    using Key = uint64_t;
    struct Cursor {};

    static Key key(TieContext, Id left, Id right, std::span<const Id>, Cursor&) {
        return uint64_t{left} << 32 | right;
    }
    static bool first(TieContext, Key a, Key b) { return a < b; }
};

struct GreatestBytes {
    using Key = uint64_t;  // the two ids: different tokens are different strings
    struct Cursor {};

    static Key key(TieContext, Id left, Id right, std::span<const Id>, Cursor&) {
        return uint64_t{left} << 32 | right;
    }
    static bool first(TieContext context, Key a, Key b) {
        if (const int order = compare(context, a >> 32, b >> 32)) return order > 0;
        return compare(context, static_cast<Id>(a), static_cast<Id>(b)) > 0;
    }

private:
    static int compare(TieContext context, Id a, Id b) {
        if (a == b) return 0;
        const Bytes x = context.tokens[a], y = context.tokens[b];
        const int order = std::memcmp(x.data(), y.data(), std::min(x.size(), y.size()));
        return order ? order : (x.size() < y.size() ? -1 : 1);
    }
};

struct FirstOccurrence {
    struct Key {
        Id word;
        uint64_t offset;  // bytes from the start of the word to the pair
    };
    // Words of a pair's list before this one no longer hold the pair.
    struct Cursor {
        size_t word = 0;
    };

    static Key key(TieContext context, Id left, Id right, std::span<const Id> words,
                   Cursor& cursor) {
        for (; cursor.word < words.size(); ++cursor.word) {
            uint64_t offset = 0;
            for (const Id* s = context.words[words[cursor.word]]; *s != Words::kEnd; ++s) {
                if (s[0] == left && s[1] == right) return {words[cursor.word], offset};
                offset += context.tokens[*s].size();
            }
        }
        return {kNoId, 0};
    }
    static bool first(TieContext, Key a, Key b) {
        return a.word != b.word ? a.word < b.word : a.offset < b.offset;
    }
};

}  // namespace bpe
