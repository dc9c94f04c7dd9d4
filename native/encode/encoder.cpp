#include "encoder.h"

namespace bpe {

void Encoder::encode_piece(Bytes piece, size_t offset, Worker& worker, std::vector<Id>& ids,
                           std::vector<Span>* spans) const {
    model_->encode(piece, worker.merger, worker.symbols);
    for (const Symbol& symbol : worker.symbols) {
        ids.push_back(symbol.id);
        if (spans) spans->push_back({offset + symbol.start, offset + symbol.end});
    }
}

void Encoder::encode(Bytes text, Enabled enabled, Worker& worker, Beat& beat,
                     std::vector<Id>& ids, std::vector<Span>* spans) const {
    const auto on_text = [&](size_t begin, size_t end) {
        const Bytes segment = text.subspan(begin, end - begin);
        for_each_piece(
            scan_, segment, false,
            [&](size_t from, size_t to) {
                encode_piece(segment.subspan(from, to - from), begin + from, worker, ids, spans);
            },
            beat);
    };
    for_each_segment(text, enabled, beat, on_text, [&](Match match) {
        ids.push_back(added_[match.index].id);
        if (spans) spans->push_back({match.begin, match.end});
        beat(match.end - match.begin);
    });
}

Encoder::Batch Encoder::encode_batch(std::span<const Bytes> texts, Enabled enabled,
                                     unsigned threads, Watch& watch) const {
    // A job is a run of texts of at least this many bytes: large enough to hide the hand-out, small
    // enough to share the work.
    constexpr size_t kJobBytes = 1 << 18;
    std::vector<size_t> begins{0};
    size_t total = 0, waiting = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
        total += texts[i].size();
        waiting += texts[i].size();
        if (waiting < kJobBytes && i + 1 < texts.size()) continue;
        begins.push_back(i + 1);
        waiting = 0;
    }
    std::vector<Batch> results(begins.size() - 1);
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
    Batch all;
    for (Batch& part : results) {
        const auto offset = static_cast<int64_t>(all.ids.size());
        all.ids.insert(all.ids.end(), part.ids.begin(), part.ids.end());
        for (const int64_t end : part.ends) all.ends.push_back(offset + end);
        part = {};
    }
    return all;
}

}  // namespace bpe
