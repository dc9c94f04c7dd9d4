#include "merge.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "../base/hash.h"

namespace bpe {

MergeTable::MergeTable(Bits bits_of) : id_bits_(std::max(bits_of.id, 1u)) {
    // So many lines that what is left of a pair fits a tag.
    const unsigned bits = 2 * id_bits_, least = bits > kTagBits ? bits - kTagBits : 1;
    const unsigned lines = std::max(bits_of.line, std::min(least, bits));
    line_shift_ = 64 - lines;
    tag_shift_ = 64 - bits;
    tag_mask_ = static_cast<uint32_t>((uint64_t{1} << (bits - std::min(lines, bits))) - 1);
    right_multiplier_ = kSeedA << tag_shift_;  // odd, and another one in each process
    left_multiplier_ = right_multiplier_ << id_bits_;
    lines_ = ZeroedArray<Line>(size_t{1} << lines);
}

void MergeTable::insert(Id left, Id right, Priority priority, Id merged) {
    if (priority >= kNever) throw std::length_error("there are more than 67,108,862 merges");
    if (4 * (used_ + 1) > 3 * kSize * lines_.size()) grow();
    while (!put(ask(left, right), priority)) grow();
    if (priority >= merged_.size()) merged_.resize(size_t{priority} + 1);
    merged_[priority] = merged;
}

// False if there is no place in as many lines as are looked at.
bool MergeTable::put(Question asked, Priority priority) {
    for (; !is_last(asked); asked = next(asked)) {
        Line& line = lines_[asked.line];
        for (size_t i = 0; i < kSize; ++i) {
            const uint32_t value = line.value(i);
            if (value != 0 && line.tag(i) != asked.tag) continue;
            used_ += value == 0;
            line.set(i, asked.tag, (kNever - priority) | (value & kRunOver));
            return true;
        }
        line.values[0][0] |= kRunOver;
    }
    return false;
}

void MergeTable::grow() {
    MergeTable larger(Bits{id_bits_, static_cast<unsigned>(std::countr_zero(lines_.size())) + 1});
    for (size_t i = 0; i < lines_.size(); ++i)
        for (size_t n = 0; n < kSize; ++n) {
            const uint32_t tag = lines_[i].tag(n), value = lines_[i].value(n);
            if (value == 0) continue;
            const uint64_t line = i - tag / kNextLine;  // its first one
            const uint64_t place = line << line_shift_ | uint64_t{tag % kNextLine} << tag_shift_;
            while (!larger.put(larger.at(place), kNever - (value & ~kRunOver))) larger.grow();
        }
    larger.merged_ = std::move(merged_);
    *this = std::move(larger);
}

void Merger::merge_short(std::vector<Symbol>& symbols, Priority limit, size_t keep) {
    priorities_.clear();
    for (size_t i = 0; i + 1 < symbols.size(); ++i)
        priorities_.push_back(table_.priority_of(symbols[i].id, symbols[i + 1].id));
    while (symbols.size() > keep) {
        const auto best = std::min_element(priorities_.begin(), priorities_.end());
        if (*best >= limit) return;
        const size_t i = best - priorities_.begin();
        symbols[i] = {table_.merged(*best), symbols[i].start, symbols[i + 1].end};
        symbols.erase(symbols.begin() + i + 1);
        priorities_.erase(best);
        if (i > 0) priorities_[i - 1] = table_.priority_of(symbols[i - 1].id, symbols[i].id);
        if (i < priorities_.size())
            priorities_[i] = table_.priority_of(symbols[i].id, symbols[i + 1].id);
    }
}

// Looks up the pair that starts at symbol `at` and queues it if it can merge.
void Merger::offer(const std::vector<Symbol>& symbols, uint32_t at) {
    Link& link = links_[at];
    link.priority = kNever;
    if (link.next == symbols.size()) return;
    link.priority = table_.priority_of(symbols[at].id, symbols[link.next].id);
    if (link.priority == kNever) return;
    heap_.push_back({link.priority, at});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
}

// Symbols stay where they are, in a doubly linked list; the heap holds candidates, and one whose
// priority is no longer that of its place is stale.
void Merger::merge_long(std::vector<Symbol>& symbols, Priority limit, size_t keep) {
    const auto size = static_cast<uint32_t>(symbols.size());
    links_.resize(size);
    heap_.clear();
    for (uint32_t i = 0; i < size; ++i) {
        links_[i] = {i - 1, i + 1, kNever};
        if (i + 1 == size) break;
        links_[i].priority = table_.priority_of(symbols[i].id, symbols[i + 1].id);
        if (links_[i].priority != kNever) heap_.push_back({links_[i].priority, i});
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
    size_t left = size;
    for (size_t step = 1; left > keep && !heap_.empty() && heap_.front().priority < limit; ++step) {
        if (beat_ && step % 4096 == 0) (*beat_)(0);
        const Candidate top = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
        heap_.pop_back();
        Link& link = links_[top.at];
        if (link.priority != top.priority) continue;
        --left;
        const uint32_t gone = link.next;
        symbols[top.at].id = table_.merged(link.priority);
        symbols[top.at].end = symbols[gone].end;
        link.next = links_[gone].next;
        links_[gone].priority = kNever;
        if (link.next < size) links_[link.next].previous = top.at;
        offer(symbols, top.at);
        if (top.at > 0) offer(symbols, link.previous);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < size; i = links_[i].next) symbols[kept++] = symbols[i];
    symbols.resize(kept);
}

}  // namespace bpe
