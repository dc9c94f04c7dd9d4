#include "merge.h"

#include <algorithm>
#include <span>

namespace bpe {

void MergeTable::insert(Id left, Id right, Priority priority, Id merged) {
    if (priority >= kNever) throw std::length_error("there are more than 134,217,726 merges");
    if (2 * (used_ + 1) > kSize * buckets_.size()) {
        MergeTable larger(2 * buckets_.size(), 0);
        for (size_t i = 0; i < buckets_.size(); ++i)
            for (size_t n = 0; n < kSize && buckets_[i].pairs[n] != kEmpty; ++n)
                larger.put(buckets_[i].pairs[n], buckets_[i].merges[n] & ~kRunOver);
        *this = std::move(larger);
    }
    put(uint64_t{left} << 32 | right, merge(priority, merged));
}

void MergeTable::put(uint64_t pair, Merge merge) {
    for (size_t i = bucket_of(pair);; i = (i + 1) & (buckets_.size() - 1)) {
        Bucket& bucket = buckets_[i];
        size_t n = 0;
        while (n < kSize && bucket.pairs[n] != kEmpty && bucket.pairs[n] != pair) ++n;
        if (n == kSize) {
            bucket.merges[0] |= kRunOver;
            continue;
        }
        used_ += bucket.pairs[n] == kEmpty;
        bucket.pairs[n] = pair;
        bucket.merges[n] = merge | (bucket.merges[n] & kRunOver);
        return;
    }
}

void Merger::merge_short(std::vector<Symbol>& symbols, Priority limit, size_t keep) {
    pairs_.clear();
    for (size_t i = 0; i + 1 < symbols.size(); ++i)
        pairs_.push_back(table_.merge_of(symbols[i].id, symbols[i + 1].id));
    while (symbols.size() > keep) {
        const auto best = std::min_element(pairs_.begin(), pairs_.end());
        if (MergeTable::priority_of(*best) >= limit) return;
        const size_t i = best - pairs_.begin();
        symbols[i] = {MergeTable::merged_of(*best), symbols[i].start, symbols[i + 1].end};
        symbols.erase(symbols.begin() + i + 1);
        pairs_.erase(best);
        if (i > 0) pairs_[i - 1] = table_.merge_of(symbols[i - 1].id, symbols[i].id);
        if (i < pairs_.size()) pairs_[i] = table_.merge_of(symbols[i].id, symbols[i + 1].id);
    }
}

// Looks up the pair that starts at symbol `at` and queues it if it can merge.
void Merger::offer(const std::vector<Symbol>& symbols, uint32_t at) {
    Link& link = links_[at];
    link.priority = kNever;
    if (link.next == symbols.size()) return;
    const auto merge = table_.merge_of(symbols[at].id, symbols[link.next].id);
    link.priority = MergeTable::priority_of(merge);
    link.merged = MergeTable::merged_of(merge);
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
        links_[i] = {i - 1, i + 1, kNever, kNoId};
        if (i + 1 == size) break;
        const auto merge = table_.merge_of(symbols[i].id, symbols[i + 1].id);
        links_[i].priority = MergeTable::priority_of(merge);
        links_[i].merged = MergeTable::merged_of(merge);
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
        symbols[top.at].id = link.merged;
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
