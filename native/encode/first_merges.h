// Merges of the bytes of a piece that come whatever else happens.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "../base/byte_strings.h"
#include "merge.h"
#include "vocabulary.h"

namespace bpe {

// About half of all merges are of two single bytes, and most of those can be told from the bytes beside
// them, before merging begins. The merge of bytes b and c in the text a b c d is sure, if
//
// - its priority is below that of every merge of something that ends in a with b, and of c with something
//   that begins with d: whatever a and d have become by then, b and c are there when their turn comes;
// - it is below that of every merge that the token bc is a part of: done earlier than its turn, it
//   makes nothing that is merged sooner than what would have been merged meanwhile.
//
// So merging goes on as it would. (Nearly all vocabularies fulfil the second by nature, but a list of
// merges can be in any order.)
class FirstMerges {
public:
    FirstMerges() = default;  // of no use before it is assigned to
    // `bytes`: the tokens of single bytes; `priority_of(i)` that of a merge.
    template <class PriorityOf>
    FirstMerges(const ByteStrings& tokens, const std::array<Id, 256>& bytes,
                std::span<const Merge> merges, PriorityOf&& priority_of)
        : bytes_(bytes), pairs_(1 << 16) {
        for (unsigned two = 0; two < pairs_.size(); ++two)
            pair_of(two & 0xFF, two >> 8).symbols = {bytes[two & 0xFF], kNoId};
        const std::vector<uint32_t> parts = parts_of(tokens);
        for (size_t i = 0; i < merges.size(); ++i) note(merges[i], priority_of(i), tokens, parts);
        for (size_t i = 0; i < merges.size(); ++i) check(merges[i], priority_of(i), parts);
    }

    // Where `start` writes what is left to merge of pieces, one behind the other: symbols; of each with the
    // one before the priority, where that is known; and the places of those where it is to be looked up.
    // For each there must be as much room as the piece has bytes.
    struct Left {
        Id* symbols;
        Priority* priorities;
        uint32_t* asked;
        size_t size = 0, asked_size = 0;
    };
    // Adds a piece of at least one byte. All conditions are numbers: branches would be guessed wrong.
    void start(Bytes piece, Left& left) const {
        const uint8_t* const bytes = piece.data();
        size_t size = left.size, asked_size = left.asked_size;
        // Of the byte before, whether it and the one before that are merged, and whether it is merged with
        // this one.
        size_t is_second = 0, is_taken = 0;
        Priority known = kNever, least_before = kNever;
        const auto add = [&](Id symbol, size_t is_sure) {
            left.symbols[size] = symbol;
            left.priorities[size] = known;
            left.asked[asked_size] = static_cast<uint32_t>(size);
            asked_size += is_second | is_sure;
            size += 1 - is_taken;
            is_second = is_taken;
            is_taken = is_sure;
        };
        const auto add_first_of = [&](const Pair& pair, Priority least_behind) {
            const size_t is_sure = pair.early < std::min(least_before, least_behind);
            add(pair.symbols[is_sure], is_sure);
            known = pair.priority;
            least_before = pair.before;
        };
        if (piece.size() > 1) {
            const Pair* pair = &pairs_[place_of(bytes)];
            const auto add_next = [&](size_t i) {
                const Pair& next = pairs_[place_of(bytes + i)];
                add_first_of(*pair, next.behind);
                pair = &next;
            };
            if (piece.size() > 2) add_next(1);
            asked_size = left.asked_size;  // not of the first one
            for (size_t i = 2; i + 1 < piece.size(); ++i) add_next(i);
            add_first_of(*pair, kNever);
            if (piece.size() == 2) asked_size = left.asked_size;
        }
        add(bytes_[piece.back()], 0);
        left.size = size;
        left.asked_size = asked_size;
    }

private:
    struct Pair {
        Priority priority = kNever;  // of its merge
        Priority early = kNever;     // the same, if that may be done before its turn
        // The least priority of a merge of something that ends in the first byte with the second, and of
        // the first with something that begins with the second.
        Priority before = kNever, behind = kNever;
        std::array<Id, 2> symbols;  // of the first byte, and of both merged
    };
    static size_t place_of(const uint8_t* two) {
        uint16_t place;
        std::memcpy(&place, two, sizeof place);
        return place;
    }
    Pair& pair_of(uint8_t first, uint8_t second) {
        const uint8_t two[] = {first, second};
        return pairs_[place_of(two)];
    }

    // Of tokens of one byte that byte, of two bytes these and kTwo, of others kTwo - 1.
    static constexpr uint32_t kTwo = 1 << 16;
    std::vector<uint32_t> parts_of(const ByteStrings& tokens) const;
    void note(const Merge& merge, Priority priority, const ByteStrings& tokens,
              std::span<const uint32_t> parts);
    void check(const Merge& merge, Priority priority, std::span<const uint32_t> parts);

    std::array<Id, 256> bytes_{};
    LargeVector<Pair> pairs_;  // by both bytes
};

}  // namespace bpe
