// The cl100k family, four patterns that differ in three places.
//
// cl100k, tiktoken's today:
//     '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
//     |\s++$|\s*[\r\n]|\s+(?!\S)|\s
// llama3, and cl100k in the tokenizer.json files of Hugging Face: no \s++$ in front of the line ends,
// so white space that ends the text is still cut after its last line end:
//     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//     |\s*[\r\n]+|\s+(?!\S)|\s+
// qwen2: llama3 with \p{N} instead of \p{N}{1,3}.
// qwen3.5: qwen2 with marks among the letters of words:
//     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*
//     |\s*[\r\n]+|\s+(?!\S)|\s+
// where it makes no difference that a mark may be the prefix of a word, too.
#include "patterns.h"
#include "runs.h"

namespace bpe::scan {
namespace {

// What stands in front of the rules for white space; 0 if none of it matches.
template <int digits, Categories letters>
size_t word_end(Bytes text, size_t at) {
    if (const size_t length = contraction_ignoring_case(text, at)) return at + length;
    const Classified first = classified_at<letters>(text, at);
    if (first.kind == Class::letter) return run_end<letters>(text, at, Class::letter);
    if (first.kind == Class::number) return number_end(text, at, digits);
    const size_t next = at + first.length;
    if (!is_line_end(text[at])) {
        const size_t end = run_end<letters>(text, next, Class::letter);
        if (end > next) return end;
    }
    const size_t start = text[at] == ' ' ? next : at;
    size_t end = run_end<letters>(text, start, Class::other);
    if (end == start) return 0;
    while (end < text.size() && is_line_end(text[end])) ++end;
    return end;
}

template <int digits, bool keeps_final_space, Categories letters = kLetters>
struct Cl100k {
    static size_t piece_end(Bytes text, size_t at) {
        if (const size_t end = word_end<digits, letters>(text, at)) return end;
        if (keeps_final_space && run_end(text, at, Class::space) == text.size()) return text.size();
        return line_end_or_space_end(text, at);
    }

    static bool find_starts(Window& w, Window::Mask& starts) {
        if (w.wide_categories & letters & kMarks) add_to_letters(w, w.marks);
        if (digits > 1 && w.wide_categories & kNumbers) return false;  // counted in characters
        const Others others(w, w.line_ends);
        uint64_t apostrophes = 0;
        for (size_t i = 1; i <= w.blocks; ++i) {
            const uint64_t words = w.letters[i] & ~w.after(w.letters, i) & ~prefix_before(w, others, i);
            const uint64_t numbers = digits == 1 ? w.numbers[i] : 0;
            starts[i] = others.starts[i] | ((words | numbers) & ~w.tails[i]);
            apostrophes |= w.apostrophes[i] & others.starts[i];
        }
        if (digits > 1) cut_numbers(w, starts);
        cut_spaces(w, others, keeps_final_space, starts);
        if (apostrophes) cut_contractions(w, others.starts, starts);
        return true;
    }

private:
    // A contraction starts with an apostrophe that starts a piece, and what follows starts anew.
    // The letter after the apostrophe has no start of its own: the apostrophe is its prefix.
    static void cut_contractions(const Window& w, const Window::Mask& others, Window::Mask& starts) {
        for (size_t i = 1; i <= w.blocks; ++i)
            for_each_bit(w.apostrophes[i] & others[i], i, [&](size_t at) {
                const size_t length = contraction_ignoring_case(w.text, at);
                if (length && at + length < w.size) set(starts, at + length);
            });
    }
};

}  // namespace

size_t cl100k(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<Cl100k<3, true>>(text, at, by_line, ends);
}

size_t llama3(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<Cl100k<3, false>>(text, at, by_line, ends);
}

size_t qwen2(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<Cl100k<1, false>>(text, at, by_line, ends);
}

size_t qwen35(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<Cl100k<1, false, kLetters | kMarks>>(text, at, by_line, ends);
}

}  // namespace bpe::scan
