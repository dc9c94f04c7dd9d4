// Words to ids: the part of `Encoder` that nearly all time is spent in.
#include <algorithm>

#include "encoder.h"

namespace bpe {

// What every short token becomes when it is a piece: mostly itself, but not if no merges lead to it. Of
// longer ones, those that are themselves in any case: all others are then known to be no tokens.
WordCache::Words Encoder::make_seeds() const {
    WordCache::Words seeds;
    const auto add = [&](ShortKey key, std::span<const Id> ids) {
        if (ids.empty() || ids.size() > WordCache::kMostIds) return;
        seeds.entries.push_back({key.low, key.high | uint64_t{ids.size()} << 60, {}});
        std::copy(ids.begin(), ids.end(), seeds.entries.back().ids);
    };
    ShortMerger shorts(*model_);
    std::vector<ShortKey> keys;
    const auto merge_all = [&] {
        shorts.run();
        for (size_t i = 0; i < keys.size(); ++i) add(keys[i], shorts.ids(i));
        shorts.clear();
        keys.clear();
    };
    for (Id id = 0; id < model_->size(); ++id) {
        const Bytes token = model_->token(id);
        if (!model_->normal(id) || token.empty() || token.size() > WordCache::kMostBytes) continue;
        if (token.size() > ShortKey::kMost) {
            if (model_->options().ignore_merges) seeds.add_long(token, {&id, 1});
            continue;
        }
        const ShortKey key = ShortKey::of(token, 0, token.size());
        if (model_->options().ignore_merges) {
            add(key, {&id, 1});
            continue;
        }
        if (!shorts.takes(token.size())) continue;
        keys.push_back(key);
        shorts.add(token);
        if (keys.size() == ShortMerger::kTogether) merge_all();
    }
    merge_all();
    return seeds;
}

namespace {

// Words that are looked up together: all places are asked for before the first is looked at, so that
// cache misses overlap.
struct LookUps {
    // Of 64, encoding took a tenth more: where a loop ends is guessed wrong.
    static constexpr size_t kSize = 256;
    std::array<ShortKey, kSize> keys;  // of a long word its hash and 0, which no entry has
    std::array<const WordCache::Entry*, kSize> places;
    std::array<uint8_t, kSize> longs;
    size_t long_count = 0;

    // `near_end`: the last word may have less than 16 bytes of the text from its start on.
    template <bool near_end>
    void request(Bytes text, size_t begin, std::span<const size_t> ends, const WordCache& cache) {
        const WordCache::View view = cache.view();
        size_t found = 0;  // not the member, which a store of a byte could change
        for (size_t i = 0; i < ends.size(); begin = ends[i++]) {
            const size_t length = ends[i] - begin;
            const ShortKey key = near_end && length <= ShortKey::kMost
                                     ? ShortKey::of(text, begin, length)
                                     : ShortKey::of_start(text.data() + begin, length);
            keys[i] = key;
            places[i] = view.first(key);
            __builtin_prefetch(places[i]);
            longs[found] = static_cast<uint8_t>(i);
            found += length > ShortKey::kMost;
        }
        long_count = found;
    }

    // Asks for what is known of long words, too: first where they are, then what they are.
    void request_long(Bytes text, size_t begin, std::span<const size_t> ends, const WordCache& cache) {
        for (size_t n = 0; n < long_count; ++n) {
            const size_t i = longs[n], from = i ? ends[i - 1] : begin;
            if (ends[i] - from > WordCache::kMostBytes) continue;
            keys[i].low = hash_of(text.subspan(from, ends[i] - from));
            cache.prefetch_long(keys[i].low);
        }
        for (size_t n = 0; n < long_count; ++n) cache.prefetch_ids(keys[longs[n]].low);
    }
};

}  // namespace

void Encoder::encode_words(Bytes text, size_t begin, std::span<const size_t> ends, Worker& worker,
                           IdBuffer& ids) const {
    WordCache& cache = worker.cache();
    LookUps words;
    const size_t last = ends.back();
    const size_t per_byte = model_->symbols_per_byte();
    Id* out = ids.reserve(per_byte * (last - begin) + WordCache::kMostIds);
    while (!ends.empty()) {
        const auto batch = ends.first(std::min(words.kSize, ends.size()));
        ends = ends.subspan(batch.size());
        if (batch.back() + ShortKey::kMost < text.size())
            words.request<false>(text, begin, batch, cache);
        else
            words.request<true>(text, begin, batch, cache);
        words.request_long(text, begin, batch, cache);
        for (size_t i = 0; i < batch.size(); ++i) {
            const WordCache::Entry& entry = *words.places[i];
            const uint64_t count = entry.matches(words.keys[i]);
            if (count - 1 < WordCache::kMostIds) [[likely]] {
                std::memcpy(out, entry.ids, sizeof entry.ids);
                out += count;
                continue;
            }
            const std::span<const Id> near = cache.find_near(&entry, words.keys[i]);
            if (!near.empty()) {
                for (size_t n = 0; n < near.size(); n += WordCache::kMostIds)
                    std::memcpy(out + n, near.data() + n, sizeof entry.ids);
                out += near.size();
                continue;
            }
            ids.resize(out - ids.data());
            const size_t from = i > 0 ? batch[i - 1] : begin;
            encode_missed({text.subspan(from, batch[i] - from), words.keys[i]}, worker, ids);
            out = ids.reserve(per_byte * (last - batch[i]) + WordCache::kMostIds);
        }
        begin = batch.back();
    }
    ids.resize(out - ids.data());
    if (!worker.missed.empty() && (worker.new_words.size() >= ShortMerger::kTogether ||
                                   ids.size() - worker.missed[0].place >= kMoved))
        fill_in(worker, ids);
}

void Encoder::encode_missed(const Word& word, Worker& worker, IdBuffer& ids) const {
    WordCache& cache = worker.cache();
    const bool is_short = word.key.high != 0;
    WordCache::Found found;
    if (is_short) {
        found = cache.find(word.key);
        if (found.is_pending) return worker.missed.push_back({ids.size(), found.ids[0]});
        if (!found.ids.empty()) return ids.append(found.ids);
    } else if (word.piece.size() <= WordCache::kMostBytes) {
        const std::span<const Id> known = cache.find_long(word.piece, word.key.low);
        if (!known.empty()) return ids.append(known);
    }
    if (!worker.shorts.takes(word.piece.size()))
        return remember(word, merge(word.piece, worker, ids), worker);
    const bool is_known_if_token = word.piece.size() <= WordCache::kMostBytes && cache.has_all_seeds(is_short);
    if (model_->options().ignore_merges && !is_known_if_token)
        if (const auto id = model_->whole(word.piece)) {
            ids.push_back(*id);
            return remember(word, {&*id, 1}, worker);
        }
    const auto number = static_cast<Id>(worker.new_words.size());
    const size_t place = is_short ? cache.announce(word.key, number, found) : 0;
    worker.new_words.push_back({word.piece, word.key, place});
    worker.missed.push_back({ids.size(), number});
}

void Encoder::fill_in(Worker& worker, IdBuffer& ids) const {
    ShortMerger& shorts = worker.shorts;
    shorts.clear();
    for (const Word& word : worker.new_words)
        shorts.add(word.piece);
    shorts.run();
    for (size_t i = 0; i < shorts.size(); ++i) {
        if (shorts.ids(i).empty()) merge(worker.new_words[i].piece, worker, ids);  // throws, or adds nothing
        remember(worker.new_words[i], shorts.ids(i), worker);
    }
    size_t more = 0, end = 0;
    for (size_t i = 0; i <= worker.missed.size(); ++i) {
        for (; end < worker.ends.size() && worker.ends[end].missed == i; ++end)
            *worker.ends[end].end = static_cast<int64_t>(worker.ends[end].place + more);
        if (i < worker.missed.size()) more += shorts.ids(worker.missed[i].word).size();
    }
    // From the last place to the first, so that nothing is overwritten before it is moved.
    const size_t size = ids.size();
    ids.reserve(more);
    ids.resize(size + more);
    Id* from = ids.data() + size;
    Id* to = ids.data() + size + more;
    for (size_t i = worker.missed.size(); i-- > 0;) {
        Id* const place = ids.data() + worker.missed[i].place;
        to = std::copy_backward(place, from, to);
        from = place;
        const std::span<const Id> made = shorts.ids(worker.missed[i].word);
        to = std::copy_backward(made.begin(), made.end(), to);
    }
    worker.new_words.clear();
    worker.missed.clear();
    worker.ends.clear();
}

void Encoder::remember(const Word& word, std::span<const Id> ids, Worker& worker) const {
    if (word.key.high != 0)
        ids.empty() ? worker.cache().forget(word.key) : worker.cache().insert(word.key, ids, word.place);
    else if (word.piece.size() <= WordCache::kMostBytes && !ids.empty())
        worker.cache().insert_long(word.piece, word.key.low, ids);
}

void Encoder::encode_piece(Bytes piece, Worker& worker, IdBuffer& ids) const {
    if (piece.empty()) return;
    const ShortKey key = piece.size() <= ShortKey::kMost ? ShortKey::of(piece, 0, piece.size())
                                                         : ShortKey{hash_of(piece), 0};
    encode_missed({piece, key}, worker, ids);
    settle(worker, ids);
}

std::span<const Id> Encoder::merge(Bytes piece, Worker& worker, IdBuffer& ids) const {
    const size_t before = ids.size();
    if (piece.size() > (model_->starts_as_bytes() ? ShortMerger::kMost : kLong) && model_->keeps_all()) {
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
