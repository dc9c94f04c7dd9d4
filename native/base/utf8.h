// UTF-8 to units of one, two or four bytes, as Python's strings hold them.
#pragma once

#include "unicode.h"

namespace bpe {

// What must be known of a text before its characters can be stored.
struct TextShape {
    bool valid;         // is UTF-8; nothing else is known if it is not
    size_t characters;
    uint32_t most;      // 0x7F, 0xFF, 0xFFFF or 0x10FFFF: no character is greater
};

TextShape shape_of(Bytes text);

// Stores the code points of a valid text, none of which is greater than a unit holds.
void widen(Bytes text, uint8_t* out);
void widen(Bytes text, uint16_t* out);
void widen(Bytes text, uint32_t* out);

}  // namespace bpe
