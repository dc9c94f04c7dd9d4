// UTF-8 to units of one, two or four bytes, as Python's strings hold them, and back.
#pragma once

#include <vector>

#include "unicode.h"

namespace bpe {

// The room that a text needs if it is UTF-8. `most` is the least of 0x7F, 0xFF, 0xFFFF and 0x10FFFF
// that no character exceeds.
struct TextShape {
    size_t characters;
    uint32_t most;
};

TextShape shape_of(Bytes text);

// Stores the code points of a text in the room that its shape asks for; false if it is no UTF-8.
bool widen(Bytes text, uint8_t* out);
bool widen(Bytes text, uint16_t* out);
bool widen(Bytes text, uint32_t* out);

// Writes the one to four bytes of a character, which must be one; returns where the next goes.
inline uint8_t* write_utf8(uint32_t code_point, uint8_t* out) {
    const auto put = [&](uint32_t byte) { *out++ = static_cast<uint8_t>(byte); };
    const auto put_tail = [&](unsigned shift) { put(0x80 | (code_point >> shift & 0x3F)); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xC0 | code_point >> 6);
        put_tail(0);
    } else if (code_point < 0x10000) {
        put(0xE0 | code_point >> 12);
        put_tail(6);
        put_tail(0);
    } else {
        put(0xF0 | code_point >> 18);
        put_tail(12);
        put_tail(6);
        put_tail(0);
    }
    return out;
}
// The same behind what is there.
void append_utf8(uint32_t code_point, std::vector<uint8_t>& out);

}  // namespace bpe
