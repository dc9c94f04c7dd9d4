#include "utf8.h"

#include <algorithm>

namespace bpe {
namespace {

constexpr size_t kBlock = 16;
constexpr size_t kCounted = 240;  // bytes whose number fits a byte

// Whether the next bytes, so many that a vector holds them, are ASCII.
bool is_ascii_block(const uint8_t* p) {
    uint64_t low, high;
    std::memcpy(&low, p, 8);
    std::memcpy(&high, p + 8, 8);
    return ((low | high) & 0x8080808080808080) == 0;
}

// `character_at` for a character of several bytes with at least 4 bytes of text left.
Character long_character_at(const uint8_t* p) {
    uint32_t word;
    std::memcpy(&word, p, 4);
    const uint32_t second = word >> 8 & 0x3F, third = word >> 16 & 0x3F, fourth = word >> 24 & 0x3F;
    if ((word & 0xC0E0) == 0x80C0) {
        const uint32_t c = (word & 0x1F) << 6 | second;
        return {c, c < 0x80 ? 1u : 2u};
    }
    if ((word & 0xC0C0F0) == 0x8080E0) {
        const uint32_t c = (word & 0x0F) << 12 | second << 6 | third;
        return {c, c < 0x800 || (c >= 0xD800 && c < 0xE000) ? 1u : 3u};
    }
    if ((word & 0xC0C0C0F8) != 0x808080F0) return {kInvalid, 1};
    const uint32_t c = (word & 0x07) << 18 | second << 12 | third << 6 | fourth;
    return {c, c < 0x10000 || c > 0x10FFFF ? 1u : 4u};
}

// Each character stored has a byte that is no continuation, and those are what the shape counts.
template <class Unit>
bool widen_to(Bytes text, Unit* out) {
    const uint8_t* p = text.data();
    const uint8_t* const end = p + text.size();
    for (;;) {
        while (end - p >= static_cast<ptrdiff_t>(kBlock) && is_ascii_block(p)) {
            for (size_t i = 0; i < kBlock; ++i) out[i] = p[i];
            p += kBlock;
            out += kBlock;
        }
        while (p < end && *p < 0x80) *out++ = *p++;
        if (p == end) return true;
        while (p < end && *p >= 0x80) {
            const Character c = end - p < 4 ? character_at({p, end}, 0) : long_character_at(p);
            if (c.length == 1) return false;
            *out++ = static_cast<Unit>(c.code_point);
            p += c.length;
        }
    }
}

uint32_t most_of(uint8_t greatest_lead) {
    if (greatest_lead < 0x80) return 0x7F;
    if (greatest_lead < 0xC4) return 0xFF;
    return greatest_lead < 0xF0 ? 0xFFFF : 0x10FFFF;
}

}  // namespace

// All bytes inside a character are less than the lead of any character of several bytes.
TextShape shape_of(Bytes text) {
    size_t characters = ascii_length(text);
    const Bytes rest = text.subspan(characters);
    uint8_t greatest = 0;
    for (size_t at = 0; at < rest.size(); at += kCounted) {
        uint8_t leads = 0;  // a byte, so that a vector holds many
        for (const uint8_t byte : rest.subspan(at, std::min(kCounted, rest.size() - at))) {
            leads += (byte & 0xC0) != 0x80;
            greatest = std::max(greatest, byte);
        }
        characters += leads;
    }
    return {characters, most_of(greatest)};
}

bool widen(Bytes text, uint8_t* out) { return widen_to(text, out); }
bool widen(Bytes text, uint16_t* out) { return widen_to(text, out); }
bool widen(Bytes text, uint32_t* out) { return widen_to(text, out); }

void append_utf8(uint32_t code_point, std::vector<uint8_t>& out) {
    uint8_t bytes[4];
    out.insert(out.end(), bytes, write_utf8(code_point, bytes));
}

}  // namespace bpe
