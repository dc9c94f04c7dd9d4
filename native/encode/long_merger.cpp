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
    const auto fits = [&](std::span<const Id> tokens) {
        return ids.size() == first || joint_holds(ids.data()[ids.size() - 1], tokens[0], merger);
    };
    const bool is_merged = !made.empty();
    if (is_merged && (begin == 0 || !model_.in_a_token(piece[begin - 1], piece[begin]) || fits(made))) {
        ids.append(made);
        return 0;
    }
    size_t again = 0;
    for (size_t tokens = 2;; tokens *= 2) {
        for (size_t n = 0; n < tokens && ids.size() > first; ++n) {
            begin -= model_.token(ids.data()[ids.size() - 1]).size();
            ids.resize(ids.size() - 1);
        }
        again += end - begin;
        const std::span<const Id> merged = merge_window(piece.subspan(begin, end - begin), merger);
        kept_.assign(merged.begin(), merged.end());
        if (!fits(kept_)) continue;
        ids.append(kept_);
        return again;
    }
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
