#include "short_merger.h"

#include <algorithm>
#include <cstring>

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

void ShortMerger::add(Bytes piece) {
    if (left_.size + kMost + kPlaces > starts_.size()) make_room();
    const size_t begin = left_.size;
    if (model_.has_first_merges())
        model_.first_merges().start(piece, left_);
    else
        add_symbols(piece);
    const size_t count = left_.size - begin;
    of_width_[std::min<size_t>(count / 4, of_width_.size() - 1)].push_back(static_cast<uint32_t>(jobs_.size()));
    jobs_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(count)});
}

void ShortMerger::add_symbols(Bytes piece) {
    model_.start(piece, symbols_);
    for (size_t i = 0; i < symbols_.size(); ++i, ++left_.size) {
        left_.symbols[left_.size] = symbols_[i].id;
        if (i > 0) left_.asked[left_.asked_size++] = static_cast<uint32_t>(left_.size);
    }
}

void ShortMerger::make_room() {
    const size_t size = 2 * starts_.size() + (size_t{1} << 12);
    starts_.resize(size);
    priorities_.resize(size);
    asked_.resize(size);
    questions_.resize(size);
    ids_.resize(size);
    left_ = {starts_.data(), priorities_.data(), asked_.data(), left_.size, left_.asked_size};
}

inline int32_t ShortMerger::order_of(Priority priority, size_t place) {
    return static_cast<int32_t>(priority << kPlaceBits | place);
}

inline void ShortMerger::ask(Lane& lane, size_t before, size_t changed, size_t next) const {
    lane.before = before;
    lane.changed = changed;
    lane.with_before = model_.table().ask(lane.symbols[before], lane.symbols[changed], before > 0);
    lane.with_next = model_.table().ask(lane.symbols[changed], lane.symbols[next], next <= lane.size);
}

// The places of a piece before anything is merged.
constexpr auto kNeighbours = [] {
    std::array<std::array<uint16_t, 64>, 2> places{};  // before it, behind it
    for (uint16_t i = 0; i < 64; ++i) places[0][i] = i ? i - 1 : 0, places[1][i] = i + 1;
    return places;
}();

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
[[gnu::always_inline]] inline bool ShortMerger::step(Lane& lane) const {
    const MergeTable& table = model_.table();
    const auto best = static_cast<uint32_t>(least<width>(lane.order.data()));
    if ((best >= kNone) | (lane.count <= keep_)) return false;
    const size_t at = best % (1 << kPlaceBits), gone = lane.next[at], after = lane.next[gone];
    lane.symbols[at] = table.merged(best >> kPlaceBits);
    lane.order[gone] = kNone;
    --lane.count;
    lane.next[at] = static_cast<uint16_t>(after);
    lane.previous[after] = static_cast<uint16_t>(at);
    ask(lane, lane.previous[at], at, after);
    return true;
}

// The piece with what belongs to those behind it: its length would be guessed wrong. False if nothing
// merges.
template <size_t width>
[[gnu::always_inline]] inline bool ShortMerger::start(Lane& lane, Job& job) const {
    const uint32_t n = job.count;
    const Priority* const priorities = priorities_.data() + job.begin;
    lane.order[0] = kNone;
    for (uint32_t i = 1; i < width; ++i) {
        const int32_t order = order_of(priorities[i], i);
        lane.order[i] = i < n ? order : kNone;
    }
    if (least<width>(lane.order.data()) >= kNone) return false;
    lane.job = &job;
    lane.size = lane.count = n;
    constexpr size_t kCopied = std::min(width + 1, kPlaces);
    std::copy_n(kNeighbours[0].begin(), kCopied, lane.previous.begin());
    std::copy_n(kNeighbours[1].begin(), kCopied, lane.next.begin());
    std::copy_n(starts_.data() + job.begin, width - 1, lane.symbols.begin() + 1);
    lane.symbols[0] = lane.symbols[n + 1] = 0;
    lane.next[n + 1] = static_cast<uint16_t>(n + 1);
    return step<width>(lane);
}

[[gnu::always_inline]] inline void ShortMerger::finish(const Lane& lane) {
    Id* const out = ids_.data() + used_;
    size_t place = lane.next[0], i = 0;
    for (; i < kAtOnce; ++i, place = lane.next[place]) out[i] = lane.symbols[place];
    for (; i < lane.count; ++i, place = lane.next[place]) out[i] = lane.symbols[place];
    end(*lane.job, lane.count);
}

// Of a piece whose ids were written behind all others.
inline void ShortMerger::end(Job& job, size_t count) {
    const Id* const ids = ids_.data() + used_;
    job = {static_cast<uint32_t>(used_), static_cast<uint32_t>(count)};
    if (model_.has_stand_ins() && std::any_of(ids, ids + count, [&](Id id) { return id >= model_.size(); }))
        job.count = 0;
    used_ += job.count;
}

template <size_t width>
void ShortMerger::run(const std::vector<uint32_t>& jobs) {
    std::array<Lane*, kLanes> running;
    size_t next = 0, count = 0;
    while (count < kLanes && start_next<width>(lanes_[count], jobs, next)) {
        running[count] = &lanes_[count];
        ++count;
    }
    while (count > 0) {
        for (size_t i = 0; i < count; ++i) answer(*running[i]);
        for (size_t i = 0; i < count; ++i) {
            Lane& lane = *running[i];
            if (step<width>(lane)) continue;
            finish(lane);
            if (!start_next<width>(lane, jobs, next)) running[i--] = running[--count];
        }
    }
}

// Starts the next piece in which something merges, and ends those before it; false if there is none.
template <size_t width>
bool ShortMerger::start_next(Lane& lane, const std::vector<uint32_t>& jobs, size_t& next) {
    while (next < jobs.size()) {
        Job& job = jobs_[jobs[next++]];
        if (start<width>(lane, job)) return true;
        std::copy_n(starts_.data() + job.begin, width, ids_.data() + used_);
        end(job, job.count);
    }
    return false;
}

// All look-ups that all pieces begin with are asked for before the first is made.
void ShortMerger::find_priorities() {
    const std::span<const uint32_t> asked(asked_.data(), left_.asked_size);
    for (size_t n = 0; n < asked.size(); ++n)
        questions_[n] = model_.table().ask(starts_[asked[n] - 1], starts_[asked[n]]);
    for (size_t n = 0; n < asked.size(); ++n) priorities_[asked[n]] = model_.table().find(questions_[n]);
}

void ShortMerger::run(size_t keep) {
    keep_ = keep;
    find_priorities();
    used_ = 0;
    run<4>(of_width_[0]);
    run<8>(of_width_[1]);
    run<12>(of_width_[2]);
    run<16>(of_width_[3]);
    run<kPlaces>(of_width_[4]);
}

}  // namespace bpe
