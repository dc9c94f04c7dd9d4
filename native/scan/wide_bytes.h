// The classes of characters beyond ASCII, as a number for each of their bytes.
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "../base/unicode.h"

namespace bpe::scan {

// What the masks tell of a character beyond ASCII, as a number.
enum WideKind : uint8_t { kOther, kUpper, kLower, kCaseless, kNumber, kMark, kSpace };
enum WideScript : uint8_t { kNoScript, kHan, kHanAndKanaHan, kKanaHan };
inline constexpr uint32_t kFirstOfScripts = 0x2E80;  // the first character of any

// Four times, as many bytes as a character may have.
inline constexpr uint32_t kFourTimes = 0x01010101;
inline constexpr auto kWideKinds = [] {
    std::array<uint32_t, 32> kinds{};  // by category
    for (int category = 0; category < 32; ++category) {
        const Categories set = Categories{1} << category;
        kinds[category] = kFourTimes * (set & set_of(Lu, Lt)   ? kUpper
                                        : set & set_of(Ll)     ? kLower
                                        : set & set_of(Lm, Lo) ? kCaseless
                                        : set & kNumbers       ? kNumber
                                        : set & kMarks         ? kMark
                                                               : kOther);
    }
    return kinds;
}();

inline WideScript script_of(Character c) {
    const bool kana_han =
        c.code_point - 0x4E00 <= 0x9FA5 - 0x4E00 || c.code_point - 0x3040 <= 0x30FF - 0x3040;
    return c.properties().han() ? kana_han ? kHanAndKanaHan : kHan : kana_han ? kKanaHan : kNoScript;
}

// The numbers of the bytes of a block, those beyond ASCII, and of what its last character has in the
// next one.
struct WideBytes {
    alignas(64) uint8_t kinds[64 + 4] = {};
    alignas(64) uint8_t scripts[64 + 4] = {};
    uint64_t begun = 0;  // bytes of the block that belong to a character of the one before
    // The categories of all characters so far, and of those in a script mask.
    Categories all = 0, of_han = 0, of_kana_han = 0;

    // Enters the block at `begin` whose bytes beyond ASCII are `wide`. Returns which of them are the
    // first of a character.
    uint64_t enter(Bytes text, size_t begin, uint64_t wide) {
        uint64_t firsts = 0;
        size_t end = 0;
        for (uint64_t left = wide & ~begun; left; left = end < 64 ? left & ~uint64_t{0} << end : 0) {
            const size_t bit = std::countr_zero(left);
            const Character c = character_at(text, begin + bit);
            const Properties properties = c.properties();
            const Categories category = set_of(properties.category());
            const uint32_t kind = properties.space() ? kFourTimes * kSpace : kWideKinds[properties.category()];
            std::memcpy(kinds + bit, &kind, 4);
            firsts |= uint64_t{1} << bit;
            end = bit + c.length;
            all |= category;
            if (c.code_point >= kFirstOfScripts) enter_script(script_of(c), category, bit, end);
        }
        begun = end > 64 ? (uint64_t{1} << (end - 64)) - 1 : 0;
        return firsts;
    }
    // To the next block. The kinds of one are all written anew, the scripts are not.
    void go_on() {
        std::memcpy(kinds, kinds + 64, 4);
        if (!(of_han | of_kana_han)) return;
        std::memcpy(scripts, scripts + 64, 4);
        std::memset(scripts + 4, kNoScript, 64);
    }

private:
    // A character with a script has three or four bytes; no others are written.
    void enter_script(WideScript script, Categories category, size_t bit, size_t end) {
        if (script == kNoScript) return;
        const uint16_t twice = 0x0101 * script;
        std::memcpy(scripts + bit, &twice, 2);
        std::memcpy(scripts + end - 2, &twice, 2);
        of_han |= script <= kHanAndKanaHan ? category : 0;
        of_kana_han |= script >= kHanAndKanaHan ? category : 0;
    }
};

}  // namespace bpe::scan
