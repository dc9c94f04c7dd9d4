// falcon: Punctuation(behavior="contiguous"), ByteLevel(use_regex=true), Digits(individual_digits=
// false), Split("[0-9][0-9][0-9]", "isolated") of tokenizers, each on the pieces of the last.
//
// Runs of punctuation and what is between them are texts of their own for GPT-2's pattern. The steps
// behind ByteLevel see a character for each byte: the digits and ² ³ ¹ ¼ ½ ¾ are numbers, so that
// pieces may begin and end within a character.
#include <algorithm>

#include "patterns.h"
#include "window.h"

namespace bpe::scan {
namespace {

struct Range {
    uint32_t first, last;
};

// Punctuation to tokenizers is that of Unicode 8: these ranges hold what is none there, and two
// characters have become something else since.
constexpr Range kLaterPunctuation[] = {
    {0x061D, 0x061D},   {0x09FD, 0x0A76},   {0x0C77, 0x0C84},   {0x1B4E, 0x1B4F},
    {0x1B7D, 0x1B7F},   {0x2E43, 0x2E5D},   {0x10D6E, 0x10F89}, {0x113D4, 0x1145D},
    {0x11660, 0x116B9}, {0x1183B, 0x11FFF}, {0x12FF1, 0x12FF2}, {0x16D6D, 0x16FE2},
    {0x1E5FF, 0x1E95F},
};
constexpr uint32_t kFormerPunctuation[] = {0x166D, 0x111C9};
constexpr Categories kPunctuation = set_of(Pc, Pd, Ps, Pe, Pi, Pf, Po);

enum class Kind : uint8_t { punctuation, letter, number, space, other };

constexpr Kind kind_of(uint32_t c) {
    const Properties p(c);
    if (c < 0x80 && c > ' ' && c < 0x7F && class_of(p) == Class::other) return Kind::punctuation;
    const auto holds = [c](Range r) { return r.first <= c && c <= r.last; };
    if (std::ranges::find(kFormerPunctuation, c) != std::end(kFormerPunctuation) ||
        (p.in(kPunctuation) && std::ranges::none_of(kLaterPunctuation, holds)))
        return Kind::punctuation;
    switch (class_of(p)) {
        case Class::letter: return Kind::letter;
        case Class::number: return Kind::number;
        case Class::space: return Kind::space;
        default: return Kind::other;
    }
}

constexpr auto kAsciiKind = [] {
    std::array<Kind, 128> table{};
    for (uint32_t c = 0; c < 128; ++c) table[c] = kind_of(c);
    return table;
}();

struct Place {
    Kind kind;
    uint32_t length;
};

Place place_at(Bytes text, size_t at) {
    if (text[at] < 0x80) return {kAsciiKind[text[at]], 1};
    const Character c = character_at(text, at);
    return {kind_of(c.code_point), c.length};
}

// The end of a run, or of its first characters that reach `limit`.
size_t run_of(Bytes text, size_t at, Kind kind, size_t limit) {
    while (at < std::min(limit, text.size())) {
        const Place place = place_at(text, at);
        if (place.kind != kind) break;
        at += place.length;
    }
    return at;
}

constexpr bool is_digit(uint8_t byte) { return static_cast<uint8_t>(byte - '0') < 10; }

// Whether the character that ByteLevel has for a byte is a number.
constexpr bool is_number(uint8_t byte) {
    return is_digit(byte) || byte == 0xB2 || byte == 0xB3 || byte == 0xB9 ||
           (0xBC <= byte && byte <= 0xBE);
}

struct Falcon {
    // As much of the first two steps' piece as it takes to find the end of this one.
    static size_t piece_end(Bytes text, size_t at) {
        for (size_t length = 32;; length *= 2) {
            const size_t limit = at + length;
            const size_t known = split_end(text, at, limit);
            const size_t end = bytes_end(text.first(known), at);
            if (end < known || known < limit) return end;
        }
    }

private:
    // What the last two steps make of the rest of a piece.
    static size_t bytes_end(Bytes piece, size_t at) {
        size_t end = at;
        while (end < piece.size() && is_number(piece[end]) == is_number(piece[at])) {
            if (is_number(piece[at]) && end + 3 <= piece.size() &&
                std::ranges::all_of(piece.subspan(end, 3), is_digit))
                return end == at ? end + 3 : end;
            ++end;
        }
        return end;
    }

    // The end of the piece that the first two steps make, or a place in it from `limit` on; `at` may
    // be within it.
    static size_t split_end(Bytes text, size_t at, size_t limit) {
        const size_t begin = first_byte(text, at);
        const size_t start = text[at] == ' ' && at + 1 < text.size() ? at + 1 : begin;
        const Place place = place_at(text, start);
        const bool joins = start <= at || place.kind != Kind::punctuation;
        if (joins && place.kind != Kind::space)
            return run_of(text, start + place.length, place.kind, limit);
        const size_t end = run_of(text, at, Kind::space, limit);
        if (end >= limit) return end;
        if (end < text.size() && place_at(text, end).kind == Kind::punctuation) return end;
        return space_end(text, at, end);
    }

    // The first byte of the character that a byte belongs to.
    static size_t first_byte(Bytes text, size_t at) {
        if ((text[at] & 0xC0) != 0x80) return at;
        for (size_t back = 1; back <= 3 && back <= at; ++back)
            if (character_at(text, at - back).length > back) return at - back;
        return at;
    }
};

}  // namespace

size_t falcon(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_piece(text, at, by_line, ends, Falcon::piece_end);
}

}  // namespace bpe::scan
