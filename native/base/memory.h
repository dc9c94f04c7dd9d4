// Large memory on huge pages.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bpe {

// Memory from the system, zeroed, for sizes that are worth a huge page. It begins at one: a request
// for huge pages fails silently where it does not. Nothing has been touched before the request.
namespace huge {

inline constexpr size_t kPage = size_t{1} << 21;
// From so many bytes on, one huge page is made sooner than the small ones that would be written.
inline constexpr size_t kWorth = kPage / 4;

constexpr size_t rounded(size_t bytes) { return (bytes + kPage - 1) & ~(kPage - 1); }

#if defined(__linux__)
inline constexpr bool kAvailable = true;

// `bytes` must be rounded.
inline void* map(size_t bytes) {
    void* base = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    const auto address = reinterpret_cast<uintptr_t>(base);
    const size_t before = rounded(address) - address;
    auto* begin = static_cast<char*>(base) + before;
    if (before) munmap(base, before);
    if (before < kPage) munmap(begin + bytes, kPage - before);
    madvise(begin, bytes, MADV_HUGEPAGE);
    return begin;
}
inline void unmap(void* begin, size_t bytes) { munmap(begin, bytes); }
// A page that takes longer than this is one that the host of a virtual machine had taken back: 5 ms
// instead of 0.1. It takes back what is free in huge pages; as many small ones, 0.8 ms, it has left.
inline constexpr std::chrono::microseconds kSlow{1500};
// Makes the pages of mapped memory, of `size` bytes, from where there are none to where so many are
// needed, or to the end if small ones are better. Returns where it stopped.
inline size_t make_pages(void* memory, size_t made, size_t needed, size_t size,
                         std::chrono::microseconds slow = kSlow) {
    while (made < needed) {
        char* const page = static_cast<char*>(memory) + made;
        made += kPage;
        const auto start = std::chrono::steady_clock::now();
        *static_cast<volatile char*>(page) = 0;
        if (std::chrono::steady_clock::now() - start <= slow) continue;
        madvise(page + kPage, size - made, MADV_NOHUGEPAGE);
        return size;
    }
    return made;
}
// The system may take the pages until they are written again.
inline void lend(void* begin, size_t bytes) { madvise(begin, bytes, MADV_FREE); }
// Asks for huge pages for what lies in other memory, before it is written for the first time.
inline void ask(void* begin, size_t bytes) {
    const size_t before = rounded(reinterpret_cast<uintptr_t>(begin)) - reinterpret_cast<uintptr_t>(begin);
    if (bytes < before + kPage) return;
    madvise(static_cast<char*>(begin) + before, (bytes - before) / kPage * kPage, MADV_HUGEPAGE);
}
#else
inline constexpr bool kAvailable = false;

inline void* map(size_t) { throw std::bad_alloc(); }
inline void unmap(void*, size_t) {}
inline size_t make_pages(void*, size_t, size_t, size_t size) { return size; }
inline void lend(void*, size_t) {}
inline void ask(void*, size_t) {}
#endif

}  // namespace huge

// Asks for the cache lines of some bytes that will soon be read.
inline void prefetch(const void* begin, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(begin) + i);
}

// The same for the begin of a text: it is read on from there before the rest is needed.
inline void prefetch_begin(std::span<const uint8_t> text) {
    prefetch(text.data(), std::min<size_t>(text.size(), 1 << 10));
}

// Memory for vectors that may grow large.
template <class T>
struct LargeAllocator {
    using value_type = T;

    LargeAllocator() = default;
    template <class U>
    LargeAllocator(const LargeAllocator<U>&) {}

    T* allocate(size_t size) {
        if (is_mapped(size)) return static_cast<T*>(huge::map(huge::rounded(size * sizeof(T))));
        return static_cast<T*>(::operator new(size * sizeof(T)));
    }
    void deallocate(T* begin, size_t size) {
        if (is_mapped(size))
            huge::unmap(begin, huge::rounded(size * sizeof(T)));
        else
            ::operator delete(begin);
    }
    bool operator==(const LargeAllocator&) const { return true; }

private:
    static bool is_mapped(size_t size) {
        return huge::kAvailable && size * sizeof(T) >= huge::kWorth;
    }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

// A zeroed array of plain values. A large one stands on huge pages: a table that is probed at random
// then misses the cache, but not the TLB, and prefetches work.
template <class T>
class ZeroedArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    ZeroedArray() = default;
    explicit ZeroedArray(size_t size) : size_(size) {
        if (size == 0) return;
        if (is_mapped()) {
            data_ = static_cast<T*>(huge::map(huge::rounded(bytes())));
            return;
        }
        data_ = static_cast<T*>(::operator new(bytes(), std::align_val_t(64)));
        for (size_t i = 0; i < size; ++i) data_[i] = T{};
    }
    ZeroedArray(ZeroedArray&& other) noexcept { swap(other); }
    ZeroedArray& operator=(ZeroedArray&& other) noexcept {
        swap(other);
        return *this;
    }
    ~ZeroedArray() {
        if (!data_) return;
        if (is_mapped())
            huge::unmap(data_, huge::rounded(bytes()));
        else
            ::operator delete(data_, std::align_val_t(64));
    }

    size_t size() const { return size_; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }

private:
    size_t bytes() const { return size_ * sizeof(T); }
    bool is_mapped() const { return huge::kAvailable && bytes() >= huge::kWorth; }
    void swap(ZeroedArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

    T* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace bpe
