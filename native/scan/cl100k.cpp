// The cl100k family, three patterns that differ in two places.
//
// cl100k, tiktoken's today:
//     '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
//     |\s++$|\s*[\r\n]|\s+(?!\S)|\s
// llama3, and cl100k in the tokenizer.json files of Hugging Face: no \s++$ in front of the line ends,
// so white space that ends the text is still cut after its last line end:
//     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//     |\s*[\r\n]+|\s+(?!\S)|\s+
// qwen2: llama3 with \p{N} instead of \p{N}{1,3}.
#include "classes.h"
#include "patterns.h"

namespace bpe::scan {
namespace {

// What stands in front of the rules for white space; 0 if none of it matches.
template <int digits>
size_t word_end(Bytes text, size_t at) {
    if (const size_t length = contraction_ignoring_case(text, at)) return at + length;
    const Classified first = classified_at(text, at);
    if (first.kind == Class::letter) return run_end(text, at, Class::letter);
    if (first.kind == Class::number) return number_end(text, at, digits);
    const size_t next = at + first.length;
    if (!is_line_end(text[at])) {
        const size_t end = run_end(text, next, Class::letter);
        if (end > next) return end;
    }
    const size_t start = text[at] == ' ' ? next : at;
    size_t end = run_end(text, start, Class::other);
    if (end == start) return 0;
    while (end < text.size() && is_line_end(text[end])) ++end;
    return end;
}

template <int digits, bool keeps_final_space>
size_t piece_end(Bytes text, size_t at) {
    if (const size_t end = word_end<digits>(text, at)) return end;
    if (keeps_final_space && run_end(text, at, Class::space) == text.size()) return text.size();
    return line_end_or_space_end(text, at);
}

}  // namespace

size_t cl100k(Bytes text, size_t& at, size_t* ends, size_t capacity) {
    return scan_by_piece<piece_end<3, true>>(text, at, ends, capacity);
}

size_t llama3(Bytes text, size_t& at, size_t* ends, size_t capacity) {
    return scan_by_piece<piece_end<3, false>>(text, at, ends, capacity);
}

size_t qwen2(Bytes text, size_t& at, size_t* ends, size_t capacity) {
    return scan_by_piece<piece_end<1, false>>(text, at, ends, capacity);
}

}  // namespace bpe::scan
