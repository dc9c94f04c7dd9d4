// What the fuzz targets share: how the bytes of libFuzzer become decisions and text.
#pragma once

#include <algorithm>

#include "../base/parallel.h"
#include "../tests/check.h"

namespace bpe::fuzz {

using tests::bytes_of;
using tests::Exact;
using tests::string_of;

// Decisions are bytes in front, the text is what is left of them. Behind the end there are zeros.
class Input {
public:
    Input(const uint8_t* data, size_t size) : left_(data, size) {}

    uint8_t byte() {
        if (left_.empty()) return 0;
        const uint8_t first = left_[0];
        left_ = left_.subspan(1);
        return first;
    }
    size_t number() { return byte() | size_t{byte()} << 8; }
    size_t below(size_t limit) { return limit > 256 ? number() % limit : byte() % limit; }
    bool flag() { return byte() & 1; }
    bool empty() const { return left_.empty(); }
    Bytes rest() const { return left_; }

private:
    Bytes left_;
};

inline void append_character(uint32_t c, std::string& out) {
    const auto add = [&](uint32_t bits) { out += static_cast<char>(bits); };
    if (c < 0x80) return add(c);
    if (c < 0x800) {
        add(0xC0 | c >> 6);
    } else {
        if (c < 0x10000) {
            add(0xE0 | c >> 12);
        } else {
            add(0xF0 | c >> 18);
            add(0x80 | (c >> 12 & 0x3F));
        }
        add(0x80 | (c >> 6 & 0x3F));
    }
    add(0x80 | (c & 0x3F));
}

// Text in UTF-8: ASCII for itself; a byte from 0x80 on for a character that some rule treats in its
// own way, or from 0xF0 on, with the two behind it, for any code point.
inline std::string characters_of(Input& in) {
    static constexpr uint32_t kPool[] = {
        0x85,   0xA0,   0x1680, 0x2003, 0x2028, 0x3000,  0x180E, 0x200B,  0xFEFF,  0xE9,   0x17F,
        0x1C5,  0x2B0,  0x131,  0x130,  0xFB01, 0x4E2D,  0x30A2, 0x30FC,  0x3005,  0xAC00, 0xAC01,
        0xE44,  0x939,  0x5D0,  0x645,  0x10400, 0x212A, 0x301,  0x345,   0x93E,   0x20DD, 0x327,
        0xBD,   0xB2,   0x2167, 0x663,  0x3007, 0x1D7D8, 0x30FB, 0x309B,  0x3002,  0x2E80, 0x2019,
        0x2122, 0x1F600, 0x200D, 0x1F3FD, 0xE000, 0xFFFF, 0x10FFFF, 0x378, 0x9FA5, 0x9FA6, 0x3400,
        0x20000, 0x1100, 0x1161, 0x11A8, 0x11A7, 0x1E9B, 0x323,  0xFDFA,  0x2126,  0x61D,  0x166D,
        0x111C9, 0xFF11, 0x1D15E, 0x1112E, 0x11127,
    };
    std::string text;
    while (!in.empty()) {
        const uint8_t byte = in.byte();
        uint32_t c = byte;
        if (byte >= 0xF0) {
            c = ((byte & 0xFu) << 16 | static_cast<uint32_t>(in.number())) % 0x110000;
            if (c >= 0xD800 && c < 0xE000) c -= 0x800;
        } else if (byte >= 0x80) {
            c = kPool[(byte - 0x80u) % std::size(kPool)];
        }
        append_character(c, text);
    }
    return text;
}

// The rest of the input as text: as it is, as characters, or in few letters; maybe several times.
inline std::string text_of(Input& in, size_t most) {
    const size_t kind = in.below(4), times = 1 + in.below(8);
    std::string text;
    if (kind == 0) text = characters_of(in);
    if (kind == 1) text = string_of(in.rest());
    if (kind > 1)
        for (const uint8_t byte : in.rest()) text += (kind == 2 ? "abc " : "aaaab' \n")[byte % (4 * kind - 4)];
    std::string repeated;
    for (size_t i = 0; i < times && repeated.size() < most; ++i) repeated += text;
    return repeated.substr(0, most);
}

// A beat that nobody listens to.
struct Silence {
    std::atomic<uint64_t> done{0};
    const std::atomic<bool> stop{false};
    Beat beat{done, 0, stop, nullptr};
};

}  // namespace bpe::fuzz
