// Split steps of any regex, and scanners made from what only a tokenizer knows.
#pragma once

#include "regex.h"
#include "scanner.h"

namespace bpe::scan {

// What becomes of the matches of a step; as tokenizers' SplitDelimiterBehavior.
enum class Behavior : uint8_t {
    isolated, removed, merged_with_previous, merged_with_next, contiguous
};

struct Step {
    std::shared_ptr<const Regex> regex;
    Behavior behavior;
    bool invert;  // the text between matches counts as matched, and matches do not
    bool mapped;  // the regex sees the characters that ByteLevel has for the bytes
};

// Goes through the pieces that a step makes of one text, from left to right.
class Cutter {
public:
    // Begins at `at`, the start of a piece.
    Cutter(const Step& step, Bytes text, size_t at = 0)
        : step_(step), text_(text), at_(at), next_{at, at}, memory_(text.size() - at) {}

    // Moves on to the next piece; false at the end of the text.
    bool next();
    size_t begin() const { return begin_; }
    size_t end() const { return at_; }

private:
    // A match or the text up to the next one, and whether it counts as matched.
    struct Part {
        size_t end;
        bool matched;
    };
    Part part_at(size_t at);

    const Step& step_;
    Bytes text_;
    size_t at_, begin_ = 0;
    Regex::Match next_;  // the first match that does not end before or at the last part
    Regex::Memory memory_;
};

// The scanner of a step that removes nothing.
Scan step_scan(Step step);

}  // namespace bpe::scan
