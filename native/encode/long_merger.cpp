#include "long_merger.h"

#include <algorithm>

namespace bpe {

void LongMerger::merge(Bytes piece, Merger& merger, IdBuffer& ids) {
    const size_t first = ids.size();
    size_t again = 0;
    for (size_t at = 0; at < piece.size();) {
        const size_t begin = at;
        if (!model_.starts_as_bytes() || again > 2 * at) {  // or tokens are long: so are the chunks
            at = chunk_end(piece, at, kLongChunk);
            again += join(piece, begin, at, {}, first, merger, ids);
        } else {
            again += merge_short_chunks(piece, at, first, merger, ids);
        }
        if (again <= kMostAgain * piece.size()) continue;
        ids.resize(first);
        return ids.append(merge_window(piece, merger));
    }
}

size_t LongMerger::merge_short_chunks(Bytes piece, size_t& at, size_t first, Merger& merger,
                                      IdBuffer& ids) {
    std::array<size_t, kChunks + 1> cuts;
    chunks_.clear();
    cuts[0] = at;
    while (chunks_.size() < kChunks && at < piece.size()) {
        const size_t end = chunk_end(piece, at, kChunk);
        chunks_.add(piece.subspan(at, end - at));
        cuts[chunks_.size()] = at = end;
    }
    chunks_.run();
    size_t again = 0;
    for (size_t i = 0; i < chunks_.size(); ++i)
        again += join(piece, cuts[i], cuts[i + 1], chunks_.ids(i), first, merger, ids);
    return again;
}

// Where no token has the two bytes on either side in it, the joint holds in any case; otherwise the
// end of a character is a better place than the middle.
size_t LongMerger::chunk_end(Bytes piece, size_t at, size_t most) const {
    if (piece.size() - at <= most) return piece.size();
    size_t end = 0;
    for (size_t place = at + most; place >= at + most - kTried; --place) {
        if ((piece[place] & 0xC0) == 0x80) continue;
        if (!model_.in_a_token(piece[place - 1], piece[place])) return place;
        if (end == 0) end = place;
    }
    return end ? end : at + most;
}

size_t LongMerger::join(Bytes piece, size_t begin, size_t end, std::span<const Id> made, size_t first,
                        Merger& merger, IdBuffer& ids) {
    const std::span<const Id> before(ids.data() + first, ids.size() - first);
    if (!made.empty() && (begin == 0 || !model_.in_a_token(piece[begin - 1], piece[begin]) ||
                          joint_holds(before.back(), made[0], merger))) {
        ids.append(made);
        return 0;
    }
    size_t again = 0, left = std::min(kAround, before.size()), right = std::min(kAround, made.size());
    for (;;) {
        const size_t from = begin - bytes_of(before.last(left));
        const size_t to = right < made.size() ? begin + bytes_of(made.first(right)) : end;
        const std::span<const Id> merged = merge_window(piece.subspan(from, to - from), merger);
        kept_.assign(merged.begin(), merged.end());
        again += to - from;
        const bool holds_left =
            left == before.size() || joint_holds(before[before.size() - left - 1], kept_.front(), merger);
        const bool holds_right = right == made.size() || joint_holds(kept_.back(), made[right], merger);
        if (holds_left && holds_right) break;
        if (!holds_left) left = std::min(2 * left, before.size());
        if (!holds_right) right = std::min(2 * right, made.size());
    }
    ids.resize(ids.size() - left);
    ids.append(kept_);
    ids.append(made.subspan(right));
    return again;
}

size_t LongMerger::bytes_of(std::span<const Id> tokens) const {
    size_t bytes = 0;
    for (const Id id : tokens) bytes += model_.token(id).size();
    return bytes;
}

bool LongMerger::joint_holds(Id left, Id right, Merger& merger) {
    const uint64_t pair = uint64_t{left} << 32 | right;
    Joint& joint = joints_[hash_of(pair) & (kJoints - 1)];
    if (joint.pair == pair) return joint.holds;
    const Bytes a = model_.token(left), b = model_.token(right);
    std::vector<uint8_t> text(a.begin(), a.end());
    text.insert(text.end(), b.begin(), b.end());
    const std::span<const Id> merged = merge_window(text, merger);
    joint = {pair, merged.size() == 2 && merged[0] == left && merged[1] == right};
    return joint.holds;
}

std::span<const Id> LongMerger::merge_window(Bytes text, Merger& merger) {
    window_.clear();
    if (window_.takes(text.size())) {
        window_.add(text);
        window_.run();
        return window_.ids(0);
    }
    model_.start(text, symbols_);
    merger.merge(symbols_);
    merged_.clear();
    for (const Symbol& symbol : symbols_) merged_.push_back(symbol.id);
    return merged_;
}

}  // namespace bpe
