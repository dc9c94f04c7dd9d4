// Texts as they lie in the memory of whoever has them.
#pragma once

#include <algorithm>

#include "../base/buffer.h"
#include "../base/unicode.h"

namespace bpe {

namespace scan {
struct Kernels;
}

// UTF-8, or code points of 1, 2 or 4 bytes each; not owned. UTF-8 of the others is made when a text's
// turn comes, in memory that is still in the cache: that of all texts at
// once cost 6,700 page faults in a first pass over 60 MB of English from the web.
class RawText {
public:
    RawText(Bytes utf8) : data_(utf8.data()), size_(utf8.size()) {}
    static RawText ascii(Bytes text) {
        RawText raw(text);
        raw.is_ascii_ = true;
        return raw;
    }
    RawText(const uint8_t* points, size_t size) : data_(points), size_(size), width_(1) {}
    RawText(const uint16_t* points, size_t size) : data_(points), size_(size), width_(2) {}
    RawText(const uint32_t* points, size_t size) : data_(points), size_(size), width_(4) {}

    bool is_utf8() const { return width_ == 0; }
    // Whether its UTF-8 is well-formed for sure.
    bool is_sound() const { return is_ascii_ || !is_utf8(); }
    // Code points, or bytes of UTF-8.
    size_t size() const { return size_; }
    // What its UTF-8 has no more bytes than.
    size_t most_bytes() const { return size_ * kMostBytes[width_]; }
    // One of its code points, or bytes of UTF-8.
    uint32_t operator[](size_t i) const {
        switch (width_) {
            case 2: return static_cast<const uint16_t*>(data_)[i];
            case 4: return static_cast<const uint32_t*>(data_)[i];
            default: return static_cast<const uint8_t*>(data_)[i];
        }
    }
    RawText subspan(size_t begin, size_t size) const {
        RawText part = *this;
        part.data_ = static_cast<const uint8_t*>(data_) + begin * std::max<size_t>(width_, 1);
        part.size_ = size;
        return part;
    }
    Properties properties_before(size_t at) const {
        if (!is_utf8()) return Properties((*this)[at - 1]);
        return character_at(begin(), previous_start(begin(), 0, at)).properties();
    }
    // How it begins: what will be read first.
    Bytes begin() const { return {static_cast<const uint8_t*>(data_), size_}; }
    // Itself, or appended to the room, which must stay as it is until it is no longer needed. Half a
    // surrogate pair becomes U+FFFD, both halves the character they stand for: what tiktoken does.
    Bytes utf8(ByteBuffer& room) const;
    // Bytes that may be overwritten behind what is written.
    static constexpr size_t kBehind = 64;

private:
    size_t written(const scan::Kernels& kernels, uint8_t* out) const;

    static constexpr uint8_t kMostBytes[] = {1, 2, 3, 0, 4};

    const void* data_;
    size_t size_;
    uint8_t width_ = 0;
    bool is_ascii_ = false;  // known to be
};

}  // namespace bpe
