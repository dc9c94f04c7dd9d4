// Ids that are being made: room for many, and no zeros written first.
#pragma once

#include <cstdlib>
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
    IdBuffer() = default;
    IdBuffer(IdBuffer&& other) noexcept { swap(other); }
    IdBuffer& operator=(IdBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~IdBuffer() { std::free(data_); }

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
    void grow(size_t least) {
        size_t capacity = std::max<size_t>(2 * capacity_, 1024);
        if (capacity < least) capacity = least;
        void* grown = std::realloc(data_, capacity * sizeof(Id));
        if (!grown) throw std::bad_alloc();
        data_ = static_cast<Id*>(grown);
        capacity_ = capacity;
#if defined(__linux__)
        // Writing fresh pages of 4 KB takes longer than encoding does.
        constexpr uintptr_t kHuge = uintptr_t{1} << 21;
        const auto begin = (reinterpret_cast<uintptr_t>(data_ + size_) + kHuge - 1) & ~(kHuge - 1);
        const auto end = reinterpret_cast<uintptr_t>(data_ + capacity_) & ~(kHuge - 1);
        if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
    }
    void swap(IdBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    Id* data_ = nullptr;
    size_t size_ = 0, capacity_ = 0;
};

}  // namespace bpe
