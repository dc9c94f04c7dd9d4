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

// Appends a character, which must be one.
void append_utf8(uint32_t code_point, std::vector<uint8_t>& out);

}  // namespace bpe
