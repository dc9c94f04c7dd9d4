#include "short_merger.h"

#include <algorithm>

namespace bpe {
namespace {

// The least of so many numbers, a multiple of 4: in four chains, which a processor works on at once.
uint64_t least(const uint64_t* numbers, size_t count) {
    uint64_t a = numbers[0], b = numbers[1], c = numbers[2], d = numbers[3];
    for (size_t i = 4; i < count; i += 4) {
        a = std::min(a, numbers[i]);
        b = std::min(b, numbers[i + 1]);
        c = std::min(c, numbers[i + 2]);
        d = std::min(d, numbers[i + 3]);
    }
    return std::min(std::min(a, b), std::min(c, d));
}

}  // namespace

void ShortMerger::run() {
    std::array<Lane*, kLanes> running;
    size_t next = 0, count = 0;
    for (; count < kLanes && next < jobs_.size(); ++count) {
        running[count] = &lanes_[count];
        start(lanes_[count], jobs_[next++]);
    }
    while (count > 0)
        for (size_t i = 0; i < count; ++i) {
            Lane& lane = *running[i];
            if (step(lane)) continue;
            finish(lane);
            if (next < jobs_.size())
                start(lane, jobs_[next++]);
            else
                running[i--] = running[--count];
        }
}

inline void ShortMerger::set(Lane& lane, size_t place, MergeTable::Merge merge) const {
    lane.order[place] = uint64_t{MergeTable::priority_of(merge)} << 8 | place;
    lane.merged[place] = MergeTable::merged_of(merge);
}

void ShortMerger::start(Lane& lane, Job& job) const {
    lane.job = &job;
    lane.width = job.size < 8 ? 8 : job.size < 16 ? 16 : kPlaces;
    std::fill_n(lane.order.begin(), lane.width, kNone);
    lane.symbols[0] = kNoId;
    size_t n = 0;
    uint8_t last = 0;
    for (size_t i = 0; i < job.size; ++i) {
        const uint8_t byte = job.bytes[i];
        const Id id = model_.byte_id(byte);
        if (id == kNoId) continue;  // dropped, as tokenizers does
        if (n > 0) set(lane, n, model_.byte_pair(last, byte));
        lane.symbols[++n] = id;
        last = byte;
    }
    lane.symbols[n + 1] = kNoId;
    for (size_t place = 0; place <= n + 1; ++place) {
        lane.next[place] = static_cast<uint8_t>(place + 1);
        lane.previous[place] = static_cast<uint8_t>(place - 1);
    }
    lane.previous[0] = 0;
    lane.next[n + 1] = static_cast<uint8_t>(n + 1);
    lane.changed = 0;
    model_.table().prefetch(kNoId, lane.symbols[1]);
}

// Does one merge; false if there is none.
bool ShortMerger::step(Lane& lane) const {
    const MergeTable& table = model_.table();
    const auto& symbols = lane.symbols;
    const size_t changed = lane.changed, before = lane.previous[changed];
    set(lane, before, table.merge_of(symbols[before], symbols[changed]));
    set(lane, changed, table.merge_of(symbols[changed], symbols[lane.next[changed]]));
    const uint64_t best = least(lane.order.data(), lane.width);
    if (best >= kNone) return false;
    const size_t at = best & 0xFF, gone = lane.next[at], after = lane.next[gone];
    lane.symbols[at] = lane.merged[at];
    lane.order[gone] = kNone;
    lane.next[at] = static_cast<uint8_t>(after);
    lane.previous[after] = static_cast<uint8_t>(at);
    lane.changed = at;
    table.prefetch(symbols[lane.previous[at]], symbols[at]);
    table.prefetch(symbols[at], symbols[after]);
    return true;
}

void ShortMerger::finish(const Lane& lane) {
    Job& job = *lane.job;
    job.begin = static_cast<uint32_t>(ids_.size());
    for (size_t place = lane.next[0]; lane.symbols[place] != kNoId; place = lane.next[place]) {
        ids_.push_back(lane.symbols[place]);
        if (lane.symbols[place] >= model_.size()) return;
    }
    job.count = static_cast<uint32_t>(ids_.size()) - job.begin;
}

}  // namespace bpe
