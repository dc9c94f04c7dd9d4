// Words to ids: the part of `Encoder` that nearly all time is spent in.
#include <algorithm>

#include "encoder.h"

namespace bpe {

// What every short token becomes when it is a piece: mostly itself, but not if no merges lead to it.
std::vector<WordCache::Entry> Encoder::make_seeds() const {
    std::vector<WordCache::Entry> seeds;
    Worker worker(*this);
    IdBuffer ids;
    for (Id id = 0; id < model_->size(); ++id) {
        const Bytes token = model_->token(id);
        if (!model_->normal(id) || token.empty() || token.size() > ShortKey::kMost) continue;
        const ShortKey key = ShortKey::of(token, 0, token.size());
        WordCache::Entry entry{key.low, key.high | uint64_t{1} << 60, {id}};
        if (!model_->options().ignore_merges) {
            ids.resize(0);
            try {
                merge(token, worker, ids);
            } catch (const MissingByte&) {
                continue;
            }
            if (ids.size() == 0 || ids.size() > WordCache::kMostIds) continue;
            entry.high = key.high | uint64_t{ids.size()} << 60;
            std::copy_n(ids.data(), ids.size(), entry.ids);
        }
        seeds.push_back(entry);
    }
    return seeds;
}

// All look-ups of a batch are requested before the first is made, so that cache misses overlap.
void Encoder::encode_words(Bytes text, size_t begin, std::span<const size_t> ends, Worker& worker,
                           IdBuffer& ids) const {
    constexpr size_t kBatch = 64;
    std::array<ShortKey, kBatch> keys;  // of long pieces 0, which no entry has
    std::array<uint64_t, kBatch> hashes;
    std::array<uint8_t, kBatch> longs;
    WordCache& cache = worker.cache();
    const size_t last = ends.back();
    // A suffix that is a symbol of its own adds an id to every piece.
    const size_t per_byte = model_->options().suffix_apart ? 2 : 1;
    Id* out = ids.reserve(per_byte * (last - begin) + WordCache::kMostIds);
    while (!ends.empty()) {
        const auto batch = ends.first(std::min(kBatch, ends.size()));
        ends = ends.subspan(batch.size());
        size_t long_count = 0;
        for (size_t i = 0, from = begin; i < batch.size(); from = batch[i++]) {
            const size_t length = batch[i] - from;
            if (length <= ShortKey::kMost) [[likely]] {
                keys[i] = ShortKey::of(text, from, length);
                hashes[i] = keys[i].hash();
                cache.prefetch(hashes[i]);
            } else {
                keys[i] = {0, 0};
                hashes[i] = length <= WordCache::kMostBytes ? hash_of(text.subspan(from, length)) : 0;
                cache.prefetch_long(hashes[i]);
                longs[long_count++] = static_cast<uint8_t>(i);
            }
        }
        for (size_t n = 0; n < long_count; ++n) cache.prefetch_ids(hashes[longs[n]]);
        for (size_t i = 0; i < batch.size(); begin = batch[i++]) {
            const WordCache::Entry& entry = cache.first(hashes[i]);
            const uint64_t count = entry.matches(keys[i]);
            if (count - 1 < WordCache::kMostIds) [[likely]] {
                std::memcpy(out, entry.ids, sizeof entry.ids);
                out += count;
                continue;
            }
            ids.resize(out - ids.data());
            encode_missed({text.subspan(begin, batch[i] - begin), keys[i], hashes[i], 0}, worker, ids);
            out = ids.reserve(per_byte * (last - batch[i]) + WordCache::kMostIds);
        }
    }
    ids.resize(out - ids.data());
    if (!worker.missed.empty()) fill_in(worker, ids);
}

void Encoder::encode_missed(const Missed& piece, Worker& worker, IdBuffer& ids) const {
    const WordCache& cache = worker.cache();
    const bool is_short = piece.key.high != 0;
    if (is_short || piece.piece.size() <= WordCache::kMostBytes) {
        const std::span<const Id> known = is_short ? cache.find(piece.key, piece.hash)
                                                   : cache.find_long(piece.piece, piece.hash);
        if (!known.empty()) return ids.append(known);
    }
    if (!model_->starts_as_bytes() || piece.piece.size() > ShortMerger::kMost)
        return remember(piece, merge(piece.piece, worker, ids), worker);
    if (model_->options().ignore_merges && !(is_short && cache.has_all_seeds()))
        if (const auto id = model_->whole(piece.piece)) {
            ids.push_back(*id);
            return remember(piece, {&*id, 1}, worker);
        }
    worker.missed.push_back(piece);
    worker.missed.back().place = ids.size();
}

void Encoder::fill_in(Worker& worker, IdBuffer& ids) const {
    ShortMerger& shorts = worker.shorts;
    shorts.clear();
    for (const Missed& missed : worker.missed) shorts.add(missed.piece);
    shorts.run();
    size_t more = 0;
    for (size_t i = 0; i < shorts.size(); ++i) {
        if (shorts.ids(i).empty()) merge(worker.missed[i].piece, worker, ids);  // throws, or adds nothing
        more += shorts.ids(i).size();
    }
    // From the last place to the first, so that nothing is overwritten before it is moved.
    const size_t size = ids.size();
    ids.reserve(more);
    ids.resize(size + more);
    Id* from = ids.data() + size;
    Id* to = ids.data() + size + more;
    for (size_t i = shorts.size(); i-- > 0;) {
        Id* const place = ids.data() + worker.missed[i].place;
        to = std::copy_backward(place, from, to);
        from = place;
        const std::span<const Id> made = shorts.ids(i);
        to = std::copy_backward(made.begin(), made.end(), to);
        remember(worker.missed[i], made, worker);
    }
    worker.missed.clear();
}

void Encoder::remember(const Missed& piece, std::span<const Id> ids, Worker& worker) const {
    if (ids.empty()) return;
    if (piece.key.high != 0)
        worker.cache().insert(piece.key, piece.hash, ids);
    else if (piece.piece.size() <= WordCache::kMostBytes)
        worker.cache().insert_long(piece.piece, piece.hash, ids);
}

void Encoder::encode_piece(Bytes piece, Worker& worker, IdBuffer& ids) const {
    Missed one{piece, {0, 0}, 0, 0};
    if (piece.empty()) return;
    if (piece.size() <= ShortKey::kMost) {
        one.key = ShortKey::of(piece, 0, piece.size());
        one.hash = one.key.hash();
    } else if (piece.size() <= WordCache::kMostBytes) {
        one.hash = hash_of(piece);
    }
    encode_missed(one, worker, ids);
    if (!worker.missed.empty()) fill_in(worker, ids);
}

std::span<const Id> Encoder::merge(Bytes piece, Worker& worker, IdBuffer& ids) const {
    const size_t before = ids.size();
    if (piece.size() > ShortMerger::kMost && model_->starts_as_bytes() && model_->has_all_bytes()) {
        if (!worker.longs) worker.longs = std::make_unique<LongMerger>(*model_);
        const auto whole = model_->options().ignore_merges ? model_->whole(piece) : std::nullopt;
        whole ? ids.push_back(*whole) : worker.longs->merge(piece, worker.merger, ids);
    } else {
        model_->encode(piece, worker.merger, worker.symbols);
        for (const Symbol& symbol : worker.symbols) ids.push_back(symbol.id);
    }
    return {ids.data() + before, ids.size() - before};
}

}  // namespace bpe
