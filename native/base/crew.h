// Threads that wait for each other many times: for loops whose steps take microseconds.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace bpe {

// A few threads that do a step together, again and again; none outlives the object. They wait
// actively for the next step, but go to sleep if it is long in coming: starting a step then takes
// some microseconds instead of some hundred nanoseconds.
class Crew {
public:
    // At most so many, the caller included: fewer if the system gives no more.
    explicit Crew(unsigned threads) {
        for (unsigned i = 1; i < threads; ++i) {
            try {
                others_.emplace_back([this, i] { work(i); });
            } catch (const std::system_error&) {
                break;
            }
        }
    }
    Crew(const Crew&) = delete;
    ~Crew() {
        step_ = nullptr;
        start();
        for (std::thread& thread : others_) thread.join();
    }

    unsigned size() const { return static_cast<unsigned>(others_.size()) + 1; }

    // Calls `job(i)` for every i below `size()`, each on a thread of its own, and waits for all. The
    // first exception is rethrown here.
    template <class Job>
    void run(Job&& job) {
        if (others_.empty()) return job(0u);
        context_ = &job;
        step_ = [](void* context, unsigned i) { (*static_cast<std::remove_reference_t<Job>*>(context))(i); };
        running_.store(others_.size(), std::memory_order_relaxed);
        const auto begin = Clock::now();
        start();
        attempt(0);
        const auto done = Clock::now();
        for (unsigned spins = 0; running_.load(std::memory_order_acquire) != 0; ++spins) rest(spins);
        const auto waited = Clock::now() - done;
        was_late_ = waited > kPatience && waited > 2 * (done - begin);
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    }

    // Whether the caller waited longer for the others in the last step than they can have worked: if
    // somebody else has their processor, that is some milliseconds.
    bool was_late() const { return was_late_; }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::microseconds kPatience{200};

    void start() {
        generation_.fetch_add(1, std::memory_order_release);
        generation_.notify_all();
    }

    void work(unsigned i) {
        for (uint32_t seen = 0;;) {
            for (unsigned spins = 0; generation_.load(std::memory_order_acquire) == seen; ++spins) {
                if (spins < kActive)
                    rest(spins);
                else
                    generation_.wait(seen, std::memory_order_acquire);
            }
            ++seen;
            if (!step_) return;
            attempt(i);
            running_.fetch_sub(1, std::memory_order_release);
        }
    }

    void attempt(unsigned i) {
        try {
            step_(context_, i);
        } catch (...) {
            const std::lock_guard guard(lock_);
            if (!error_) error_ = std::current_exception();
        }
    }

    // Now and then another thread may have the processor: there may be fewer than threads.
    static void rest(unsigned spins) {
        if (spins % 256 == 255) return std::this_thread::yield();
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    static constexpr unsigned kActive = 1 << 14;

    std::vector<std::thread> others_;
    void (*step_)(void* context, unsigned i) = nullptr;
    void* context_ = nullptr;
    std::atomic<uint32_t> generation_{0};
    std::atomic<size_t> running_{0};
    bool was_late_ = false;
    std::mutex lock_;
    std::exception_ptr error_;
};

}  // namespace bpe
