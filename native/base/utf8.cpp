#include "utf8.h"

#include <algorithm>

namespace bpe {
namespace {

constexpr size_t kBlock = 16;

// Whether the next bytes, so many that a vector holds them, are ASCII.
bool is_ascii_block(const uint8_t* p) {
    uint64_t low, high;
    std::memcpy(&low, p, 8);
    std::memcpy(&high, p + 8, 8);
    return ((low | high) & 0x8080808080808080) == 0;
}

// The code point of a valid character of several bytes; moves behind it.
uint32_t next_code_point(const uint8_t*& p) {
    const uint32_t a = p[0];
    if (a < 0xE0) {
        p += 2;
        return (a & 0x1F) << 6 | (p[-1] & 0x3Fu);
    }
    if (a < 0xF0) {
        p += 3;
        return (a & 0x0F) << 12 | (p[-2] & 0x3Fu) << 6 | (p[-1] & 0x3Fu);
    }
    p += 4;
    return (a & 0x07) << 18 | (p[-3] & 0x3Fu) << 12 | (p[-2] & 0x3Fu) << 6 | (p[-1] & 0x3Fu);
}

template <class Unit>
void widen_to(Bytes text, Unit* out) {
    const uint8_t* p = text.data();
    const uint8_t* const end = p + text.size();
    while (p < end) {
        while (end - p >= static_cast<ptrdiff_t>(kBlock) && is_ascii_block(p)) {
            for (size_t i = 0; i < kBlock; ++i) out[i] = p[i];
            p += kBlock;
            out += kBlock;
        }
        while (p < end && *p < 0x80) *out++ = *p++;
        while (p < end && *p >= 0x80) *out++ = static_cast<Unit>(next_code_point(p));
    }
}

uint32_t most_of(uint8_t greatest_lead) {
    if (greatest_lead < 0x80) return 0x7F;
    if (greatest_lead < 0xC4) return 0xFF;
    return greatest_lead < 0xF0 ? 0xFFFF : 0x10FFFF;
}

}  // namespace

TextShape shape_of(Bytes text) {
    size_t at = 0, tails = 0;
    uint8_t greatest_lead = 0;
    while (at < text.size()) {
        if (text[at] < 0x80) {
            at += ascii_length(text.subspan(at));
            continue;
        }
        const Character c = character_at(text, at);
        if (c.length == 1) return {false, 0, 0};
        greatest_lead = std::max(greatest_lead, text[at]);
        tails += c.length - 1;
        at += c.length;
    }
    return {true, text.size() - tails, most_of(greatest_lead)};
}

void widen(Bytes text, uint8_t* out) { widen_to(text, out); }
void widen(Bytes text, uint16_t* out) { widen_to(text, out); }
void widen(Bytes text, uint32_t* out) { widen_to(text, out); }

}  // namespace bpe
