//     [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//     |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//     |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
#include "classes.h"
#include "patterns.h"

namespace bpe::scan {
namespace {

// The two overlapping sets of the word rules: "upper" opens a word, "lower" closes it, and what has
// no case (Lm, Lo) and marks are in both.
constexpr Categories kUpper = set_of(Lu, Lt, Lm, Lo) | kMarks;
constexpr Categories kLower = set_of(Ll, Lm, Lo) | kMarks;

size_t run_of(Bytes text, size_t at, Categories set) {
    while (at < text.size()) {
        const Character c = character_at(text, at);
        if (!c.properties().in(set)) break;
        at += c.length;
    }
    return at;
}

// `upper*lower+` at `at`, with the regex's backtracking: if no lower character follows the run of
// upper ones, the run gives back characters until one is lower too. 0 if there is none.
size_t upper_lower(Bytes text, size_t at) {
    size_t end = at, after_last_lower = 0;
    while (end < text.size()) {
        const Character c = character_at(text, end);
        if (!c.properties().in(kUpper)) break;
        end += c.length;
        if (c.properties().in(kLower)) after_last_lower = end;
    }
    const size_t lower_end = run_of(text, end, kLower);
    return lower_end > end ? lower_end : after_last_lower;
}

// Either word rule without its contraction, 0 if none matches. The optional prefix is tried first;
// marks belong to the prefix class and to both sets, so the rules are tried without it as well.
size_t word_end(Bytes text, size_t at) {
    const Character first = character_at(text, at);
    const bool prefix =
        !is_line_end(text[at]) && !first.properties().in(kLetters | kNumbers);
    const size_t body = at + first.length;
    if (prefix)
        if (const size_t end = upper_lower(text, body)) return end;
    if (const size_t end = upper_lower(text, at)) return end;
    // `upper+lower*`: no lower character can follow, or the rule above would have matched.
    if (prefix)
        if (const size_t end = run_of(text, body, kUpper); end > body) return end;
    const size_t end = run_of(text, at, kUpper);
    return end > at ? end : 0;
}

size_t piece_end(Bytes text, size_t at) {
    if (const size_t end = word_end(text, at))
        return end + (end < text.size() ? contraction_ignoring_case(text, end) : 0);
    const Classified first = classified_at(text, at);
    if (first.kind == Class::number) return number_end(text, at, 3);
    const size_t start = text[at] == ' ' ? at + 1 : at;
    size_t end = run_end(text, start, Class::other);
    if (end == start) return line_end_or_space_end(text, at);
    while (end < text.size() && (is_line_end(text[end]) || text[end] == '/')) ++end;
    return end;
}

}  // namespace

size_t o200k(Bytes text, size_t& at, size_t* ends, size_t capacity) {
    return scan_by_piece<piece_end>(text, at, ends, capacity);
}

}  // namespace bpe::scan
