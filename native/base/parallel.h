// Work on several threads, none of which outlives the call.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace bpe {

// How the caller of a long computation looks in on it. `tick` is called often and only on the
// caller's thread; it may throw to end the computation.
class Watch {
public:
    virtual ~Watch() = default;
    virtual void tick(uint64_t done, uint64_t total) {
        (void)done;
        (void)total;
    }
};

// What a job calls now and then with the amount of work it has done since its last call. Throws if
// the computation is to end.
class Beat {
public:
    Beat(std::atomic<uint64_t>& done, uint64_t total, const std::atomic<bool>& stop, Watch* watch)
        : done_(done), total_(total), stop_(stop), watch_(watch) {}

    // Work in small portions is gathered first: looking at the clock takes as long as 100 bytes.
    void operator()(uint64_t more) {
        pending_ += more;
        if (more != 0 && pending_ < kPortion) return;
        const uint64_t done = done_.fetch_add(pending_, std::memory_order_relaxed) + pending_;
        pending_ = 0;
        if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
        if (watch_) watch_->tick(done, total_);
    }

private:
    struct Stopped {};
    static constexpr uint64_t kPortion = 1 << 14;

    uint64_t pending_ = 0;
    std::atomic<uint64_t>& done_;
    uint64_t total_;
    const std::atomic<bool>& stop_;
    Watch* watch_;  // on the caller's thread only
};

// Runs `job(i, worker, beat)` for every i below `count` on at most `threads` threads, this one
// included, handing out the numbers in order; each thread first makes itself a worker with
// `make_worker(beat)`. The first exception ends all of it and is rethrown here. `total` is the sum
// of what the jobs tell `beat`.
template <class MakeWorker, class Job>
void parallel_for(size_t count, unsigned threads, uint64_t total, Watch& watch,
                  MakeWorker&& make_worker, Job&& job) {
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> done{0};
    std::atomic<bool> stop{false};
    std::mutex lock;  // of the two below
    std::exception_ptr error;
    size_t running = 0;
    std::condition_variable ended;

    const auto fail = [&] {
        const std::lock_guard guard(lock);
        if (!error) error = std::current_exception();
        stop = true;
    };
    const auto work = [&](Watch* watch_here) {
        Beat beat(done, total, stop, watch_here);
        try {
            auto worker = make_worker(beat);
            for (size_t i; !stop && (i = next.fetch_add(1)) < count;) job(i, worker, beat);
        } catch (...) {
            fail();
        }
    };
    const auto work_beside = [&] {
        work(nullptr);
        const std::lock_guard guard(lock);
        --running;
        ended.notify_one();
    };

    std::vector<std::thread> others;
    others.reserve(std::min<size_t>(threads, count));
    for (unsigned t = 1; t < threads && t < count; ++t) {
        const std::lock_guard guard(lock);
        try {
            others.emplace_back(work_beside);
            ++running;
        } catch (const std::system_error&) {
            break;  // the system gives no more threads: slower, not wrong
        }
    }
    work(&watch);
    // Ctrl-C must be answered also while the others finish what they have begun.
    for (std::unique_lock guard(lock); running > 0;) {
        ended.wait_for(guard, std::chrono::milliseconds(50));
        if (stop) continue;
        guard.unlock();
        try {
            watch.tick(done, total);
        } catch (...) {
            fail();
        }
        guard.lock();
    }
    for (std::thread& thread : others) thread.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace bpe
