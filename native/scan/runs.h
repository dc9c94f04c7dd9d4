// The rules that cl100k, o200k and their relatives share, on the masks of a window.
#pragma once

#include "window.h"

namespace bpe::scan {

// ` ?[^\s\p{L}\p{N}]+[\r\n]*`: runs of other characters with a blank in front and the bytes of
// `closers` (line ends and, in o200k, slashes) that follow.
struct Others {
    Window::Mask starts;    // of runs, where no blank stands in front
    Window::Mask prefixes;  // the character at such a start: it may open a word
    Window::Mask absorbed;  // closers that belong to a run
    Others(const Window& w, const Window::Mask& closers);
};

// White space that a run of other characters has not absorbed:
// `\s*[\r\n]+|\s+(?!\S)|\s+`, with `\s++$` in front of it if `keeps_final_space`.
void cut_spaces(const Window& w, const Others& others, bool keeps_final_space, Window::Mask& starts);

// `\p{N}{1,3}`, for numbers of ASCII only.
void cut_numbers(const Window& w, Window::Mask& starts);

// Bytes behind a character that a run of letters takes for its prefix: `[^\r\n\p{L}\p{N}]?`.
inline uint64_t prefix_before(const Window& w, const Others& others, size_t i) {
    const uint64_t spaces = w.spaces[i] & ~w.line_ends[i];
    const uint64_t spaces_before = w.spaces[i - 1] & ~w.line_ends[i - 1];
    return ((spaces << 1 | spaces_before >> 63) & ~w.breaks[i]) | w.after(others.prefixes, i);
}

}  // namespace bpe::scan
