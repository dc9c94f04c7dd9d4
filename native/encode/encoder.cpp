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
