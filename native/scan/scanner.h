// A scanner cuts text into pieces, the units that merges never cross.
//
// Every split pattern with a native scanner has a file of its own in this folder, its regular
// expression quoted on top, and an entry in the table of scanner.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "../base/unicode.h"

namespace bpe {

// Writes the ends of the pieces that follow offset `at`, itself a piece's start, and moves `at` to
// the last of them. Returns how many were written: `capacity`, or fewer at the end of the text.
using Scan = size_t (*)(Bytes text, size_t& at, size_t* ends, size_t capacity);

struct Scanner {
    std::string_view name;
    Scan scan;
};

std::span<const Scanner> scanners();

// The scanner of this name; throws std::invalid_argument if there is none.
Scan scanner(std::string_view name);

// Calls `sink(begin, end)` with the byte offsets of every piece of the text, in order, and
// `progress(bytes)` now and then with the bytes gone through since the last call.
template <class Sink, class Progress>
void for_each_piece(Scan scan, Bytes text, Sink&& sink, Progress&& progress) {
    size_t ends[256];
    size_t at = 0, begin = 0;
    while (at < text.size()) {
        const size_t from = at;
        const size_t count = scan(text, at, ends, 256);
        for (size_t i = 0; i < count; ++i) {
            sink(begin, ends[i]);
            begin = ends[i];
        }
        progress(at - from);
    }
}

// A scanner made of a function that finds the end of the piece at an offset.
template <size_t (*piece_end)(Bytes, size_t)>
size_t scan_by_piece(Bytes text, size_t& at, size_t* ends, size_t capacity) {
    size_t count = 0;
    while (count < capacity && at < text.size()) ends[count++] = at = piece_end(text, at);
    return count;
}

}  // namespace bpe
