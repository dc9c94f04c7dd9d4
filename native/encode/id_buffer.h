// Ids that are being made: room for many, no zeros written first, and memory that is used again.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "../base/vocab.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bpe {

class IdBuffer {
public:
    class Pool;

    IdBuffer() = default;
    IdBuffer(IdBuffer&& other) noexcept { swap(other); }
    IdBuffer& operator=(IdBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    inline ~IdBuffer();

    size_t size() const { return size_; }
    const Id* data() const { return data_; }
    Id* data() { return data_; }
    operator std::span<const Id>() const { return {data_, size_}; }

    // Room for so many ids more, and where they go; `resize` says how far it was filled.
    Id* reserve(size_t more) {
        if (size_ + more > capacity_) grow(size_ + more);
        return data_ + size_;
    }
    void resize(size_t size) { size_ = size; }
    void push_back(Id id) {
        *reserve(1) = id;
        ++size_;
    }

private:
    // From here on memory comes from the system in huge pages: writing fresh pages of 4 KB takes
    // longer than encoding does.
    static constexpr size_t kMapped = size_t{1} << 20;  // ids
    static constexpr size_t kHuge = size_t{1} << 21;    // bytes

    void grow(size_t least) {
        IdBuffer larger;
        larger.allocate(std::max(least, 2 * capacity_));
        if (size_) std::memcpy(larger.data_, data_, size_ * sizeof(Id));
        larger.size_ = size_;
        larger.pool_ = pool_;
        swap(larger);
    }

    void allocate(size_t capacity) {
        capacity = std::max<size_t>(capacity, 256);
#if defined(__linux__)
        if (capacity >= kMapped) {
            const size_t bytes = (capacity * sizeof(Id) + kHuge - 1) & ~(kHuge - 1);
            void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (base == MAP_FAILED) throw std::bad_alloc();
            madvise(base, bytes, MADV_HUGEPAGE);
            data_ = static_cast<Id*>(base);
            capacity_ = bytes / sizeof(Id);
            return;
        }
#endif
        data_ = static_cast<Id*>(std::malloc(capacity * sizeof(Id)));
        if (!data_) throw std::bad_alloc();
        capacity_ = capacity;
    }

    void release() {
#if defined(__linux__)
        if (capacity_ >= kMapped) {
            munmap(data_, capacity_ * sizeof(Id));
            return;
        }
#endif
        std::free(data_);
    }

    void swap(IdBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(pool_, other.pool_);
    }

    Id* data_ = nullptr;
    size_t size_ = 0, capacity_ = 0;
    std::shared_ptr<Pool> pool_;  // where large memory goes when it is no longer needed
};

// Keeps the memory of one large buffer for the next: what has been written once is fast to write.
// The system may take its pages back at any time.
class IdBuffer::Pool : public std::enable_shared_from_this<Pool> {
public:
    ~Pool() {
        if (kept_.data_) kept_.release();
        kept_.data_ = nullptr;
    }

    // An empty buffer with room for so many ids, whose memory will come back here.
    IdBuffer take(size_t capacity) {
        IdBuffer buffer;
        {
            const std::unique_lock lock(lock_, std::try_to_lock);
            if (lock && kept_.capacity_ >= capacity) buffer.swap(kept_);
        }
        buffer.size_ = 0;
        if (!buffer.data_) buffer.allocate(capacity);
        buffer.pool_ = shared_from_this();
        return buffer;
    }

private:
    friend class IdBuffer;

    bool give(IdBuffer& buffer) {
#if defined(__linux__)
        if (buffer.capacity_ < kMapped || buffer.capacity_ > kMost) return false;
        const std::unique_lock lock(lock_, std::try_to_lock);
        if (!lock || kept_.capacity_ >= buffer.capacity_) return false;
        madvise(buffer.data_, buffer.capacity_ * sizeof(Id), MADV_FREE);
        kept_.swap(buffer);
        return buffer.data_ == nullptr;
#else
        return static_cast<void>(buffer), false;
#endif
    }

    static constexpr size_t kMost = size_t{1} << 28;  // ids: a gigabyte

    std::mutex lock_;  // never waited for, so a fork cannot hang on it
    IdBuffer kept_;
};

inline IdBuffer::~IdBuffer() {
    if (!data_) return;
    const std::shared_ptr<Pool> pool = std::move(pool_);
    if (!pool || !pool->give(*this)) release();
}

}  // namespace bpe
