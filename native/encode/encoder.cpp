#include "encoder.h"

#include <algorithm>

namespace bpe {

std::unique_ptr<WordCache> Encoder::borrow() const {
    std::call_once(seeded_, [this] { seeds_ = make_seeds(); });
    {
        const std::unique_lock lock(lock_, std::try_to_lock);
        if (lock && !caches_.empty()) {
            auto cache = std::move(caches_.back());
            caches_.pop_back();
            return cache;
        }
    }
    return std::make_unique<WordCache>(seeds_, kCacheBytes);
}

void Encoder::give_back(std::unique_ptr<WordCache> cache) const {
    const std::unique_lock lock(lock_, std::try_to_lock);
    if (lock) caches_.push_back(std::move(cache));
}

// What every short token becomes when it is a piece: mostly itself, but not if no merges lead to it.
std::vector<WordCache::Entry> Encoder::make_seeds() const {
    std::vector<WordCache::Entry> seeds;
    Merger merger(model_->table());
    std::vector<Symbol> symbols;
    for (Id id = 0; id < model_->size(); ++id) {
        const Bytes token = model_->token(id);
        if (!model_->normal(id) || token.empty() || token.size() > ShortKey::kMost) continue;
        try {
            model_->encode(token, merger, symbols);
        } catch (const MissingByte&) {
            continue;
        }
        if (symbols.empty() || symbols.size() > WordCache::kMostIds) continue;
        const ShortKey key = ShortKey::of(token, 0, token.size());
        WordCache::Entry entry{key.low, key.high | uint64_t{symbols.size()} << 60, {}};
        for (size_t i = 0; i < symbols.size(); ++i) entry.ids[i] = symbols[i].id;
        seeds.push_back(entry);
    }
    return seeds;
}

// All look-ups of a batch are requested before the first is made, so that cache misses overlap.
void Encoder::encode_words(Bytes text, size_t begin, std::span<const size_t> ends, Worker& worker,
                           IdBuffer& ids) const {
    struct Waiting {
        ShortKey key;  // `high` is 0 for a long piece
        uint64_t hash;
        size_t begin, end;
    };
    constexpr size_t kBatch = 64;
    Waiting waiting[kBatch];
    WordCache& cache = worker.cache();
    Id* out = ids.reserve(ends.back() - begin + WordCache::kMostIds);
    while (!ends.empty()) {
        const auto batch = ends.first(std::min(kBatch, ends.size()));
        ends = ends.subspan(batch.size());
        for (size_t i = 0; i < batch.size(); ++i) {
            const size_t length = batch[i] - begin;
            Waiting& w = waiting[i];
            w.begin = begin;
            w.end = begin = batch[i];
            w.key = {0, 0};
            if (length > ShortKey::kMost) continue;
            w.key = ShortKey::of(text, w.begin, length);
            w.hash = w.key.hash();
            cache.prefetch(w.hash);
        }
        for (size_t i = 0; i < batch.size(); ++i) {
            const Waiting& w = waiting[i];
            const WordCache::Entry* entry = w.key.high ? cache.find(w.key, w.hash) : nullptr;
            if (entry && entry->has_ids()) {
                std::memcpy(out, entry->ids, sizeof entry->ids);
                out += entry->count();
                continue;
            }
            ids.resize(out - ids.data());
            const Bytes piece = text.subspan(w.begin, w.end - w.begin);
            if (w.key.high)
                encode_short(piece, w.key, w.hash, entry, worker, ids);
            else
                encode_long(piece, worker, ids);
            out = ids.reserve(text.size() - w.end + WordCache::kMostIds);
        }
    }
    ids.resize(out - ids.data());
}

void Encoder::encode_piece(Bytes piece, Worker& worker, IdBuffer& ids) const {
    if (piece.empty() || piece.size() > ShortKey::kMost) return encode_long(piece, worker, ids);
    const ShortKey key = ShortKey::of(piece, 0, piece.size());
    const uint64_t hash = key.hash();
    const WordCache::Entry* entry = worker.cache().find(key, hash);
    if (entry && entry->has_ids()) return ids.append({entry->ids, entry->count()});
    encode_short(piece, key, hash, entry, worker, ids);
}

void Encoder::encode_short(Bytes piece, ShortKey key, uint64_t hash, const WordCache::Entry* entry,
                           Worker& worker, IdBuffer& ids) const {
    WordCache& cache = worker.cache();
    std::span<const Id> known;
    if (entry && cache.find_long(piece, hash, known)) return ids.append(known);
    const std::span<const Id> made = merge(piece, worker, ids);
    if (!entry && !made.empty()) cache.insert(key, hash, made);
    if (made.size() > WordCache::kMostIds) cache.insert_long(piece, hash, made);
}

void Encoder::encode_long(Bytes piece, Worker& worker, IdBuffer& ids) const {
    if (piece.empty() || piece.size() > WordCache::kMostBytes) {
        merge(piece, worker, ids);
        return;
    }
    WordCache& cache = worker.cache();
    const uint64_t hash = hash_of(piece);
    std::span<const Id> known;
    if (cache.find_long(piece, hash, known)) return ids.append(known);
    cache.insert_long(piece, hash, merge(piece, worker, ids));
}

std::span<const Id> Encoder::merge(Bytes piece, Worker& worker, IdBuffer& ids) const {
    const size_t before = ids.size();
    if (!model_->encode_short(piece, ids)) {
        model_->encode(piece, worker.merger, worker.symbols);
        for (const Symbol& symbol : worker.symbols) ids.push_back(symbol.id);
    }
    return {ids.data() + before, ids.size() - before};
}

void Encoder::encode(Bytes text, Enabled enabled, Worker& worker, Beat& beat, IdBuffer& ids) const {
    const auto on_text = [&](size_t begin, size_t end) {
        const Bytes segment = text.subspan(begin, end - begin);
        for_each_batch(
            scan_, segment, false,
            [&](size_t from, std::span<const size_t> ends) {
                encode_words(segment, from, ends, worker, ids);
            },
            beat);
    };
    for_each_segment(text, enabled, beat, on_text, [&](Match match) {
        ids.push_back(added_[match.index].id);
        beat(match.end - match.begin);
    });
}

void Encoder::encode_piece_with_spans(Bytes piece, size_t offset, Worker& worker, IdBuffer& ids,
                                      std::vector<Span>& spans) const {
    model_->encode(piece, worker.merger, worker.symbols);
    for (const Symbol& symbol : worker.symbols) {
        ids.push_back(symbol.id);
        spans.push_back({offset + symbol.start, offset + symbol.end});
    }
}

Encoder::Located Encoder::locate(Bytes text, Enabled enabled, Worker& worker, Beat& beat) const {
    Located found;
    Id word = 0;
    const auto on_text = [&](size_t begin, size_t end) {
        const Bytes segment = text.subspan(begin, end - begin);
        for_each_piece(
            scan_, segment, false,
            [&](size_t from, size_t to) {
                encode_piece_with_spans(segment.subspan(from, to - from), begin + from, worker,
                                        found.ids, found.spans);
                found.words.resize(found.ids.size(), word++);
            },
            beat);
    };
    for_each_segment(text, enabled, beat, on_text, [&](Match match) {
        found.added.push_back(static_cast<Id>(found.ids.size()));
        found.ids.push_back(added_[match.index].id);
        found.spans.push_back({match.begin, match.end});
        found.words.push_back(word++);
        beat(match.end - match.begin);
    });
    return found;
}

Encoder::Batch Encoder::encode_batch(std::span<const Bytes> texts, Enabled enabled,
                                     unsigned threads, Watch& watch) const {
    // A job is a run of texts of at least this many bytes: large enough to hide the hand-out, small
    // enough to share the work. One thread does all in one job, straight into the result.
    const size_t job_bytes = threads > 1 ? size_t{1} << 18 : SIZE_MAX;
    std::vector<size_t> begins{0};
    size_t total = 0, waiting = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
        total += texts[i].size();
        waiting += texts[i].size();
        if (waiting < job_bytes && i + 1 < texts.size()) continue;
        begins.push_back(i + 1);
        waiting = 0;
    }
    std::vector<Batch> results(begins.size() - 1);
    if (results.size() == 1) results[0].ids = results_->take(total + WordCache::kMostIds);
    parallel_for(
        results.size(), threads, total, watch, [&](Beat& beat) { return Worker(*this, &beat); },
        [&](size_t job, Worker& worker, Beat& beat) {
            Batch& batch = results[job];
            for (size_t i = begins[job]; i < begins[job + 1]; ++i) {
                encode(texts[i], enabled, worker, beat, batch.ids);
                batch.ends.push_back(static_cast<int64_t>(batch.ids.size()));
            }
        });
    if (results.size() == 1) return std::move(results[0]);
    return joined(results, threads, watch);
}

Encoder::Batch Encoder::joined(std::vector<Batch>& parts, unsigned threads,
                               Watch& watch) const {
    Batch all;
    std::vector<size_t> begins;
    size_t size = 0;
    for (const Batch& part : parts) {
        begins.push_back(size);
        for (const int64_t end : part.ends) all.ends.push_back(static_cast<int64_t>(size) + end);
        size += part.ids.size();
    }
    all.ids = results_->take(size);
    Id* const ids = all.ids.data();
    all.ids.resize(size);
    parallel_for(
        parts.size(), threads, size, watch, [](Beat&) { return 0; },
        [&](size_t i, int, Beat& beat) {
            std::copy_n(parts[i].ids.data(), parts[i].ids.size(), ids + begins[i]);
            beat(parts[i].ids.size());
            parts[i] = {};
        });
    return all;
}

}  // namespace bpe
