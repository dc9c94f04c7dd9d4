// Work on several threads, none of which outlives the call.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
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

    void operator()(uint64_t more) {
        const uint64_t done = done_.fetch_add(more, std::memory_order_relaxed) + more;
        if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
        if (watch_) watch_->tick(done, total_);
    }

private:
    struct Stopped {};

    std::atomic<uint64_t>& done_;
    uint64_t total_;
    const std::atomic<bool>& stop_;
    Watch* watch_;  // on the caller's thread only
};

// Runs `job(i, worker, beat)` for every i below `count` on at most `threads` threads, this one
// included, handing out the numbers in order; each thread makes a worker of its own first. The first
// exception ends all of it and is rethrown here. `total` is the sum of what the jobs tell `beat`.
template <class MakeWorker, class Job>
void parallel_for(size_t count, unsigned threads, uint64_t total, Watch& watch,
                  MakeWorker&& make_worker, Job&& job) {
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> done{0};
    std::atomic<bool> stop{false};
    std::exception_ptr error;
    std::mutex error_lock;

    const auto work = [&](Watch* watch_here) {
        Beat beat(done, total, stop, watch_here);
        try {
            auto worker = make_worker();
            for (size_t i; !stop && (i = next.fetch_add(1)) < count;) job(i, worker, beat);
        } catch (...) {
            const std::lock_guard guard(error_lock);
            if (!error) error = std::current_exception();
            stop = true;
        }
    };
    std::vector<std::thread> others;
    for (unsigned t = 1; t < threads && t < count; ++t) others.emplace_back(work, nullptr);
    work(&watch);
    for (std::thread& thread : others) thread.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace bpe
