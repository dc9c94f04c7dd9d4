// What merges start from: the symbols that pieces are spelled with.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "../base/byte_strings.h"

namespace bpe {

struct Start {
    // The strings of the symbols, whose ids count from 0, and how many bytes of a piece each covers
    // (an end mark that is a symbol of its own counts as one).
    ByteStrings tokens;
    std::vector<uint32_t> widths;
    // Replaces `ids` by the symbols of a piece. None: each byte is the symbol that `byte_ids` says.
    std::function<void(Bytes piece, std::vector<Id>& ids)> spell;
    std::array<uint8_t, 256> byte_ids{};
    // What every symbol but the first of a piece begins with; a token keeps that of its first one.
    std::string prefix;

    // The 256 bytes, in this order.
    static Start of_bytes(const std::array<uint8_t, 256>& byte_order);
};

}  // namespace bpe
