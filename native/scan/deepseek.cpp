// deepseek_v3, three splits in sequence, each on the pieces of the last:
//     \p{N}{1,3}
//     [一-龥぀-ゟ゠-ヿ]+
//     [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
//     | ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// So a segment (a run of numbers, of kana and Han, or of what is between them) is a text of its own
// for the last regex, which leaves runs of what is neither letter, mark, punctuation, symbol nor
// white space as pieces.
#include "patterns.h"
#include "runs.h"

namespace bpe::scan {
namespace {

constexpr Categories kWord = kLetters | kMarks;
constexpr Categories kSigns = set_of(Pc, Pd, Ps, Pe, Pi, Pf, Po, Sm, Sc, Sk, So);
constexpr Categories kRest = set_of(Cc, Cf, Cs, Co, Cn);  // Cc less white space

constexpr bool is_kana_or_han(uint32_t c) {
    return c - 0x4E00 <= 0x9FA5 - 0x4E00 || c - 0x3040 <= 0x30FF - 0x3040;
}

constexpr bool is_ascii_letter(uint8_t byte) {
    return static_cast<uint8_t>((byte | 0x20) - 'a') < 26;
}

enum class Kind : uint8_t { word, sign, space, rest, end };

// What stands at a place of a segment; `Kind::end` if the segment ends there.
struct Place {
    Kind kind;
    uint32_t length;
};

Place place_at(Bytes text, size_t at, bool kana_han) {
    if (at == text.size()) return {Kind::end, 0};
    const Character c = character_at(text, at);
    const Properties p = c.properties();
    if (p.in(kNumbers) || is_kana_or_han(c.code_point) != kana_han) return {Kind::end, 0};
    if (p.in(kWord)) return {Kind::word, c.length};
    if (p.space()) return {Kind::space, c.length};
    return {p.in(kSigns) ? Kind::sign : Kind::rest, c.length};
}

size_t run_of(Bytes text, size_t at, bool kana_han, Kind kind) {
    for (Place next; (next = place_at(text, at, kana_han)).kind == kind;) at += next.length;
    return at;
}

struct Deepseek {
    static constexpr MoreMasks kMore{true, true};

    static size_t piece_end(Bytes text, size_t at) {
        const Character first = character_at(text, at);
        if (first.properties().in(kNumbers)) return number_end(text, at, 3);
        const bool kana_han = is_kana_or_han(first.code_point);
        const Place place = place_at(text, at, kana_han);
        const size_t next = at + place.length;
        if (place.kind == Kind::word) return run_of(text, next, kana_han, Kind::word);
        if (place.kind == Kind::sign && text[at] < 0x80) {
            size_t end = next;
            while (end < text.size() && is_ascii_letter(text[end])) ++end;
            if (end > next) return end;
        }
        if (place.kind != Kind::sign && !is_line_end(text[at])) {
            const size_t end = run_of(text, next, kana_han, Kind::word);
            if (end > next) return end;
        }
        if (place.kind == Kind::rest) return rest_end(text, next, kana_han);
        const size_t start = text[at] == ' ' ? next : at;
        size_t end = run_of(text, start, kana_han, Kind::sign);
        if (end == start) return space_piece_end(text, at);
        while (!kana_han && end < text.size() && is_line_end(text[end])) ++end;
        return end;
    }

    static bool find_starts(Window& w, Window::Mask& starts) {
        if (w.wide_categories & (kNumbers | kRest) || any_controls(w)) return false;
        break_around(w, w.numbers);
        if (w.wide_categories) {
            add_to_letters(w, w.marks);
            if (w.kana_han_categories) break_around(w, w.kana_han);
        }
        const Others others(w, w.line_ends);
        // Letters behind a sign of ASCII that they join: letters of ASCII alone.
        uint64_t joined_before = 0;
        for (size_t i = 1; i <= w.blocks; ++i) {
            const uint64_t letters = w.letters[i] & ~w.tails[i], ascii = w.letters[i] & ~w.wide[i];
            const uint64_t spaces = w.spaces[i] & ~w.line_ends[i];
            const uint64_t spaces_before = w.spaces[i - 1] & ~w.line_ends[i - 1];
            const uint64_t after_spaces = (spaces << 1 | spaces_before >> 63) & ~w.breaks[i];
            const uint64_t open = ascii & w.after(others.prefixes, i) & ~after_wide(w, i);
            const uint64_t through = ascii & ~w.breaks[i];
            const uint64_t joined = carry_up(open | (joined_before & through), through);
            const uint64_t behind = (joined << 1 | joined_before) & w.wide[i] & ~w.breaks[i];
            joined_before = joined >> 63;
            starts[i] =
                others.starts[i] | (letters & ((~w.after(w.letters, i) & ~after_spaces & ~open) | behind));
        }
        cut_numbers(w, starts);
        cut_spaces(w, others, false, starts);
        return true;
    }

private:
    // Characters that no alternative matches, but for the last one if a word follows it.
    static size_t rest_end(Bytes text, size_t at, bool kana_han) {
        for (Place next; (next = place_at(text, at, kana_han)).kind == Kind::rest; at += next.length)
            if (place_at(text, at + next.length, kana_han).kind == Kind::word) break;
        return at;
    }

    // White space is in no segment of kana and Han, and every segment ends like a text.
    static size_t space_piece_end(Bytes text, size_t at) {
        const size_t end = run_of(text, at, false, Kind::space);
        const bool ends_segment = place_at(text, end, false).kind == Kind::end;
        return line_end_or_space_end(ends_segment ? text.first(end) : text, at);
    }

    static bool any_controls(const Window& w) {
        uint64_t any = 0;
        for (size_t i = 1; i <= w.blocks; ++i) any |= w.controls[i];
        return any;
    }

    static uint64_t after_wide(const Window& w, size_t i) {
        return w.wide[i] << 1 | (i > 1 ? w.wide[i - 1] >> 63 : 0);
    }
};

}  // namespace

size_t deepseek_v3(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<Deepseek>(text, at, by_line, ends);
}

}  // namespace bpe::scan
