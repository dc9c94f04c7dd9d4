// A stretch of text as bit masks, one bit for each byte, and what the split patterns do with them.
//
// Every byte of a character carries its character's class, so that neighbouring bytes are
// neighbouring characters; `tails` tells the bytes that are not the first of theirs. A window begins
// at the start of a piece. The patterns never look behind such a place: nothing is carried from
// window to window.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "classes.h"
#include "scanner.h"

namespace bpe::scan {

struct Window {
    static constexpr size_t kBlocks = 16;
    static constexpr size_t kBytes = 64 * kBlocks;
    // Block i is at place i + 1, with an empty one on either side.
    using Mask = std::array<uint64_t, kBlocks + 2>;

    Bytes text;     // from the window's begin to the end of the text or unit, at least `size` bytes
    size_t size;    // bytes of the window
    size_t blocks;  // the last one may be filled up with spaces
    Mask letters, numbers, spaces;          // \p{L}, \p{N}, \s
    Mask blanks, newlines, line_ends;       // U+0020; \n; \r and \n
    Mask apostrophes, slashes;
    Mask uppers, caseless, marks;           // Lu and Lt; Lm and Lo; \p{M}
    Mask han;                               // the script Han; like the next, only if asked for
    Mask kana_han;                          // Hiragana, Katakana, U+4E00-U+9FA5; see deepseek.cpp
    Mask controls;                          // of ASCII, but for white space
    Mask wide, tails;                       // bytes from 0x80 on; all but the first of a character
    Mask breaks;                            // begins of units, in front of which all text ends
    // Of the characters beyond ASCII: their categories as a set, the same of those in a script mask,
    // and whether there is white space.
    Categories wide_categories, han_categories, kana_han_categories;
    bool wide_spaces;

    bool at_end() const { return size == text.size(); }

    // A mask moved to the next byte, within a unit.
    uint64_t after(const Mask& mask, size_t i) const {
        return (mask[i] << 1 | mask[i - 1] >> 63) & ~breaks[i];
    }
    // Bytes in front of white space, of the end of the text or of a unit.
    uint64_t before_space(size_t i) const {
        return (spaces[i] | breaks[i]) >> 1 | (spaces[i + 1] | breaks[i + 1]) << 63;
    }
    uint64_t others(size_t i) const { return ~(letters[i] | numbers[i] | spaces[i]); }
};

inline void set(Window::Mask& mask, size_t at) { mask[at / 64 + 1] |= uint64_t{1} << (at % 64); }
inline void clear(Window::Mask& mask, size_t at) {
    mask[at / 64 + 1] &= ~(uint64_t{1} << (at % 64));
}

inline void add_to_letters(Window& w, const Window::Mask& mask) {
    for (size_t i = 1; i <= w.blocks; ++i) w.letters[i] |= mask[i];
}

// Makes texts of their own of the runs in a mask and of what is between them.
inline void break_around(Window& w, const Window::Mask& mask) {
    for (size_t i = 1; i <= w.blocks; ++i)
        w.breaks[i] |= mask[i] ^ (mask[i] << 1 | mask[i - 1] >> 63);
}

// Calls `visit` with the place of every set bit of a block.
template <class Visit>
void for_each_bit(uint64_t bits, size_t block, Visit&& visit) {
    for (; bits; bits &= bits - 1) visit(64 * (block - 1) + std::countr_zero(bits));
}

// Spreads bits, all of them in `through`, to higher ones as long as those are in it: as a carry.
constexpr uint64_t carry_up(uint64_t bits, uint64_t through) {
    return (through & ~(through + bits)) | bits;
}
// Spreads bits to lower ones as long as those are in `through`.
constexpr uint64_t spread_down(uint64_t bits, uint64_t through) {
    for (unsigned step = 1; step < 64; step *= 2) {
        bits |= through & bits >> step;
        through &= through >> step;
    }
    return bits;
}

// Moves bits on the last byte of a character to its first.
inline void to_first_bytes(const Window& w, Window::Mask& mask) {
    for (int step = 0; step < 3; ++step)
        for (size_t i = 1; i <= w.blocks; ++i) {
            const uint64_t next = mask[i + 1] & w.tails[i + 1];
            mask[i] = (mask[i] & ~w.tails[i]) | (mask[i] & w.tails[i]) >> 1 | next << 63;
        }
}

// Masks that few patterns look at: those of `classify_more`, see `Kernels`, and scripts.
struct MoreMasks {
    bool ascii = false, scripts = false;
};

// Fills a window with the text at `at`, the start of a piece; `by_line` makes units of lines.
void fill_window(Window& window, Bytes text, size_t at, bool by_line, MoreMasks more);

// Writes the ends of the window's pieces, `at` plus their offsets, given their starts; returns how
// many there are. Pieces that the text behind the window may change are left out. Up to 7 places
// behind the last one may be overwritten.
size_t write_ends(const Window& window, Window::Mask& starts, size_t at, size_t* ends);

// The scan function of a pattern: a struct with `piece_end(text, at)`, the rule itself, and
// `find_starts(window, starts)`, the same for a whole window; false if the masks cannot tell. It has
// `kMore` if it looks at the masks that few patterns do.
template <class Pattern>
size_t scan_by_window(Bytes text, size_t& at, bool by_line, size_t* ends) {
    size_t count = 0, unit_end = by_line ? at : text.size();
    const auto next_piece = [&] {
        if (at >= unit_end) unit_end = line_end(text, at);
        ends[count++] = at = Pattern::piece_end(text.first(unit_end), at);
    };
    constexpr MoreMasks more = [] {
        if constexpr (requires { Pattern::kMore; }) return Pattern::kMore;
        return MoreMasks{};
    }();
    Window window;
    Window::Mask starts;
    while (at < text.size() && count + Window::kBytes + 8 <= kScanCapacity) {
        fill_window(window, text, at, by_line, more);
        if (!Pattern::find_starts(window, starts)) {
            for (const size_t end = at + window.size; at < end;) next_piece();
        } else if (const size_t found = write_ends(window, starts, at, ends + count)) {
            count += found;
            at = ends[count - 1];
        } else {
            next_piece();
        }
    }
    return count;
}

}  // namespace bpe::scan
