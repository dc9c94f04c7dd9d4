#include "counting.h"

#include "../base/runs.h"

namespace bpe {

std::vector<int64_t> count_batch(const Encoder& encoder, std::span<const RawText> texts,
                                 Enabled enabled, unsigned threads, Watch& watch) {
    struct Counter {
        Encoder::Worker worker;
        IdBuffer ids;
    };
    const auto begins =
        runs_of(texts.size(), Encoder::kJobBytes, [&](size_t i) { return texts[i].size(); });
    size_t total = 0;
    for (const RawText text : texts) total += text.size();
    std::vector<int64_t> counts(texts.size());
    parallel_for(
        begins.size() - 1, threads, total, watch,
        [&](Beat& beat) { return Counter{Encoder::Worker(encoder, &beat), {}}; },
        [&](size_t job, Counter& counter, Beat& beat) {
            for (size_t i = begins[job]; i < begins[job + 1]; ++i) {
                counter.ids.resize(0);
                counter.worker.room.resize(0);
                const Bytes text = texts[i].utf8(counter.worker.room);
                encoder.encode(text, enabled, counter.worker, beat, counter.ids);
                counts[i] = static_cast<int64_t>(counter.ids.size());
            }
        });
    return counts;
}

}  // namespace bpe
