// Pieces of up to 15 bytes as numbers: keys of the tables of words.
#pragma once

#include <algorithm>
#include <array>

#include "hash.h"

namespace bpe {

// The bytes of a piece and, in bits 56 to 59 of `high`, its length: equality is two comparisons and
// touches nothing but the key. `high` of a piece is never 0.
struct ShortKey {
    uint64_t low, high;
    bool operator==(const ShortKey&) const = default;

    static constexpr size_t kMost = 15;

    // Masks that keep the first n bytes of 16, as two words.
    static constexpr auto kKeep = [] {
        std::array<std::array<uint64_t, 2>, 17> masks{};  // and none of more
        for (size_t n = 0; n < 16; ++n) {
            masks[n][0] = n >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * n)) - 1;
            masks[n][1] = n <= 8 ? 0 : (uint64_t{1} << (8 * (n - 8))) - 1;
        }
        return masks;
    }();

    // The key of so many bytes of a text, at most kMost.
    static ShortKey of(Bytes text, size_t begin, size_t length) {
        // Load 16 bytes whatever the length is: the load need not wait for it.
        unsigned __int128 bytes = 0;
        if (begin + 16 <= text.size()) {
            std::memcpy(&bytes, text.data() + begin, 16);
        } else if (text.size() >= 16) {
            std::memcpy(&bytes, text.data() + text.size() - 16, 16);
            bytes >>= 8 * (begin + 16 - text.size());
        } else {
            std::memcpy(&bytes, text.data() + begin, length);
        }
        return {static_cast<uint64_t>(bytes) & kKeep[length][0],
                (static_cast<uint64_t>(bytes >> 64) & kKeep[length][1]) | uint64_t{length} << 56};
    }

    // The same where 16 bytes can be read; {0, 0}, which is no key, for more than kMost.
    static ShortKey of_start(const uint8_t* bytes, size_t length) {
        const Start& start = kStarts[std::min<size_t>(length, kMost + 1)];
        Words words;
        std::memcpy(&words, bytes, sizeof words);
        return std::bit_cast<ShortKey>((words & start.keep) | start.length);
    }

    size_t length() const { return high >> 56 & 15; }
    // The piece; it lies in this object.
    Bytes bytes() const { return {reinterpret_cast<const uint8_t*>(this), length()}; }
    uint64_t hash() const { return mix(low ^ kSeedA, high ^ kSeedB); }

private:
    // Both words of a key at once.
    using Words = uint64_t __attribute__((vector_size(16)));
    struct Start {
        Words keep, length;
    };
    static constexpr auto kStarts = [] {
        std::array<Start, kMost + 2> starts{};  // nothing is kept of more than kMost
        for (size_t n = 0; n <= kMost; ++n) {
            starts[n].keep = Words{kKeep[n][0], kKeep[n][1]};
            starts[n].length = Words{0, uint64_t{n} << 56};
        }
        return starts;
    }();
};

}  // namespace bpe
