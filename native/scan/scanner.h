// A scanner cuts text into pieces, the units that merges never cross.
//
// Every split pattern with a native scanner has a file of its own in this folder, its regular
// expression quoted on top, and an entry in the table of scanner.cpp.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "../base/unicode.h"

namespace bpe {

inline constexpr size_t kScanCapacity = 2048;

// A scanner that knows more than a function: what it was made from. Immutable.
class Program {
public:
    virtual ~Program() = default;
    virtual size_t scan(Bytes text, size_t& at, bool by_line, size_t* ends) const = 0;
};

class Scan {
public:
    using Function = size_t (*)(Bytes text, size_t& at, bool by_line, size_t* ends);
    Scan(Function function) : function_(function) {}
    explicit Scan(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

    // Writes the ends of pieces that follow offset `at`, itself a piece's start, and moves `at` to
    // the last of them. Returns how many were written: fewer than kScanCapacity, for which there must
    // be room, and none only at the end of the text. `by_line` makes a text of its own of each line,
    // its \n included.
    size_t operator()(Bytes text, size_t& at, bool by_line, size_t* ends) const {
        return function_ ? function_(text, at, by_line, ends)
                         : program_->scan(text, at, by_line, ends);
    }

private:
    Function function_ = nullptr;
    std::shared_ptr<const Program> program_;
};

struct Scanner {
    std::string_view name;
    Scan scan;
    // No piece goes on from a letter or a number to white space, and none depends on what comes
    // behind such a place: a text may be cut there.
    bool cuts_at_spaces;
};

std::span<const Scanner> scanners();

// The scanner of this name; throws std::invalid_argument if there is none.
const Scanner& scanner(std::string_view name);

// The end of the line at an offset, its \n included.
inline size_t line_end(Bytes text, size_t at) {
    const void* newline = std::memchr(text.data() + at, '\n', text.size() - at);
    return newline ? static_cast<const uint8_t*>(newline) - text.data() + 1 : text.size();
}

// The scan function of a rule that finds pieces one by one: `piece_end(text, at)`.
template <class PieceEnd>
size_t scan_by_piece(Bytes text, size_t& at, bool by_line, size_t* ends, PieceEnd&& piece_end) {
    size_t count = 0, unit_end = by_line ? at : text.size();
    while (at < text.size() && count < kScanCapacity - 1) {
        if (at >= unit_end) unit_end = line_end(text, at);
        ends[count++] = at = piece_end(text.first(unit_end), at);
    }
    return count;
}

// Calls `sink(begin, ends)` for every batch of pieces, in order: they follow each other from `begin`
// on. `progress(bytes)` is told the bytes gone through since the last call.
template <class Sink, class Progress>
void for_each_batch(const Scan& scan, Bytes text, bool by_line, Sink&& sink,
                    Progress&& progress) {
    size_t ends[kScanCapacity];
    for (size_t at = 0; at < text.size();) {
        const size_t begin = at;
        const size_t count = scan(text, at, by_line, ends);
        sink(begin, std::span<const size_t>(ends, count));
        progress(at - begin);
    }
}

// Calls `sink(begin, end)` with the byte offsets of every piece of the text, in order.
template <class Sink, class Progress>
void for_each_piece(const Scan& scan, Bytes text, bool by_line, Sink&& sink,
                    Progress&& progress) {
    for_each_batch(
        scan, text, by_line,
        [&](size_t begin, std::span<const size_t> ends) {
            for (const size_t end : ends) {
                sink(begin, end);
                begin = end;
            }
        },
        progress);
}

}  // namespace bpe
