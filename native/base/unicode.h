// Properties of code points (Unicode 16.0) and decoding of UTF-8, one character at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace bpe {

using Bytes = std::span<const uint8_t>;

inline Bytes as_bytes(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline constexpr const char* kUnicodeVersion = "16.0.0";

namespace unicode {
#include "unicode.inc"
}
using enum unicode::Category;

// Sets of categories, as bit masks.
using Categories = uint32_t;
constexpr Categories set_of(auto... category) { return ((1u << category) | ...); }
inline constexpr Categories kLetters = set_of(Lu, Ll, Lt, Lm, Lo);
inline constexpr Categories kMarks = set_of(Mn, Mc, Me);
inline constexpr Categories kNumbers = set_of(Nd, Nl, No);

// What the table knows of a code point. Bytes that are no UTF-8 count as unassigned.
class Properties {
public:
    constexpr explicit Properties(uint32_t code_point)
        : bits_(unicode::kProperties[unicode::kBlockOf[code_point >> 7]][code_point & 127]) {}

    constexpr uint8_t category() const { return bits_ & 31; }
    constexpr bool in(Categories set) const { return (set >> category()) & 1; }
    // The White_Space property, which is `\s` of Oniguruma, Rust's regex and Python's regex.
    constexpr bool space() const { return bits_ & 32; }
    // Both in one number, below 64.
    constexpr uint8_t category_and_space() const { return bits_ & 63; }
    // `\w` as UTS #18 defines it.
    constexpr bool word() const { return bits_ & 64; }
    // The script Han.
    constexpr bool han() const { return bits_ & 128; }

private:
    uint8_t bits_;
};

// One character: its code point and its length in bytes. A byte that belongs to no well-formed
// sequence is a character of its own with the code point kInvalid (a noncharacter: category Cn).
struct Character {
    uint32_t code_point;
    uint32_t length;

    Properties properties() const { return Properties(code_point); }
};

inline constexpr uint32_t kInvalid = 0x10FFFF;

// The character at `at`, which must be less than the size. Well-formedness is table 3-7 of the
// Unicode standard: no overlong form, no surrogate, nothing above U+10FFFF.
inline Character character_at(Bytes text, size_t at) {
    const uint8_t* p = text.data() + at;
    const size_t left = text.size() - at;
    const uint8_t a = p[0];
    if (a < 0x80) return {a, 1};
    const auto tail = [&](size_t i) { return i < left && (p[i] & 0xC0) == 0x80; };
    if (a < 0xC2 || a > 0xF4 || !tail(1)) return {kInvalid, 1};
    if (a < 0xE0) return {(a & 0x1Fu) << 6 | (p[1] & 0x3Fu), 2};
    if (!tail(2)) return {kInvalid, 1};
    if (a < 0xF0) {
        const uint32_t c = (a & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        if (c < 0x800 || (c >= 0xD800 && c < 0xE000)) return {kInvalid, 1};
        return {c, 3};
    }
    if (!tail(3)) return {kInvalid, 1};
    const uint32_t c =
        (a & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    if (c < 0x10000 || c > 0x10FFFF) return {kInvalid, 1};
    return {c, 4};
}

// The start of the character that ends right before `at`, which must be greater than `from`.
// Longest first: a continuation byte alone would pass for a character of its own.
inline size_t previous_start(Bytes text, size_t from, size_t at) {
    for (size_t back = 4; back >= 2; --back)
        if (back <= at - from && character_at(text, at - back).length == back) return at - back;
    return at - 1;
}

// The number of ASCII bytes at the begin of a text.
inline size_t ascii_length(Bytes text) {
    size_t at = 0;
    for (; at + 64 <= text.size(); at += 64) {
        uint64_t high = 0, word;
        for (size_t i = 0; i < 64; i += 8) {
            std::memcpy(&word, text.data() + at + i, 8);
            high |= word;
        }
        if (high & 0x8080808080808080) break;
    }
    while (at < text.size() && text[at] < 0x80) ++at;
    return at;
}

// Offset of the first byte that is not well-formed UTF-8, or the size if there is none.
inline size_t first_invalid(Bytes text) {
    size_t at = 0;
    while (at < text.size()) {
        if (text[at] < 0x80) {
            at += ascii_length(text.subspan(at));
            continue;
        }
        const Character c = character_at(text, at);
        if (c.length == 1) return at;
        at += c.length;
    }
    return at;
}

}  // namespace bpe
