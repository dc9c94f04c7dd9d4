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
    std::array<uint32_t, 64> kinds{};  // by category, then the same for white space
    for (int category = 0; category < 32; ++category) {
        const Categories set = Categories{1} << category;
        kinds[category] = kFourTimes * (set & set_of(Lu, Lt)   ? kUpper
                                        : set & set_of(Ll)     ? kLower
                                        : set & set_of(Lm, Lo) ? kCaseless
                                        : set & kNumbers       ? kNumber
                                        : set & kMarks         ? kMark
                                                               : kOther);
        kinds[32 + category] = kFourTimes * kSpace;
    }
    return kinds;
}();

// Well-formed characters of two and three bytes.
inline Character character_of_2(const uint8_t* p) { return {(p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu), 2}; }
inline Character character_of_3(const uint8_t* p) {
    return {(p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu), 3};
}
// The well-formed character beyond ASCII at `p`, where four bytes can be read: without a branch, since in
// many texts long and short ones are mixed.
inline Character well_formed_at(const uint8_t* p) {
    struct Form {
        uint32_t shift, mask, length;
    };
    static constexpr Form kForms[] = {{12, 0x7FF, 2}, {12, 0x7FF, 2}, {6, 0xFFFF, 3}, {0, 0x1FFFFF, 4}};
    const Form& form = kForms[p[0] >> 4 & 3];
    const uint32_t all = p[0] << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F);
    return {all >> form.shift & form.mask, form.length};
}

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

    // Enters the block at `begin` whose bytes beyond ASCII are `wide`; `scripts` says whether those matter.
    // `firsts` are the first bytes of its characters if all but the last are known to be well-formed, and
    // kBehind bytes behind the block can be read; otherwise none. Returns them in any case.
    static constexpr size_t kBehind = 4;
    template <bool scripts>
    uint64_t enter(Bytes text, size_t begin, uint64_t wide, uint64_t firsts) {
        uint64_t left = wide & ~begun;
        if (firsts) {
            left = wide & ~uint64_t{0} << (63 - std::countl_zero(firsts));
            enter_well_formed<scripts>(text.data() + begin, firsts & ~left, wide & ~firsts & ~begun);
        }
        size_t end = 0;
        for (; left; left = end < 64 ? left & ~uint64_t{0} << end : 0) {
            const size_t bit = std::countr_zero(left);
            const Character c = character_at(text, begin + bit);
            enter<scripts>(c, bit);
            firsts |= uint64_t{1} << bit;
            end = bit + c.length;
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
    // The characters that begin at `firsts`, given all bytes that are not the first of one. Where they have
    // one length, as in most blocks, decoding is shorter.
    template <bool scripts>
    void enter_well_formed(const uint8_t* p, uint64_t firsts, uint64_t tails) {
        const bool some_of_3 = firsts << 2 & tails, some_of_2 = firsts << 2 & ~tails;
        const bool some_of_4 = firsts << 3 & tails;
        const auto enter_all = [&](auto&& decode) {
            for (; firsts; firsts &= firsts - 1) {
                const size_t bit = std::countr_zero(firsts);
                enter<scripts>(decode(p + bit), bit);
            }
        };
        if (!some_of_3)
            enter_all(character_of_2);
        else if (!some_of_2 && !some_of_4)
            enter_all(character_of_3);
        else
            enter_all(well_formed_at);
    }

    template <bool scripts>
    void enter(Character c, size_t bit) {
        const Properties properties = c.properties();
        const Categories category = set_of(properties.category());
        std::memcpy(kinds + bit, &kWideKinds[properties.category_and_space()], 4);
        all |= category;
        if (scripts && c.code_point >= kFirstOfScripts)
            enter_script(script_of(c), category, bit, bit + c.length);
    }

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
