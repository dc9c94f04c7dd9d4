// Large arrays on huge pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bpe {

// A zeroed array of plain values. From 2 MB on it asks for huge pages before its first use: a table
// that is probed at random then misses the cache, but not the TLB, and prefetches work.
template <class T>
class ZeroedArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    ZeroedArray() = default;
    explicit ZeroedArray(size_t size) : size_(size) {
        if (size == 0) return;
#if defined(__linux__)
        if (bytes() >= kHuge) {
            mapped_ = bytes() + kHuge;
            base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (base_ == MAP_FAILED) throw std::bad_alloc();
            const auto start = (reinterpret_cast<uintptr_t>(base_) + kHuge - 1) & ~(kHuge - 1);
            data_ = reinterpret_cast<T*>(start);
            madvise(data_, bytes(), MADV_HUGEPAGE);
            return;
        }
#endif
        data_ = static_cast<T*>(::operator new(bytes(), std::align_val_t(64)));
        for (size_t i = 0; i < size; ++i) data_[i] = T{};
    }
    ZeroedArray(ZeroedArray&& other) noexcept { swap(other); }
    ZeroedArray& operator=(ZeroedArray&& other) noexcept {
        swap(other);
        return *this;
    }
    ~ZeroedArray() {
#if defined(__linux__)
        if (mapped_) {
            munmap(base_, mapped_);
            return;
        }
#endif
        if (data_) ::operator delete(data_, std::align_val_t(64));
    }

    size_t size() const { return size_; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }

private:
    static constexpr size_t kHuge = size_t{1} << 21;

    size_t bytes() const { return size_ * sizeof(T); }
    void swap(ZeroedArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(base_, other.base_);
        std::swap(mapped_, other.mapped_);
    }

    T* data_ = nullptr;
    size_t size_ = 0;
    void* base_ = nullptr;  // of the mapping, if there is one
    size_t mapped_ = 0;
};

}  // namespace bpe
