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

#include "../base/memory.h"
#include "../base/vocab.h"

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
    void append(std::span<const Id> ids) {
        std::copy(ids.begin(), ids.end(), reserve(ids.size()));
        size_ += ids.size();
    }
    void push_back(Id id) {
        *reserve(1) = id;
        ++size_;
    }

private:
    // Ids from which on the memory is mapped: writing fresh pages of 4 KB takes longer than encoding.
    static constexpr size_t kMapped = size_t{1} << 20;

    bool is_mapped() const { return huge::kAvailable && capacity_ >= kMapped; }

    void grow(size_t least) {
        IdBuffer larger;
        larger.allocate(std::max(least, 2 * capacity_));
        if (size_) std::memcpy(larger.data_, data_, size_ * sizeof(Id));
        larger.size_ = size_;
        larger.pool_ = pool_;
        swap(larger);
    }

    void allocate(size_t capacity) {
        capacity_ = std::max<size_t>(capacity, 256);
        if (is_mapped()) {
            const size_t bytes = huge::rounded(capacity_ * sizeof(Id));
            data_ = static_cast<Id*>(huge::map(bytes));
            capacity_ = bytes / sizeof(Id);
            return;
        }
        data_ = static_cast<Id*>(std::malloc(capacity_ * sizeof(Id)));
        if (!data_) throw std::bad_alloc();
    }

    void release() {
        if (is_mapped())
            huge::unmap(data_, capacity_ * sizeof(Id));
        else
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
        if (!buffer.is_mapped() || buffer.capacity_ > kMost) return false;
        const std::unique_lock lock(lock_, std::try_to_lock);
        if (!lock || kept_.capacity_ >= buffer.capacity_) return false;
        huge::lend(buffer.data_, buffer.capacity_ * sizeof(Id));
        kept_.swap(buffer);
        return buffer.data_ == nullptr;
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
