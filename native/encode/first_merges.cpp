#include "first_merges.h"

#include <algorithm>

namespace bpe {

std::vector<uint32_t> FirstMerges::parts_of(const ByteStrings& tokens) const {
    std::vector<uint32_t> parts(tokens.size(), kTwo - 1);
    for (Id id = 0; id < tokens.size(); ++id) {
        const Bytes bytes = tokens[id];
        if (bytes.size() == 1 && bytes_[bytes[0]] == id) parts[id] = bytes[0];
        if (bytes.size() == 2) parts[id] = kTwo | static_cast<uint32_t>(place_of(bytes.data()));
    }
    return parts;
}

void FirstMerges::note(const Merge& merge, Priority priority, const ByteStrings& tokens,
                       std::span<const uint32_t> parts) {
    const uint32_t left = parts[merge.left], right = parts[merge.right];
    const Bytes before = tokens[merge.left], behind = tokens[merge.right];
    if (before.empty() || behind.empty()) return;  // no part of a piece
    if (right < 256) {
        Pair& pair = pair_of(before.back(), right);
        pair.before = std::min(pair.before, priority);
    }
    if (left >= 256) return;
    Pair& pair = pair_of(left, behind.front());
    pair.behind = std::min(pair.behind, priority);
    if (right >= 256) return;
    pair.priority = pair.early = priority;
    pair.symbols[1] = merge.merged;
}

void FirstMerges::check(const Merge& merge, Priority priority, std::span<const uint32_t> parts) {
    for (const Id id : {merge.left, merge.right}) {
        if (parts[id] < kTwo) continue;
        Pair& pair = pairs_[parts[id] - kTwo];
        if (pair.symbols[1] == id && pair.priority >= priority) pair.early = kNever;
    }
}

}  // namespace bpe
