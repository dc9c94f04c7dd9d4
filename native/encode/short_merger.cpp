#include "short_merger.h"

#include <algorithm>

namespace bpe {
namespace {

using Four = int32_t __attribute__((vector_size(16)));

inline Four lesser(Four a, Four b) { return a < b ? a : b; }

// The least of so many numbers, a multiple of 4.
template <size_t count>
int32_t least(const int32_t* numbers) {
    std::array<Four, count / 4> fours;
    std::memcpy(fours.data(), numbers, sizeof fours);
    Four all = fours[0];
    for (size_t i = 1; i < fours.size(); ++i) all = lesser(all, fours[i]);
    all = lesser(all, __builtin_shufflevector(all, all, 2, 3, 0, 1));
    return std::min(all[0], all[1]);
}

}  // namespace

// What their pairs merge to is asked for now, and found when the piece's turn comes.
void ShortMerger::add_symbols(Bytes piece) {
    model_.start(piece, symbols_);
    Job job{{}, static_cast<uint32_t>(symbols_.size()), static_cast<uint32_t>(starts_.size()), 0};
    for (size_t i = 0; i < symbols_.size(); ++i) {
        if (i > 0) model_.table().ask(symbols_[i - 1].id, symbols_[i].id);
        starts_.push_back(symbols_[i].id);
    }
    add(job);
}

void ShortMerger::run() {
    ids_.resize(std::max(ids_.size(), most_ + kAtOnce));
    run<8>(of_width_[0]);
    run<12>(of_width_[1]);
    run<16>(of_width_[2]);
    run<kPlaces>(of_width_[3]);
}

template <size_t width>
void ShortMerger::run(const std::vector<uint32_t>& jobs) {
    std::array<Lane*, kLanes> running;
    size_t next = 0, count = 0;
    for (; count < kLanes && next < jobs.size(); ++count) {
        running[count] = &lanes_[count];
        start<width>(lanes_[count], jobs_[jobs[next++]]);
    }
    while (count > 0) {
        for (size_t i = 0; i < count; ++i) answer(*running[i]);
        for (size_t i = 0; i < count; ++i) {
            Lane& lane = *running[i];
            if (step<width>(lane)) continue;
            finish(lane);
            if (next < jobs.size())
                start<width>(lane, jobs_[jobs[next++]]);
            else
                running[i--] = running[--count];
        }
    }
}

inline int32_t ShortMerger::order_of(Priority priority, size_t place) {
    return static_cast<int32_t>(priority << kPlaceBits | place);
}

inline void ShortMerger::ask(Lane& lane, size_t before, size_t changed, size_t next) const {
    lane.before = before;
    lane.changed = changed;
    lane.with_before = model_.table().ask(lane.symbols[before], lane.symbols[changed]);
    lane.with_next = model_.table().ask(lane.symbols[changed], lane.symbols[next]);
}

// The places of a piece before anything is merged.
constexpr auto kNeighbours = [] {
    std::array<std::array<uint16_t, 64>, 2> places{};  // before it, behind it
    for (uint16_t i = 0; i < 64; ++i) places[0][i] = i ? i - 1 : 0, places[1][i] = i + 1;
    return places;
}();

template <size_t width>
void ShortMerger::start(Lane& lane, Job& job) const {
    lane.job = &job;
    constexpr size_t kCopied = std::min(width + 1, kPlaces);
    std::copy_n(kNeighbours[0].begin(), kCopied, lane.previous.begin());
    std::copy_n(kNeighbours[1].begin(), kCopied, lane.next.begin());
    const bool has_all = width < kPlaces && model_.has_all_bytes();
    const size_t n = !model_.starts_as_bytes() ? start_symbols<width>(lane, job)
                     : has_all                 ? start_all<width>(lane, job)
                                               : start_known<width>(lane, job);
    lane.count = n;
    lane.symbols[0] = lane.symbols[n + 1] = model_.table().nobody();
    lane.next[n + 1] = static_cast<uint16_t>(n + 1);
    ask(lane, 0, 0, 1);
}

// If all bytes have tokens. Its length is not looked at before the end: it would be guessed wrong.
template <size_t width>
size_t ShortMerger::start_all(Lane& lane, const Job& job) const {
    lane.symbols[1] = model_.byte_id(job.bytes[0]);
    for (size_t i = 1; i < width - 1; ++i) {
        lane.symbols[i + 1] = model_.byte_id(job.bytes[i]);
        const Priority priority = model_.byte_pair(job.bytes[i - 1], job.bytes[i]);
        lane.order[i] = i < job.size ? order_of(priority, i) : kNone;
    }
    lane.order[width - 1] = kNone;
    return job.size;
}

// Bytes without a token are dropped, as tokenizers does.
template <size_t width>
size_t ShortMerger::start_known(Lane& lane, const Job& job) const {
    std::fill_n(lane.order.begin(), width, kNone);
    size_t n = 0;
    uint8_t last = 0;
    for (size_t i = 0; i < job.size; ++i) {
        const uint8_t byte = job.bytes[i];
        const Id id = model_.byte_id(byte);
        if (id == kNoId) continue;
        if (n > 0) lane.order[n] = order_of(model_.byte_pair(last, byte), n);
        lane.symbols[++n] = id;
        last = byte;
    }
    return n;
}

template <size_t width>
size_t ShortMerger::start_symbols(Lane& lane, const Job& job) const {
    std::fill_n(lane.order.begin(), width, kNone);
    const std::span<const Id> ids(starts_.data() + job.begin, job.size);
    std::copy(ids.begin(), ids.end(), lane.symbols.begin() + 1);
    for (size_t i = 1; i < ids.size(); ++i)
        lane.order[i] = order_of(model_.table().priority_of(ids[i - 1], ids[i]), i);
    return ids.size();
}

inline void ShortMerger::answer(Lane& lane) const {
    const MergeTable& table = model_.table();
    const Priority before = table.find(lane.with_before), next = table.find(lane.with_next);
    table.prefetch_merged(before);
    table.prefetch_merged(next);
    lane.order[lane.before] = order_of(before, lane.before);
    lane.order[lane.changed] = order_of(next, lane.changed);
}

// Does one merge; false if there is none.
template <size_t width>
bool ShortMerger::step(Lane& lane) const {
    const MergeTable& table = model_.table();
    const auto best = static_cast<uint32_t>(least<width>(lane.order.data()));
    if (best >= kNone) return false;
    const size_t at = best % (1 << kPlaceBits), gone = lane.next[at], after = lane.next[gone];
    lane.symbols[at] = table.merged(best >> kPlaceBits);
    lane.order[gone] = kNone;
    --lane.count;
    lane.next[at] = static_cast<uint16_t>(after);
    lane.previous[after] = static_cast<uint16_t>(at);
    ask(lane, lane.previous[at], at, after);
    return true;
}

void ShortMerger::finish(const Lane& lane) {
    Job& job = *lane.job;
    job.begin = static_cast<uint32_t>(used_);
    job.count = static_cast<uint32_t>(lane.count);
    Id* const out = ids_.data() + used_;
    size_t place = lane.next[0], i = 0;
    for (; i < kAtOnce; ++i, place = lane.next[place]) out[i] = lane.symbols[place];
    for (; i < lane.count; ++i, place = lane.next[place]) out[i] = lane.symbols[place];
    if (model_.has_stand_ins())
        for (i = 0; i < lane.count; ++i)
            if (out[i] >= model_.size()) job.count = 0;
    used_ += job.count;
}

}  // namespace bpe
