// Ids to bytes.
#pragma once

#include <cstdlib>
#include <new>

#include "../base/memory.h"
#include "encoder.h"

namespace bpe {

// Bytes that are being made, with room to write past them and no zeros written first. Much memory
// stands on huge pages, and is the system's until it is written: what is reserved may be too much.
class ByteBuffer {
public:
    ByteBuffer() = default;
    ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
    ByteBuffer& operator=(ByteBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~ByteBuffer() {
        if (is_mapped())
            huge::unmap(data_, capacity_);
        else
            std::free(data_);
    }

    size_t size() const { return size_; }
    void resize(size_t size) { size_ = size; }
    bool is_mapped() const { return huge::kAvailable && capacity_ >= huge::kPage; }
    Bytes bytes(size_t begin, size_t end) const { return {data_ + begin, end - begin}; }

    // Room for so many bytes more, and where they go; `resize` says how far it was filled.
    uint8_t* reserve(size_t more) {
        if (size_ + more > capacity_) grow(size_ + more);
        return data_ + size_;
    }
    size_t written_to(const uint8_t* end) const { return static_cast<size_t>(end - data_); }

private:
    void grow(size_t least) {
        ByteBuffer larger;
        larger.capacity_ = std::max(least, 2 * capacity_);
        if (larger.is_mapped()) {
            larger.capacity_ = huge::rounded(larger.capacity_);
            larger.data_ = static_cast<uint8_t*>(huge::map(larger.capacity_));
        } else {
            larger.data_ = static_cast<uint8_t*>(std::malloc(larger.capacity_));
            if (!larger.data_) throw std::bad_alloc();
        }
        if (size_) std::memcpy(larger.data_, data_, size_);
        larger.size_ = size_;
        swap(larger);
    }

    void swap(ByteBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    uint8_t* data_ = nullptr;
    size_t size_ = 0, capacity_ = 0;
};

// The tokens of an encoder, which must outlive it, laid out for copying.
class Decoder {
public:
    explicit Decoder(const Encoder& encoder);

    // Appends the bytes of some ids. Throws BadId for the first that nobody owns.
    template <class Number>
    void decode(std::span<const Number> ids, ByteBuffer& out) const;

    // The bytes of texts one after the other, and where each ends: text i has the ids from
    // `offsets[i]` to `offsets[i + 1]`, which must be rising and lie in `ids`.
    struct Texts {
        ByteBuffer bytes;
        std::vector<size_t> ends;
    };
    template <class Number>
    void decode(std::span<const Number> ids, std::span<const int64_t> offsets, Texts& out) const;

private:
    // A short token is copied as a whole entry: no loop over its bytes, no branch on its length.
    static constexpr size_t kShort = 15;
    static constexpr uint8_t kLong = 16, kNobodys = 17;  // lengths of what is not in its entry
    static constexpr size_t kUsual = 6;  // bytes of a token: what is reserved for each at first
    struct alignas(16) Entry {
        uint8_t bytes[kShort];
        uint8_t length;
    };

    const Model& model_;
    std::vector<Entry> entries_;
};

}  // namespace bpe
