// The character classes and runs that the split patterns share.
#pragma once

#include <array>
#include <cstring>

#include "../base/unicode.h"

namespace bpe::scan {

// The four classes of GPT-2's pattern and its descendants: \p{L}, \p{N}, \s and what is left. Some
// patterns count marks among the letters; those of ASCII are the same for all.
enum class Class : uint8_t { letter, number, space, other };

template <Categories letters = kLetters>
constexpr Class class_of(Properties p) {
    if (p.in(letters)) return Class::letter;
    if (p.in(kNumbers)) return Class::number;
    return p.space() ? Class::space : Class::other;
}

inline constexpr auto kAsciiClass = [] {
    std::array<Class, 128> table{};
    for (uint32_t c = 0; c < 128; ++c) table[c] = class_of(Properties(c));
    return table;
}();

struct Classified {
    Class kind;
    uint32_t length;  // bytes
};

template <Categories letters = kLetters>
Classified classified_at(Bytes text, size_t at) {
    if (text[at] < 0x80) return {kAsciiClass[text[at]], 1};
    const Character c = character_at(text, at);
    return {class_of<letters>(c.properties()), c.length};
}

// Whether the next 8 bytes are ASCII characters that a rule is true of: runs may be long.
template <class Rule>
bool next_8_are(Bytes text, size_t at, Rule&& rule) {
    if (text.size() - at < 8) return false;
    uint64_t bytes;
    std::memcpy(&bytes, text.data() + at, 8);
    if (bytes & 0x8080808080808080) return false;
    bool all = true;
    for (int i = 0; i < 8; ++i) all &= rule(static_cast<uint8_t>(bytes >> 8 * i));
    return all;
}

// The end of the run of characters of one class that starts at `at` (maybe empty).
template <Categories letters = kLetters>
size_t run_end(Bytes text, size_t at, Class kind) {
    while (at < text.size()) {
        if (text[at] < 0x80 && next_8_are(text, at, [&](uint8_t c) { return kAsciiClass[c & 0x7F] == kind; })) {
            at += 8;
            continue;
        }
        const Classified c = classified_at<letters>(text, at);
        if (c.kind != kind) break;
        at += c.length;
    }
    return at;
}

// The end of `\p{N}{1,limit}` at a number.
inline size_t number_end(Bytes text, size_t at, int limit) {
    for (int n = 0; n < limit && at < text.size(); ++n) {
        const Classified c = classified_at(text, at);
        if (c.kind != Class::number) break;
        at += c.length;
    }
    return at;
}

inline bool is_line_end(uint8_t byte) { return byte == '\r' || byte == '\n'; }

// `\s+(?!\S)|\s+` at a run of white space that ends at `end`: all of it at the end of the text,
// otherwise all but the last character, unless that would leave nothing.
inline size_t space_end(Bytes text, size_t at, size_t end) {
    if (end == text.size()) return end;
    const size_t last = previous_start(text, at, end);
    return last > at ? last : end;
}

// `\s*[\r\n]+|\s+(?!\S)|\s+`: up to the last line end of the run, if it has one.
inline size_t line_end_or_space_end(Bytes text, size_t at) {
    const size_t end = run_end(text, at, Class::space);
    for (size_t i = end; i > at; --i)
        if (is_line_end(text[i - 1])) return i;
    return space_end(text, at, end);
}

// Length of the contraction after an apostrophe at `at`, the apostrophe included; 0 if none.
// `'(?i:[sdmt]|ll|ve|re)`, where (?i:s) is also U+017F, the long s.
inline size_t contraction_ignoring_case(Bytes text, size_t at) {
    const size_t left = text.size() - at;
    if (left < 2 || text[at] != '\'') return 0;
    const auto lower = [&](size_t i) -> uint8_t { return text[at + i] | 0x20; };
    const uint8_t a = lower(1);
    if (a == 's' || a == 'd' || a == 'm' || a == 't') return 2;
    if (left < 3) return 0;
    const uint8_t b = lower(2);
    if ((a == 'l' && b == 'l') || (a == 'v' && b == 'e') || (a == 'r' && b == 'e')) return 3;
    return text[at + 1] == 0xC5 && text[at + 2] == 0xBF ? 3 : 0;
}

}  // namespace bpe::scan
