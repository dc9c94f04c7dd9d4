#include "encoder.h"

#include <algorithm>

namespace bpe {

std::unique_ptr<WordCache> Encoder::borrow() const {
    std::call_once(seeded_, [this] { seeds_ = make_seeds(); });
    std::unique_ptr<WordCache> cache;
    {
        const std::unique_lock lock(lock_, std::try_to_lock);
        if (lock && !caches_.empty()) {
            cache = std::move(caches_.back());
            caches_.pop_back();
        }
    }
    if (!cache) cache = std::make_unique<WordCache>(seeds_, kCacheBytes);
    cache->teach(has_threads_);
    return cache;
}

void Encoder::give_back(std::unique_ptr<WordCache> cache) const {
    const std::unique_lock lock(lock_, std::try_to_lock);
    if (lock) caches_.push_back(std::move(cache));
}

void Encoder::append(Bytes text, Enabled enabled, Worker& worker, Beat& beat, IdBuffer& ids) const {
    const auto on_text = [&](size_t begin, size_t end) {
        const Bytes segment = text.subspan(begin, end - begin);
        for_each_batch(
            words_, segment, false,
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

// The UTF-8 of a text stays in the room until its new words are merged.
void Encoder::append(RawText text, Enabled enabled, Worker& worker, Beat& beat, IdBuffer& ids) const {
    const size_t most = text.most_bytes() + RawText::kBehind;
    if (!text.is_utf8() && !worker.room.fits(most)) {
        settle(worker, ids);
        worker.room.resize(0);
        worker.room.reserve(std::max(worker.room_bytes, most));
    }
    append(text.utf8(worker.room), enabled, worker, beat, ids);
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
            scanner_.scan, segment, false,
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

}  // namespace bpe
