// Many texts to ids, on several threads: the part of `Encoder` that shares out work.
#include <algorithm>

#include "../base/crew.h"
#include "../base/runs.h"
#include "../scan/cuts.h"
#include "encoder.h"

namespace bpe {
namespace {

// The ids of jobs, put one after the other in the order of the jobs, whoever is ready first.
class Gathering {
public:
    Gathering(size_t jobs, IdBuffer& all) : all_(all), waiting_(jobs) {}

    // An empty buffer for a job's ids: used before, if there is one.
    IdBuffer take() {
        const std::lock_guard guard(lock_);
        if (free_.empty()) return {};
        IdBuffer ids = std::move(free_.back());
        free_.pop_back();
        ids.resize(0);
        return ids;
    }

    // Copies what can be copied. `place(job, offset)` is told of each job's place.
    template <class Place>
    void give(size_t job, IdBuffer ids, Place&& place) {
        struct Ready {
            size_t job, offset;
            IdBuffer ids;
        };
        std::vector<Ready> ready;
        {
            const std::lock_guard guard(lock_);
            waiting_[job] = std::move(ids);
            for (; next_ < waiting_.size() && waiting_[next_]; ++next_) {
                ready.push_back({next_, size_, std::move(*waiting_[next_])});
                size_ += ready.back().ids.size();
                waiting_[next_].reset();
            }
            if (all_.fits(size_)) all_.reserve(size_);  // makes pages: here, by one thread at a time
        }
        for (Ready& one : ready) {
            // The room is never made larger while others write to it.
            const bool fits = all_.fits(one.offset + one.ids.size());
            if (fits) std::copy_n(one.ids.data(), one.ids.size(), all_.data() + one.offset);
            place(one.job, one.offset);
            const std::lock_guard guard(lock_);
            if (fits)
                free_.push_back(std::move(one.ids));
            else
                waiting_[one.job] = std::move(one.ids);
        }
    }

    // When all are given: copies what did not fit.
    void finish() {
        size_t late = 0;
        for (const auto& ids : waiting_) late += ids ? ids->size() : 0;
        all_.resize(size_ - late);
        for (const auto& ids : waiting_)
            if (ids) all_.append(*ids);
    }

private:
    IdBuffer& all_;
    std::mutex lock_;  // of what follows
    std::vector<std::optional<IdBuffer>> waiting_;
    std::vector<IdBuffer> free_;
    size_t next_ = 0, size_ = 0;
};

}  // namespace

// A text or, of a long one, what can be encoded alone.
struct Encoder::Part {
    RawText text;
    size_t number;  // of the whole text
    size_t begin;   // in that
    bool is_last;   // of its text
};

void Encoder::append(const Part& part, Enabled enabled, Worker& worker, Beat& beat,
                     IdBuffer& ids) const {
    try {
        append(part.text, enabled, worker, beat, ids);
    } catch (const NotUtf8& error) {
        throw NotUtf8(part.begin + error.offset);
    }
}

Encoder::Batch Encoder::encode_batch(std::span<const RawText> texts, Enabled enabled,
                                     unsigned threads, Watch& watch) const {
    size_t total = 0;
    for (const RawText text : texts) total += text.most_bytes();
    Batch all;
    all.ids = results_->take(model_->symbols_per_byte() * total + WordCache::kMostIds);
    all.ends.resize(texts.size());
    const auto make_worker = [&](Beat& beat) { return Worker(*this, &beat, total); };
    if (threads == 1 || total <= kJobBytes) {
        parallel_for(1, 1, total, watch, make_worker, [&](size_t, Worker& worker, Beat& beat) {
            for (size_t i = 0; i < texts.size(); ++i) {
                if (i + 1 < texts.size()) prefetch_begin(texts[i + 1].begin());
                append(texts[i], enabled, worker, beat, all.ids);
                worker.note_end(all.ids, all.ends[i]);
            }
            settle(worker, all.ids);
        });
        return all;
    }
    share_caches();
    const std::vector<Part> parts = parts_of(texts, enabled);
    const auto begins =
        runs_of(parts.size(), kJobBytes, [&](size_t i) { return parts[i].text.size(); });
    Gathering gathering(begins.size() - 1, all.ids);
    // Each job first notes the ends of its texts among its own ids.
    const auto place = [&](size_t job, size_t offset) {
        for (size_t i = begins[job]; i < begins[job + 1]; ++i)
            if (parts[i].is_last) all.ends[parts[i].number] += static_cast<int64_t>(offset);
    };
    parallel_for(begins.size() - 1, threads, total, watch, make_worker,
                 [&](size_t job, Worker& worker, Beat& beat) {
                     IdBuffer ids = gathering.take();
                     for (size_t i = begins[job]; i < begins[job + 1]; ++i) {
                         append(parts[i], enabled, worker, beat, ids);
                         if (parts[i].is_last) worker.note_end(ids, all.ends[parts[i].number]);
                     }
                     settle(worker, ids);
                     gathering.give(job, std::move(ids), place);
                 });
    gathering.finish();
    return all;
}

// What one thread has learned in earlier calls, all know from now on. Not at the end of a call: there
// may be no other.
void Encoder::share_caches() const {
    has_threads_ = true;
    std::vector<std::unique_ptr<WordCache>> caches;
    {
        const std::unique_lock lock(lock_, std::try_to_lock);
        if (lock) caches.swap(caches_);
    }
    std::vector<WordCache::Words> fresh;
    const auto has_fresh = [](const auto& cache) { return cache->has_fresh(); };
    if (caches.size() > 1 && std::any_of(caches.begin(), caches.end(), has_fresh))
        for (const auto& cache : caches) fresh.push_back(cache->take_fresh());
    Crew crew(static_cast<unsigned>(fresh.size()));
    std::atomic<size_t> next{0};
    crew.run([&](unsigned) {
        for (size_t i; (i = next++) < fresh.size();)
            for (size_t other = 0; other < fresh.size(); ++other)
                if (other != i) caches[i]->learn(fresh[other]);
    });
    for (auto& cache : caches) give_back(std::move(cache));
}

std::vector<Encoder::Part> Encoder::parts_of(std::span<const RawText> texts, Enabled enabled) const {
    std::vector<Part> parts;
    parts.reserve(texts.size());
    const auto is_normalized = [](const AddedToken& token) { return token.normalized; };
    const bool may_cut = scanner_.cuts_at_spaces &&
                         (!preparation_ || (preparation_->keeps_cuts() &&
                                            std::none_of(added_.begin(), added_.end(), is_normalized)));
    for (size_t i = 0; i < texts.size(); ++i) {
        RawText text = texts[i];
        size_t begin = 0;
        for (size_t size = kJobBytes; may_cut && text.size() > 2 * size;) {
            const RawText head = text.subspan(0, size);
            const size_t cut = last_cut(scanner_, head, false, [&](size_t at) {
                return (preparation_ && head[at - 1] >= 0x80) || touches_added(head, at, enabled);
            });
            if (cut > 0) parts.push_back({text.subspan(0, cut), i, begin, false});
            text = text.subspan(cut, text.size() - cut);
            begin += cut;
            size = cut > 0 ? kJobBytes : 2 * size;
        }
        parts.push_back({text, i, begin, true});
    }
    return parts;
}

// Whether an added token may end or begin at this place or stand across; the text goes on.
bool Encoder::touches_added(RawText text, size_t at, Enabled enabled) const {
    size_t longest = 0;
    for (size_t i = 0; i < added_.size(); ++i)
        if (enabled[i]) longest = std::max(longest, added_[i].content.size());
    if (longest == 0) return false;
    // Of the text around, UTF-8: one more in front, so that half a pair there is not taken for a whole.
    const size_t first = at - std::min(at, longest + 1);
    const size_t last = std::min(text.size(), at + longest + 1);
    ByteBuffer before_room, around_room;
    const size_t place = text.subspan(first, at - first).utf8(before_room).size();
    const Bytes around = text.subspan(first, last - first).utf8(around_room);
    for (size_t i = 0; i < added_.size(); ++i) {
        const std::string& content = added_[i].content;
        if (!enabled[i] || content.empty()) continue;
        const size_t begin = place - std::min(place, content.size());
        if (may_begin(around, as_bytes(content), begin, place + 1)) return true;
    }
    return false;
}

}  // namespace bpe
