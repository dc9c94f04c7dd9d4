//     '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// GPT-2's pattern in tiktoken's r50k_base and in ByteLevel(use_regex=true) of tokenizers; the
// original spelling 's|'t|'re|'ve|'m|'ll|'d|... and the possessive one are the same function.
//
// starcoder: every number is a piece of its own, and what is between them a text of its own, as in
// the sequence Digits(individual_digits=true), ByteLevel(use_regex=true) of tokenizers.
#include "patterns.h"
#include "window.h"

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

template <bool single_numbers>
struct Gpt2 {
    static size_t piece_end(Bytes text, size_t at) {
        if (text[at] == '\'')
            if (const size_t length = contraction(text, at)) return at + length;
        const size_t start = text[at] == ' ' && at + 1 < text.size() ? at + 1 : at;
        const Classified c = classified_at(text, start);
        const bool number = single_numbers && c.kind == Class::number;
        if (number && start == at) return at + c.length;
        if (!number && c.kind != Class::space) return run_end(text, start + c.length, c.kind);
        const size_t end = run_end(text, at, Class::space);
        if (single_numbers && end < text.size() && classified_at(text, end).kind == Class::number)
            return end;
        return space_end(text, at, end);
    }

    static bool find_starts(Window& w, Window::Mask& starts) {
        if (single_numbers) break_around(w, w.numbers);
        // The last character of white space that something follows: a piece of its own, or the
        // first character of the next one.
        Window::Mask last_spaces;
        last_spaces[w.blocks + 1] = 0;
        for (size_t i = 1; i <= w.blocks; ++i) last_spaces[i] = w.spaces[i] & ~w.before_space(i);
        if (w.wide_spaces) to_first_bytes(w, last_spaces);
        uint64_t apostrophes = 0, others_before = 0;
        for (size_t i = 1; i <= w.blocks; ++i) {
            const uint64_t others = w.others(i);
            const uint64_t after_others = (others << 1 | others_before) & ~w.breaks[i];
            others_before = others >> 63;
            uint64_t run = (w.letters[i] & w.after(w.letters, i)) | (others & after_others);
            if (!single_numbers) run |= w.numbers[i] & w.after(w.numbers, i);
            const uint64_t words = ~w.spaces[i] & ~run & ~w.after(w.blanks, i);
            const uint64_t spaces = w.spaces[i] & ~w.after(w.spaces, i);
            starts[i] = ((words | spaces) & ~w.tails[i]) | last_spaces[i];
            apostrophes |= w.apostrophes[i] & words;
        }
        if (apostrophes) cut_contractions(w, starts);
        return true;
    }

private:
    // Where a piece starts with an apostrophe: the suffix belongs to it, and what follows starts
    // anew.
    static void cut_contractions(const Window& w, Window::Mask& starts) {
        for (size_t i = 1; i <= w.blocks; ++i)
            for_each_bit(w.apostrophes[i] & starts[i], i, [&](size_t at) {
                const size_t length = contraction(w.text, at);
                if (length == 0) return;
                clear(starts, at + 1);
                if (at + length < w.size) set(starts, at + length);
            });
    }
};

}  // namespace

size_t gpt2(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<Gpt2<false>>(text, at, by_line, ends);
}

size_t starcoder(Bytes text, size_t& at, bool by_line, size_t* ends) {
    return scan_by_window<Gpt2<true>>(text, at, by_line, ends);
}

}  // namespace bpe::scan
