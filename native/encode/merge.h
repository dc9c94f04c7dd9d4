// Which neighbours merge, and the merging of one piece.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../base/byte_strings.h"
#include "../base/memory.h"
#include "../base/parallel.h"

namespace bpe {

using Priority = uint32_t;  // lower merges first
inline constexpr Priority kNever = (1u << 26) - 1;

// (left id, right id) -> priority -> id of the merged token.
//
// Both merge rules of the field are this one table. Hugging Face lists its pairs: the priority is
// the place in the list. tiktoken merges any pair whose concatenation has a rank: the table holds
// every split of every token into two tokens, and the priority is the token's rank.
//
// It is as small as it can be exactly: most of merging is waiting for it, and a table of 16 bytes a
// pair, half full, took a third longer. A pair of ids of b bits is a number of 2b bits, which times an
// odd one, modulo 2^2b, is another for each pair: the first bits say in which line it lies, and the
// others, 28 at most, are all that must be compared.
class MergeTable {
public:
    // Room for so many pairs of ids below `ids`; for more it grows.
    explicit MergeTable(size_t pairs = 0, Id ids = 0)
        : MergeTable(Bits{static_cast<unsigned>(std::bit_width(ids)),
                          static_cast<unsigned>(std::bit_width(pairs / kUsual))}) {}

    // The priority of two tokens; kNever if they do not merge.
    Priority priority_of(Id left, Id right) const { return find(ask(left, right)); }
    // What the tokens with a priority merge to.
    Id merged(Priority priority) const { return merged_[priority]; }
    // Asks for it. An address, not a pointer: kNever is a place behind all.
    void prefetch_merged(Priority priority) const {
        const auto merged = reinterpret_cast<uintptr_t>(merged_.data());
        __builtin_prefetch(reinterpret_cast<const void*>(merged + priority * sizeof(Id)));
    }
    // `priority_of` in two steps, so that one can do other things in between: the memory is on its way.
    struct Question {
        uint32_t tag = 0;
        uint32_t line = 0;
    };
    // If there is no pair, kNever is found, and no memory waited for.
    Question ask(Id left, Id right, bool is_pair = true) const {
        assert(uint64_t{std::max(left, right)} >> id_bits_ == 0);
        Question question = at(left * left_multiplier_ + right * right_multiplier_);
        question.tag |= is_pair - uint32_t{1};  // one that no pair has; a branch would be guessed wrong
        question.line &= -uint32_t{is_pair};
        __builtin_prefetch(&lines_[question.line]);
        return question;
    }
    // Without a branch that depends on the pair, but where a line has run over.
    Priority find(Question asked) const {
        for (;;) {
            const Line& line = lines_[asked.line];
            const Four tag = {asked.tag, asked.tag, asked.tag, asked.tag};
            const Four found = (Four(line.tags[0] == tag) & line.values[0]) |
                               (Four(line.tags[1] == tag) & line.values[1]);
            const Four half = found | __builtin_shufflevector(found, found, 2, 3, 0, 1);
            const uint32_t value = (half[0] | half[1]) & ~kRunOver;
            // One condition, rarely true: that a line has run over would be guessed wrong.
            const uint32_t goes_on = (value - 1) & line.values[0][0] & kRunOver;
            if (goes_on == 0 || is_last(asked)) [[likely]] return kNever - value;
            asked = next(asked);
        }
    }

    // A pair that is added twice keeps its last entry, as in tokenizers. Throws std::length_error if
    // the priority is too large.
    void insert(Id left, Id right, Priority priority, Id merged);

private:
    // A cache line, filled in order, of tags and of kNever less the priorities, 0 if there is none. A
    // pair that finds no place goes to the next line, with another tag, and the first value of this one
    // says so.
    using Four = uint32_t __attribute__((vector_size(16)));
    struct alignas(64) Line {
        Four tags[2], values[2];
        uint32_t tag(size_t i) const { return tags[i / 4][i % 4]; }
        uint32_t value(size_t i) const { return values[i / 4][i % 4]; }
        void set(size_t i, uint32_t tag, uint32_t value) {
            tags[i / 4][i % 4] = tag;
            values[i / 4][i % 4] = value;
        }
    };
    static constexpr size_t kSize = 8, kUsual = 6;  // places of a line; of how many, on average, it is full
    static constexpr uint32_t kRunOver = uint32_t{1} << 31;
    static constexpr unsigned kTagBits = 28;  // the others count lines
    static constexpr uint32_t kNextLine = uint32_t{1} << kTagBits;

    struct Bits {
        unsigned id, line;
    };
    explicit MergeTable(Bits bits);
    Question at(uint64_t place) const {
        return {static_cast<uint32_t>(place >> tag_shift_) & tag_mask_,
                static_cast<uint32_t>(place >> line_shift_)};
    }
    // Whether it is of a line so far from a pair's first one that no pair lies there.
    static bool is_last(Question asked) { return asked.tag >= UINT32_MAX - kNextLine + 1; }
    Question next(Question asked) const {
        return {asked.tag + kNextLine, (asked.line + 1) & static_cast<uint32_t>(lines_.size() - 1)};
    }
    bool put(Question asked, Priority priority);
    void grow();

    unsigned id_bits_, line_shift_, tag_shift_;  // of the 2 * id_bits_ highest bits, the lines' first
    uint32_t tag_mask_;
    uint64_t left_multiplier_, right_multiplier_;
    size_t used_ = 0;
    ZeroedArray<Line> lines_;  // a power of two
    LargeVector<Id> merged_;   // by priority
};

// A token of a piece and the bytes of the piece that it covers.
struct Symbol {
    Id id;
    uint32_t start, end;
};

// Merges the symbols of one piece while a pair has a priority below the limit and more symbols than
// `keep` are left: always the pair of lowest priority, the leftmost among equals. Keeps its memory
// from piece to piece; one per thread.
class Merger {
public:
    // Long merges call `beat`, if there is one, with no work.
    explicit Merger(const MergeTable& table, Beat* beat = nullptr) : table_(table), beat_(beat) {}

    void merge(std::vector<Symbol>& symbols, Priority limit = kNever, size_t keep = 1) {
        symbols.size() <= kShort ? merge_short(symbols, limit, keep)
                                 : merge_long(symbols, limit, keep);
    }

private:
    // Up to here a scan for the minimum beats the heap and its bookkeeping.
    static constexpr size_t kShort = 32;

    struct Link {
        uint32_t previous, next;
        Priority priority;  // of this symbol with the next one
    };
    struct Candidate {
        Priority priority;
        uint32_t at;
        bool operator>(const Candidate& o) const {
            return priority != o.priority ? priority > o.priority : at > o.at;
        }
    };

    // O(symbols x merges) and O(symbols x log symbols)
    void merge_short(std::vector<Symbol>& symbols, Priority limit, size_t keep);
    void merge_long(std::vector<Symbol>& symbols, Priority limit, size_t keep);
    void offer(const std::vector<Symbol>& symbols, uint32_t at);

    const MergeTable& table_;
    Beat* beat_;
    std::vector<Priority> priorities_;
    std::vector<Link> links_;
    std::vector<Candidate> heap_;
};

}  // namespace bpe
