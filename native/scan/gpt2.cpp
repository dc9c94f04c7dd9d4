//     '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// GPT-2's pattern in tiktoken's r50k_base and in ByteLevel(use_regex=true) of tokenizers; the
// original spelling 's|'t|'re|'ve|'m|'ll|'d|... and the possessive one are the same function.
#include "classes.h"
#include "patterns.h"

namespace bpe::scan {
namespace {

size_t contraction(Bytes text, size_t at) {
    const size_t left = text.size() - at;
    if (left < 2) return 0;
    const uint8_t a = text[at + 1];
    if (a == 's' || a == 'd' || a == 'm' || a == 't') return 2;
    if (left < 3) return 0;
    const uint8_t b = text[at + 2];
    return (a == 'l' && b == 'l') || (a == 'v' && b == 'e') || (a == 'r' && b == 'e') ? 3 : 0;
}

size_t piece_end(Bytes text, size_t at) {
    if (text[at] == '\'')
        if (const size_t length = contraction(text, at)) return at + length;
    const size_t start = text[at] == ' ' && at + 1 < text.size() ? at + 1 : at;
    Classified c = classified_at(text, start);
    if (c.kind != Class::space) return run_end(text, start + c.length, c.kind);
    return space_end(text, at, run_end(text, at, Class::space));
}

}  // namespace

size_t gpt2(Bytes text, size_t& at, size_t* ends, size_t capacity) {
    return scan_by_piece<piece_end>(text, at, ends, capacity);
}

}  // namespace bpe::scan
