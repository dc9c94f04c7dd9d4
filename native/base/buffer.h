// What is being made, ids or bytes: room for much, no zeros written first, memory that is used again.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "byte_strings.h"
#include "memory.h"

namespace bpe {

// Much memory is mapped, and each page of it is made when it is reached: what is allocated may be too
// much.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    class Pool;

    Buffer() = default;
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer();

    size_t size() const { return size_; }
    const T* data() const { return data_; }
    T* data() { return data_; }
    operator std::span<const T>() const { return {data_, size_}; }
    // Whether it is so large that the memory is mapped.
    bool is_mapped() const { return huge::kAvailable && capacity_ * sizeof(T) >= kMapped; }

    bool fits(size_t more) const { return size_ + more <= capacity_; }
    // Room for so many more, and where they go; `resize` says how far it was filled.
    T* reserve(size_t more) {
        if (size_ + more > ready_) make_ready(size_ + more);
        return data_ + size_;
    }
    // Room for so many in all, or more, that may not be needed.
    void allow(size_t capacity) {
        if (capacity > capacity_) grow(capacity);
    }
    void resize(size_t size) { size_ = size; }
    void append(std::span<const T> items) {
        std::copy(items.begin(), items.end(), reserve(items.size()));
        size_ += items.size();
    }
    void push_back(T item) {
        *reserve(1) = item;
        ++size_;
    }

private:
    // Bytes from which on the memory is mapped: writing fresh pages of 4 KB takes longer than encoding.
    static constexpr size_t kMapped = size_t{1} << 22;

    void make_ready(size_t least) {
        allow(least);
        if (least > ready_)
            ready_ = huge::make_pages(data_, ready_ * sizeof(T), least * sizeof(T), capacity_ * sizeof(T)) /
                     sizeof(T);
    }

    void grow(size_t capacity) {
        Buffer larger;
        larger.allocate(std::max(capacity, 2 * capacity_));
        if (size_) std::memcpy(larger.reserve(size_), data_, size_ * sizeof(T));
        larger.size_ = size_;
        larger.pool_ = pool_;
        swap(larger);
    }

    void allocate(size_t capacity) {
        capacity_ = std::max<size_t>(capacity, 256);
        if (is_mapped()) {
            const size_t bytes = huge::rounded(capacity_ * sizeof(T));
            data_ = static_cast<T*>(huge::map(bytes));
            capacity_ = bytes / sizeof(T);
            return;
        }
        ready_ = capacity_;
        data_ = static_cast<T*>(std::malloc(capacity_ * sizeof(T)));
        if (!data_) throw std::bad_alloc();
    }

    void release() {
        if (is_mapped())
            huge::unmap(data_, capacity_ * sizeof(T));
        else
            std::free(data_);
    }

    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(ready_, other.ready_);
        std::swap(pool_, other.pool_);
    }

    T* data_ = nullptr;
    size_t size_ = 0, capacity_ = 0;
    size_t ready_ = 0;  // of the capacity, what has pages
    std::shared_ptr<Pool> pool_;  // where large memory goes when it is no longer needed
};

// Keeps the memory of one large buffer for the next: what has been written once is fast to write.
// The system may take its pages back at any time.
template <class T>
class Buffer<T>::Pool : public std::enable_shared_from_this<Buffer<T>::Pool> {
public:
    // An empty buffer with room for so many, whose memory will come back here.
    Buffer take(size_t capacity) {
        Buffer buffer;
        {
            const std::unique_lock lock(lock_, std::try_to_lock);
            if (lock && kept_.capacity_ >= capacity) buffer.swap(kept_);
        }
        buffer.size_ = 0;
        if (!buffer.data_) buffer.allocate(capacity);
        buffer.pool_ = this->shared_from_this();
        return buffer;
    }

private:
    friend class Buffer;

    bool give(Buffer& buffer) {
        if (!buffer.is_mapped() || buffer.size_ * sizeof(T) > kMost) return false;
        const std::unique_lock lock(lock_, std::try_to_lock);
        if (!lock || kept_.capacity_ >= buffer.capacity_) return false;
        huge::lend(buffer.data_, buffer.capacity_ * sizeof(T));
        kept_.swap(buffer);
        return buffer.data_ == nullptr;
    }

    static constexpr size_t kMost = size_t{1} << 30;  // bytes that were written

    std::mutex lock_;  // never waited for, so a fork cannot hang on it
    Buffer kept_;
};

template <class T>
Buffer<T>::~Buffer() {
    if (!data_) return;
    const std::shared_ptr<Pool> pool = std::move(pool_);
    if (!pool || !pool->give(*this)) release();
}

using IdBuffer = Buffer<Id>;
using ByteBuffer = Buffer<uint8_t>;

}  // namespace bpe
