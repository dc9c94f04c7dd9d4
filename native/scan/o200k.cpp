//     [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//     |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//     |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
// and its relatives:
// tekken: no contractions, \p{N} instead of \p{N}{1,3}.
// kimi: [\p{Han}]+ in front of all, [...&&[^\p{Han}]] for the four sets of the words, [\r\n]* for
// [\r\n/]*.
#include "patterns.h"
#include "runs.h"

namespace bpe::scan {
namespace {

// The two overlapping sets of the word rules: "upper" opens a word, "lower" closes it, and what has
// no case (Lm, Lo) and marks are in both.
constexpr Categories kUpper = set_of(Lu, Lt, Lm, Lo) | kMarks;
constexpr Categories kLower = set_of(Ll, Lm, Lo) | kMarks;

// Whether a word may hold a character; `cuts_han` says that Han is not of words.
template <bool cuts_han>
bool in_word(Properties p, Categories set) {
    return p.in(set) && !(cuts_han && p.han());
}

template <bool cuts_han>
size_t run_of(Bytes text, size_t at, Categories set) {
    while (at < text.size()) {
        const Character c = character_at(text, at);
        if (!in_word<cuts_han>(c.properties(), set)) break;
        at += c.length;
    }
    return at;
}

size_t han_end(Bytes text, size_t at) {
    while (at < text.size()) {
        const Character c = character_at(text, at);
        if (!c.properties().han()) break;
        at += c.length;
    }
    return at;
}

// `upper*lower+` at `at`, with the regex's backtracking: if no lower character follows the run of
// upper ones, the run gives back characters until one is lower too. 0 if there is none.
template <bool cuts_han>
size_t upper_lower(Bytes text, size_t at) {
    size_t end = at, after_last_lower = 0;
    while (end < text.size()) {
        const Character c = character_at(text, end);
        if (!in_word<cuts_han>(c.properties(), kUpper)) break;
        end += c.length;
        if (c.properties().in(kLower)) after_last_lower = end;
    }
    const size_t lower_end = run_of<cuts_han>(text, end, kLower);
    return lower_end > end ? lower_end : after_last_lower;
}

// Either word rule without its contraction, 0 if none matches. The optional prefix is tried first;
// marks belong to the prefix class and to both sets, so the rules are tried without it as well.
template <bool cuts_han>
size_t word_end(Bytes text, size_t at) {
    const Character first = character_at(text, at);
    const bool prefix =
        !is_line_end(text[at]) && !first.properties().in(kLetters | kNumbers);
    const size_t body = at + first.length;
    if (prefix)
        if (const size_t end = upper_lower<cuts_han>(text, body)) return end;
    if (const size_t end = upper_lower<cuts_han>(text, at)) return end;
    // `upper+lower*`: no lower character can follow, or the rule above would have matched.
    if (prefix)
        if (const size_t end = run_of<cuts_han>(text, body, kUpper); end > body) return end;
    const size_t end = run_of<cuts_han>(text, at, kUpper);
    return end > at ? end : 0;
}

struct Variant {
    int digits;
    bool contractions, slashes, cuts_han;
};

template <Variant variant>
struct O200k {
    static constexpr MoreMasks kMore{true, variant.cuts_han};

    static size_t piece_end(Bytes text, size_t at) {
        if (variant.cuts_han)
            if (const size_t end = han_end(text, at); end > at) return end;
        if (const size_t end = word_end<variant.cuts_han>(text, at)) {
            if (!variant.contractions || end == text.size()) return end;
            return end + contraction_ignoring_case(text, end);
        }
        const Classified first = classified_at(text, at);
        if (first.kind == Class::number) return number_end(text, at, variant.digits);
        const size_t start = text[at] == ' ' ? at + 1 : at;
        size_t end = run_end(text, start, Class::other);
        if (end == start) return line_end_or_space_end(text, at);
        while (end < text.size() && (is_line_end(text[end]) || (variant.slashes && text[end] == '/')))
            ++end;
        return end;
    }

    static bool find_starts(Window& w, Window::Mask& starts) {
        if (variant.digits > 1 && w.wide_categories & kNumbers) return false;  // counted in characters
        // Han that is no letter may belong to other runs.
        if (variant.cuts_han && w.han_categories & ~set_of(Lm, Lo)) return false;
        const bool han = variant.cuts_han && w.han_categories;
        if (han) remove_han(w);
        if (w.wide_categories & (kMarks | set_of(Lm, Lo)) && !join_marks(w)) return false;
        if (han) add_to_letters(w, w.han);  // where these are no other characters
        Window::Mask closers;
        for (size_t i = 0; i <= w.blocks + 1; ++i)
            closers[i] = w.line_ends[i] | (variant.slashes ? w.slashes[i] : 0);
        const Others others(w, closers);
        std::copy_n(others.starts.begin(), w.blocks + 1, starts.begin());
        if (han) cut_han(w, starts);
        uint64_t suffixes = 0, lower_before = 0;
        for (size_t i = 1; i <= w.blocks; ++i) {
            const uint64_t after_letters = w.after(w.letters, i);
            const uint64_t words = w.letters[i] & ~after_letters & ~prefix_before(w, others, i);
            const uint64_t lower = w.letters[i] & ~w.uppers[i];
            const uint64_t humps = w.uppers[i] & (lower << 1 | lower_before) & ~w.breaks[i];
            lower_before = lower >> 63;
            starts[i] |= (words | humps) & ~w.tails[i];
            if (variant.digits == 1) starts[i] |= w.numbers[i] & ~w.tails[i];
            suffixes |= w.apostrophes[i] & after_letters;
        }
        if (variant.digits > 1) cut_numbers(w, starts);
        cut_spaces(w, others, false, starts);
        if (variant.contractions && suffixes) join_suffixes(w, starts);
        return true;
    }

private:
    static void remove_han(Window& w) {
        for (size_t i = 1; i <= w.blocks; ++i) {
            w.letters[i] &= ~w.han[i];
            w.caseless[i] &= ~w.han[i];
        }
    }

    // Runs of Han are pieces, and words are made of the other letters.
    static void cut_han(Window& w, Window::Mask& starts) {
        for (size_t i = 1; i <= w.blocks; ++i)
            starts[i] |= w.han[i] & ~w.after(w.han, i) & ~w.tails[i];
        remove_han(w);
    }

    // Makes marks that follow a letter letters. False if there are others, which may be a prefix or
    // belong to a run of other characters; and if an upper character follows a caseless one, where
    // the cut depends on what comes behind.
    static bool join_marks(Window& w) {
        for (size_t i = 1; i <= w.blocks; ++i) {
            w.letters[i] |= w.marks[i];
            w.caseless[i] |= w.marks[i];
        }
        for (size_t i = 1; i <= w.blocks; ++i) {
            if (w.marks[i] & ~w.tails[i] & ~w.after(w.letters, i)) return false;
            if (w.uppers[i] & ~w.tails[i] & w.after(w.caseless, i)) return false;
        }
        return true;
    }

    // A contraction right behind a word belongs to it, and what follows starts anew: a second
    // contraction as well.
    static void join_suffixes(const Window& w, Window::Mask& starts) {
        size_t end = 0;  // of the last contraction
        for (size_t i = 1; i <= w.blocks; ++i)
            for_each_bit(w.apostrophes[i] & w.after(w.letters, i), i, [&](size_t at) {
                const size_t length = contraction_ignoring_case(w.text, at);
                if (length == 0 || at == end) return;
                end = at + length;
                for (size_t k = at; k < end; ++k) clear(starts, k);
                if (end < w.size) set(starts, end);
            });
    }
};

}  // namespace

size_t o200k(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<O200k<Variant{3, true, true, false}>>(text, at, by_line, ends);
}

size_t tekken(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<O200k<Variant{1, false, true, false}>>(text, at, by_line, ends);
}

size_t kimi(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<O200k<Variant{3, true, false, true}>>(text, at, by_line, ends);
}

}  // namespace bpe::scan
