#include "regex.h"

#include <map>
#include <string>

namespace bpe::scan {
namespace {

// GPT-2's character of each byte: printable Latin-1 stands for itself, the rest from U+0100 on.
uint32_t byte_level_character(uint32_t byte) {
    const auto printable = [](uint32_t b) {
        return (b > ' ' && b < 0x7F) || (b > 0xA0 && b != 0xAD);
    };
    if (printable(byte)) return byte;
    uint32_t character = 0x100;
    for (uint32_t b = 0; b < byte; ++b) character += !printable(b);
    return character;
}

// Whether code is a program: whole instructions, an `accept` at the end, sets and places that exist.
bool valid(const std::vector<int32_t>& code, size_t sets) {
    constexpr int kArguments[] = {0, 1, 4, 1, 1, 2, 1, 2, 1, 1};
    std::vector<bool> starts(code.size());
    std::vector<int32_t> targets;
    Op last = Op::set;
    for (size_t pc = 0; pc < code.size();) {
        if (static_cast<size_t>(code[pc]) >= std::size(kArguments)) return false;
        const size_t next = pc + 1 + kArguments[code[pc]];
        if (next > code.size()) return false;
        starts[pc] = true;
        last = static_cast<Op>(code[pc]);
        const bool has_set = last == Op::set || last == Op::run || last == Op::guard;
        if (has_set && static_cast<size_t>(code[pc + 1]) >= sets) return false;
        if (last == Op::split || last == Op::jump || last == Op::atomic)
            targets.push_back(code[pc + 1]);
        if (last == Op::guard || last == Op::look) targets.push_back(code[pc + 2]);
        pc = next;
    }
    for (const int32_t target : targets)
        if (static_cast<size_t>(target) >= code.size() || !starts[target]) return false;
    return last == Op::accept;
}

}  // namespace

Regex::Regex(std::vector<int32_t> code, std::vector<Set> sets, Bytes letters, size_t first)
    : code_(std::move(code)), sets_(std::move(sets)), first_(first) {
    if (letters.size() != 0x110000 || first >= sets_.size() || code_.size() > kInstructionLimit ||
        !valid(code_, sets_.size()))
        throw std::invalid_argument("this is no program of a regex");
    std::map<std::array<uint8_t, 128>, uint16_t> known;
    for (size_t c = 0; c < letters.size(); c += 128) {
        std::array<uint8_t, 128> block;
        std::memcpy(block.data(), letters.data() + c, 128);
        const auto [found, added] = known.try_emplace(block, static_cast<uint16_t>(blocks_.size()));
        if (added) blocks_.push_back(block);
        block_of_.push_back(found->second);
    }
    for (uint32_t b = 0; b < 256; ++b) mapped_letters_[b] = letters[byte_level_character(b)];
}

// Runs the program on one text.
template <bool mapped>
class Regex::Machine {
public:
    Machine(const Regex& regex, Bytes text, Memory& memory)
        : regex_(regex),
          code_(regex.code_.data()),
          text_(text),
          memory_(memory),
          ascii_(regex.blocks_[regex.block_of_[0]].data()),
          choices_(memory.choices_),
          runs_(memory.runs_),
          marks_(memory.marks_) {}

    Match find(size_t from) {
        const Set& first = regex_.sets_[regex_.first_];
        for (size_t at = from; at < text_.size();) {
            const Letter letter = letter_at(at);
            if (holds(first, letter.number)) {
                const size_t end = run(0, at);
                if (end != kNone) return {at, end};
                marks_.clear();
            }
            at += letter.length;
        }
        return {text_.size(), text_.size()};
    }

private:
    using Choice = Memory::Choice;
    using Run = Memory::Run;
    using Mark = Memory::Mark;

    static constexpr size_t kNone = SIZE_MAX;
    static constexpr int64_t kEndless = Memory::kEndless;
    static constexpr int32_t kRunLength = 5;  // of the instruction
    // Steps of one attempt after which failures are remembered.
    static constexpr size_t kPatience = 256;

    struct Letter {
        uint8_t number;
        uint32_t length;
    };
    Letter letter_at(size_t at) const {
        const uint8_t byte = text_[at];
        if (mapped) return {regex_.mapped_letters_[byte], 1};
        if (byte < 0x80) return {ascii_[byte], 1};
        const Character c = character_at(text_, at);
        return {regex_.blocks_[regex_.block_of_[c.code_point >> 7]][c.code_point & 127], c.length};
    }
    static bool holds(const Set& set, uint8_t letter) { return set[letter >> 6] >> (letter & 63) & 1; }
    const Set& set_of(int32_t number) const { return regex_.sets_[number]; }
    bool next_is(const Set& set, size_t at) const {
        return at < text_.size() && holds(set, letter_at(at).number);
    }
    size_t before(size_t at) const { return mapped ? at - 1 : previous_start(text_, 0, at); }
    bool newline(size_t at) const { return !mapped && at < text_.size() && text_[at] == '\n'; }

    bool anchored(Anchor anchor, size_t at) const {
        const bool start = at == 0, end = at == text_.size();
        switch (anchor) {
            case Anchor::start: return start;
            case Anchor::end: return end;
            case Anchor::last_line_end: return end || (newline(at) && at + 1 == text_.size());
            case Anchor::line_start: return start || newline(at - 1);
            case Anchor::line_end: return end || newline(at);
            case Anchor::inner_line_start: return start || (newline(at - 1) && !end);
        }
        return false;
    }

    // Where the part of the program at `pc` ends if it starts at `at`; kNone if it does not match.
    size_t run(int32_t pc, size_t at) {
        const size_t bottom = choices_.size(), marks = marks_.size(), runs = runs_.size();
        for (size_t steps = 0; static_cast<Op>(code_[pc]) != Op::accept; ++steps) {
            spend(1);
            const bool known = steps > kPatience && known_to_fail(pc, at);
            if ((known || !step(pc, at)) && !back(bottom, pc, at)) {
                remember_runs(runs);
                return kNone;
            }
        }
        choices_.resize(bottom);
        runs_.resize(runs);
        // What was on the way to a match has not failed.
        for (size_t i = marks; i < marks_.size(); ++i)
            memory_.failed_[marks_[i].page][marks_[i].bit / 64] &= ~(uint64_t{1} << marks_[i].bit % 64);
        marks_.resize(marks);
        return at;
    }

    // One instruction; false if it fails.
    bool step(int32_t& pc, size_t& at) {
        const int32_t* const arguments = code_ + pc + 1;
        switch (static_cast<Op>(code_[pc])) {
            case Op::set: {
                if (at == text_.size()) return false;
                const Letter letter = letter_at(at);
                if (!holds(set_of(arguments[0]), letter.number)) return false;
                at += letter.length;
                pc += 2;
                return true;
            }
            case Op::run:
                return take_run(arguments, pc, at);
            case Op::split:
                choices_.push_back({Choice::plain, arguments[0], 0, at, 0, 0});
                pc += 2;
                return true;
            case Op::jump:
                pc = arguments[0];
                return true;
            case Op::guard:
                pc = next_is(set_of(arguments[0]), at) ? pc + 3 : arguments[1];
                return true;
            case Op::atomic: {
                const size_t end = run(pc + 2, at);
                if (end == kNone) return false;
                at = end;
                pc = arguments[0];
                return true;
            }
            case Op::look:
                if ((run(pc + 3, at) == kNone) != (arguments[0] != 0)) return false;
                pc = arguments[1];
                return true;
            case Op::back:
                for (int32_t n = 0; n < arguments[0]; ++n) {
                    if (at == 0) return false;
                    at = before(at);
                }
                pc += 2;
                return true;
            case Op::anchor:
                pc += 2;
                return anchored(static_cast<Anchor>(arguments[0]), at);
            case Op::accept:
                break;
        }
        return true;
    }

    bool take_run(const int32_t* arguments, int32_t& pc, size_t& at) {
        const Set& set = set_of(arguments[0]);
        const int64_t low = arguments[1], high = arguments[2] < 0 ? kEndless : arguments[2];
        const int32_t mode = arguments[3];
        const bool unlimited = arguments[2] < 0;
        if (unlimited && in_vain(pc, at)) return false;
        const size_t begin = at;
        int64_t count = 0;
        size_t least = at;
        for (const int64_t wanted = mode == 1 ? low : high; count < wanted; ++count) {
            if (count == low) least = at;
            if (at == text_.size()) break;
            const Letter letter = letter_at(at);
            if (!holds(set, letter.number)) break;
            at += letter.length;
        }
        spend(static_cast<size_t>(count) / 8);
        if (count < low) return false;
        if (count == low) least = at;
        if (unlimited && mode != 1) runs_.push_back({pc, begin, at});
        pc += kRunLength;
        if (mode == 0 && at > least) choices_.push_back({Choice::fewer, pc, 0, at, least, 0});
        if (mode == 1 && count < high)
            choices_.push_back({Choice::more, pc, arguments[0], at, begin,
                                unlimited ? kEndless : high - count});
        return true;
    }

    // Goes on with the last choice above `bottom`; false if none is left.
    bool back(size_t bottom, int32_t& pc, size_t& at) {
        while (choices_.size() > bottom) {
            Choice& choice = choices_.back();
            pc = choice.pc;
            at = choice.at;
            if (choice.kind == Choice::plain) {
                choices_.pop_back();
                return true;
            }
            if (choice.kind == Choice::fewer) {
                choice.at = at = before(at);
                if (at <= choice.low) choices_.pop_back();
                return true;
            }
            if (!next_is(set_of(choice.set), at)) {
                if (choice.left == kEndless) runs_.push_back({pc - kRunLength, choice.low, at});
                choices_.pop_back();
                continue;
            }
            choice.at = at += letter_at(at).length;
            if (choice.left != kEndless && --choice.left == 0) choices_.pop_back();
            return true;
        }
        return false;
    }

    void spend(size_t steps) {
        if (memory_.budget_ < steps) throw EndlessRegex(text_.size());
        memory_.budget_ -= steps;
    }

    bool in_vain(int32_t pc, size_t at) const {
        if (memory_.failed_runs_.empty()) return false;
        const Match& run = memory_.failed_runs_[pc];
        return run.begin <= at && at < run.end;
    }
    // After a failure of all that was tried since there were so many runs.
    void remember_runs(size_t from) {
        if (from == runs_.size()) return;
        if (memory_.failed_runs_.empty()) memory_.failed_runs_.resize(regex_.code_.size(), {0, 0});
        for (; runs_.size() > from; runs_.pop_back())
            memory_.failed_runs_[runs_.back().pc] = {runs_.back().begin, runs_.back().end};
    }

    // Whether a place of program and text has been gone through, which it has in vain; notes it.
    bool known_to_fail(int32_t pc, size_t at) {
        const size_t page = at / Memory::kPage, bit = pc * Memory::kPage + at % Memory::kPage;
        std::vector<uint64_t>& bits = memory_.failed_[page];
        if (bits.empty()) bits.resize(regex_.code_.size() * Memory::kPage / 64);
        if (bits[bit / 64] >> bit % 64 & 1) return true;
        bits[bit / 64] |= uint64_t{1} << bit % 64;
        marks_.push_back({page, bit});
        return false;
    }

    const Regex& regex_;
    const int32_t* code_;
    Bytes text_;
    Memory& memory_;
    const uint8_t* const ascii_;
    std::vector<Choice>& choices_;
    std::vector<Run>& runs_;
    std::vector<Mark>& marks_;
};

Regex::Match Regex::find(Bytes text, size_t from, bool mapped, Memory& memory) const {
    return mapped ? Machine<true>(*this, text, memory).find(from)
                  : Machine<false>(*this, text, memory).find(from);
}

}  // namespace bpe::scan
