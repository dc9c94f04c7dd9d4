// Regexes as programs: any pattern that has no scanner of its own, matched by backtracking.
//
// The package compiles a regex (bpe_compat/dialects/program.py); here it is run. Characters are
// reduced to letters, one for each combination of the pattern's sets that holds a character, so that a
// test is one bit. The first way to match counts, as in Oniguruma and fancy-regex.
#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "../base/unicode.h"

namespace bpe::scan {

// What an instruction does; behind it stand its arguments. Failure goes back to the last choice.
enum class Op : int32_t {
    accept,  // the end of the program, or of a part
    set,     // s: takes a character of set s
    run,     // s, low, high (-1: no limit), mode (0 greedy, 1 lazy, 2 possessive): characters of set s
    split,   // other: goes on behind, or else at `other`
    jump,    // to
    guard,   // s, other: goes on behind if a character of set s follows, otherwise at `other`
    atomic,  // end: the part behind matches its first way or not at all; goes on at `end`
    look,    // negative, end: whether the part behind matches; goes on at `end` where this began
    back,    // n: goes back n characters
    anchor,  // kind: see Anchor
};

enum class Anchor : int32_t {
    start, end, last_line_end, line_start, line_end, inner_line_start
};

// A regex that backtracks without end on some text.
class EndlessRegex : public std::runtime_error {
public:
    explicit EndlessRegex(size_t bytes)
        : std::runtime_error("the split pattern backtracks without end on a text of " +
                             std::to_string(bytes) + " bytes") {}
};

class Regex {
public:
    using Set = std::array<uint64_t, 4>;  // of letters
    static constexpr size_t kInstructionLimit = 1 << 16;

    // `letters` has the letter of every code point; `first` is the set of letters that matches begin
    // with. Throws std::invalid_argument if the program is none.
    Regex(std::vector<int32_t> code, std::vector<Set> sets, Bytes letters, size_t first);

    struct Match {
        size_t begin, end;
    };
    // What a search remembers from match to match of one text; see regex.cpp.
    class Memory;

    // The first match from `from` on, at the end of the text if there is none. No match is empty.
    // With `mapped`, every byte is the character that ByteLevel has for it. Throws EndlessRegex.
    Match find(Bytes text, size_t from, bool mapped, Memory& memory) const;

private:
    template <bool mapped>
    class Machine;

    std::vector<int32_t> code_;
    std::vector<Set> sets_;
    size_t first_;
    std::vector<uint16_t> block_of_;
    std::vector<std::array<uint8_t, 128>> blocks_;
    std::array<uint8_t, 256> mapped_letters_;
};

class Regex::Memory {
public:
    explicit Memory(size_t size) : budget_(kBudget + kBudgetForByte * size) {}

private:
    template <bool mapped>
    friend class Regex::Machine;

    static constexpr size_t kBudget = 100'000'000, kBudgetForByte = 2000;

    // Another way to go on: at `pc` from `at`, and after that with one character less, down to `low`,
    // or with one character more, up to `left` more of them (kEndless: no limit) behind those from
    // `low` on.
    struct Choice {
        enum Kind : uint8_t { plain, fewer, more } kind;
        int32_t pc, set;
        size_t at, low;
        int64_t left;
    };
    // Characters that a run without a limit took.
    struct Run {
        int32_t pc;
        size_t begin, end;
    };
    struct Mark {
        size_t page, bit;
    };
    static constexpr int64_t kEndless = INT64_MAX;

    std::vector<Choice> choices_;
    // What the attempts that are not over yet have gone through.
    std::vector<Run> runs_;
    std::vector<Mark> marks_;

    // Places of the program and the text from which the rest is known not to match, as bits; by
    // pages of kPage bytes of the text.
    static constexpr size_t kPage = 1024;
    std::unordered_map<size_t, std::vector<uint64_t>> failed_;
    // Where a run without a limit was last taken in vain, for each place of the program: from all
    // later characters of that run it is in vain as well.
    std::vector<Match> failed_runs_;
    size_t budget_;  // of steps
};

}  // namespace bpe::scan
