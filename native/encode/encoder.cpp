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
    if (preparation_) return append_prepared(text, enabled, worker, beat, ids);
    for_each_segment(
        text, enabled, beat,
        [&](size_t begin, size_t end) {
            append_segment(text.subspan(begin, end - begin), worker, beat, ids);
        },
        [&](Match match) {
            ids.push_back(added_[match.index].id);
            beat(match.end - match.begin);
        });
}

// The passes over added tokens, with all that happens between and behind them, on well-formed text.
void Encoder::append_prepared(Bytes text, Enabled enabled, Worker& worker, Beat& beat,
                              IdBuffer& ids) const {
    const auto on_token = [&](Match match) { ids.push_back(added_[match.index].id); };
    const auto on_segment = [&](Bytes segment) {
        if (preparation_->adds_space(segment))
            segment = kept(as_bytes(" "), segment, worker.prefixed, worker, ids);
        preparation_->cut(segment, [&](Bytes part) { append_segment(part, worker, beat, ids); });
    };
    raw_.cut(text, enabled, beat, [&](size_t begin, size_t end) {
        Bytes part = text.subspan(begin, end - begin);
        const Bytes made = preparation_->normalizer().apply(part, worker.normalized, worker.spare);
        if (made.data() != part.data()) part = kept({}, made, worker.rewritten, worker, ids);
        normalized_.cut(part, enabled, beat, [&](size_t from, size_t to) {
            on_segment(part.subspan(from, to - from));
        }, on_token);
    }, on_token);
}

void Encoder::append_segment(Bytes segment, Worker& worker, Beat& beat, IdBuffer& ids) const {
    for_each_batch(
        words_, segment, false,
        [&](size_t from, std::span<const size_t> ends) {
            encode_words(segment, from, ends, worker, ids);
        },
        beat);
}

void Encoder::append(RawText text, Enabled enabled, Worker& worker, Beat& beat, IdBuffer& ids) const {
    if (!text.is_utf8()) make_room(worker.room, text.most_bytes() + RawText::kBehind, worker, ids);
    const Bytes utf8 = text.utf8(worker.room);
    if (preparation_ && !text.is_sound()) check_utf8(utf8);
    append(utf8, enabled, worker, beat, ids);
}

void Encoder::make_room(ByteBuffer& room, size_t bytes, Worker& worker, IdBuffer& ids) const {
    if (room.fits(bytes)) return;
    settle(worker, ids);
    room.resize(0);
    room.reserve(std::max(worker.room_bytes, bytes));
}

Bytes Encoder::kept(Bytes front, Bytes bytes, ByteBuffer& room, Worker& worker, IdBuffer& ids) const {
    const size_t size = front.size() + bytes.size();
    make_room(room, size, worker, ids);
    room.append(front);
    room.append(bytes);
    return Bytes(room).last(size);
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
