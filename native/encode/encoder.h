// Text in, ids out; ids in, bytes out. Immutable but for its caches: any number of threads may use
// one encoder.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "../base/buffer.h"
#include "../base/parallel.h"
#include "../scan/raw_text.h"
#include "../scan/scanner.h"
#include "added.h"
#include "free_cuts.h"
#include "long_merger.h"
#include "model.h"
#include "prepare.h"
#include "short_merger.h"
#include "word_cache.h"

namespace bpe {

// An id that cannot be decoded.
class BadId : public std::out_of_range {
public:
    BadId(const std::string& id, size_t position)
        : std::out_of_range("Invalid token for decoding: " + id + " (at position " +
                            std::to_string(position) + ")") {}
};

// Bytes of the text that a token covers.
struct Span {
    uint64_t begin, end;
};

// Added tokens that take part in an encoding, one byte each, in their order.
using Enabled = std::span<const uint8_t>;

class Encoder {
public:
    // `preparation`, if there is one, is what happens to texts before the scanner; the contents of added
    // tokens that are matched in normalized text have gone through its normalizer.
    Encoder(std::shared_ptr<const Model> model, std::vector<AddedToken> added, Scanner scanner,
            std::shared_ptr<const Preparation> preparation = nullptr)
        : model_(std::move(model)),
          added_(std::move(added)),
          raw_(added_, false),
          normalized_(added_, true),
          scanner_(std::move(scanner)),
          words_(scanner_.name == "none" ? free_cuts(*model_).value_or(scanner_.scan)
                                         : scanner_.scan),
          preparation_(std::move(preparation)) {}
    Encoder(const Encoder&) = delete;

    const Model& model() const { return *model_; }
    const std::vector<AddedToken>& added() const { return added_; }
    // The pass over raw text, or the one over normalized text.
    const AddedTokens& pass(bool normalized) const { return normalized ? normalized_ : raw_; }

    struct Word {
        Bytes piece;
        ShortKey key;  // of a long piece its hash and 0
        size_t place = 0;  // in the cache, if it was announced
    };
    // The place among the ids where those of a new word belong.
    struct Missed {
        size_t place;
        Id word;  // number of the word
    };
    // The end of a text among the ids, behind so many of these places.
    struct TextEnd {
        size_t place, missed;
        int64_t* end;  // where it is to be written
    };

    // Bytes of text that are worth handing to a thread.
    static constexpr size_t kJobBytes = size_t{1} << 18;

    // What one thread uses again from text to text, but not after an error. Its cache comes from the
    // encoder and goes back to it: the next call finds it warm.
    class Worker {
    public:
        // `text_bytes`: of all its texts, or more.
        explicit Worker(const Encoder& encoder, Beat* beat = nullptr, size_t text_bytes = kJobBytes)
            : room_bytes(std::min(text_bytes, kJobBytes)),
              merger(encoder.model_->table(), beat),
              shorts(*encoder.model_),
              encoder_(encoder) {}
        ~Worker() {
            // After an error words may have been announced that do not follow.
            if (cache_ && missed.empty()) encoder_.give_back(std::move(cache_));
        }
        Worker(const Worker&) = delete;

        // Borrowed when it is first asked for: not all work looks at it.
        WordCache& cache() {
            if (!cache_) cache_ = encoder_.borrow();
            return *cache_;
        }

        // Has the number of ids written there, as soon as all words before have theirs.
        void note_end(const IdBuffer& ids, int64_t& end) {
            if (missed.empty())
                end = static_cast<int64_t>(ids.size());
            else
                ends.push_back({ids.size(), missed.size(), &end});
        }

        const size_t room_bytes;
        // Of texts whose new words are not merged yet: their UTF-8, and what was made of it.
        ByteBuffer room, rewritten, prefixed;
        std::vector<uint8_t> normalized, spare;
        Merger merger;
        std::vector<Symbol> symbols;
        ShortMerger shorts;
        std::unique_ptr<LongMerger> longs;  // made when it is first needed
        std::vector<Word> new_words;        // each once, and where they occur
        std::vector<Missed> missed;
        std::vector<TextEnd> ends;

    private:
        const Encoder& encoder_;
        std::unique_ptr<WordCache> cache_;
    };

    // Appends the ids of a text.
    void encode(Bytes text, Enabled enabled, Worker& worker, Beat& beat, IdBuffer& ids) const {
        append(RawText(text), enabled, worker, beat, ids);
        settle(worker, ids);
    }
    // The same for one piece of a split made elsewhere.
    void encode_piece(Bytes piece, Worker& worker, IdBuffer& ids) const;

    // The same with the bytes that each id covers, counted from `offset`.
    void encode_piece_with_spans(Bytes piece, size_t offset, Worker& worker, IdBuffer& ids,
                                 std::vector<Span>& spans) const;

    // Where ids come from: the bytes that each covers, the number of its piece, where an added token
    // counts as one, and the places of added tokens among the ids.
    struct Located {
        IdBuffer ids;
        std::vector<Span> spans;
        std::vector<Id> words, added;
    };
    Located locate(Bytes text, Enabled enabled, Worker& worker, Beat& beat) const;

    // Ids of many texts one after the other, and where each text's ids end.
    struct Batch {
        IdBuffer ids;
        std::vector<int64_t> ends;
    };
    Batch encode_batch(std::span<const RawText> texts, Enabled enabled, unsigned threads,
                       Watch& watch) const;

    // Cuts the text at its added tokens: `on_text(begin, end)` and `on_token(match)` in order.
    template <class OnText, class OnToken>
    void for_each_segment(Bytes text, Enabled enabled, Beat& beat, OnText&& on_text,
                          OnToken&& on_token) const {
        const auto second_pass = [&](size_t begin, size_t end) {
            normalized_.cut(
                text.subspan(begin, end - begin), enabled, beat,
                [&](size_t b, size_t e) { on_text(begin + b, begin + e); },
                [&](Match m) { on_token(Match{begin + m.begin, begin + m.end, m.index}); });
        };
        raw_.cut(text, enabled, beat, second_pass, on_token);
    }

    // Throws BadId for an id that nobody owns.
    Bytes token(int64_t id, size_t position = 0) const {
        if (id < 0 || id >= kNoId || !model_->owned(static_cast<Id>(id)))
            throw BadId(std::to_string(id), position);
        return model_->token(static_cast<Id>(id));
    }

private:
    // The ids of consecutive pieces.
    void encode_words(Bytes text, size_t begin, std::span<const size_t> ends, Worker& worker,
                      IdBuffer& ids) const;
    // The ids of a piece that is not where the cache looks first, or their place for later.
    void encode_missed(const Word& word, Worker& worker, IdBuffer& ids) const;
    // Appends the ids of a text but for those of some new words, which `settle` puts in: the more of
    // them are merged at once, the less does one wait for the other.
    void append(Bytes utf8, Enabled enabled, Worker& worker, Beat& beat, IdBuffer& ids) const;
    void append(RawText text, Enabled enabled, Worker& worker, Beat& beat, IdBuffer& ids) const;
    void append_prepared(Bytes text, Enabled enabled, Worker& worker, Beat& beat, IdBuffer& ids) const;
    void append_segment(Bytes segment, Worker& worker, Beat& beat, IdBuffer& ids) const;
    // Room for so many bytes that stay until new words are merged.
    void make_room(ByteBuffer& room, size_t bytes, Worker& worker, IdBuffer& ids) const;
    // A copy of both, one behind the other, in such room.
    Bytes kept(Bytes front, Bytes bytes, ByteBuffer& room, Worker& worker, IdBuffer& ids) const;
    // Merges what is left for later, and moves all ids behind the first of these places.
    void settle(Worker& worker, IdBuffer& ids) const {
        if (!worker.missed.empty()) fill_in(worker, ids);
    }
    void fill_in(Worker& worker, IdBuffer& ids) const;
    void remember(const Word& word, std::span<const Id> ids, Worker& worker) const;
    // The ids of a piece as the model makes them; returns them.
    std::span<const Id> merge(Bytes piece, Worker& worker, IdBuffer& ids) const;
    struct Part;
    void append(const Part& part, Enabled enabled, Worker& worker, Beat& beat, IdBuffer& ids) const;
    std::vector<Part> parts_of(std::span<const RawText> texts, Enabled enabled) const;
    bool touches_added(RawText text, size_t at, Enabled enabled) const;
    std::unique_ptr<WordCache> borrow() const;
    void give_back(std::unique_ptr<WordCache> cache) const;
    void share_caches() const;
    WordCache::Words make_seeds() const;

    // Bytes that the cache of one thread may take for short pieces.
    static constexpr size_t kCacheBytes = size_t{64} << 20;

    // Ids behind the first of some new words from which on they are merged.
    static constexpr size_t kMoved = size_t{1} << 14;

    // Bytes of a piece of characters that is not merged as one.
    static constexpr size_t kLong = 512;

    std::shared_ptr<const Model> model_;
    std::vector<AddedToken> added_;
    AddedTokens raw_, normalized_;
    Scanner scanner_;
    Scan words_;  // pieces or, of text without a split, parts that merge alone
    std::shared_ptr<const Preparation> preparation_;
    mutable std::atomic<bool> has_threads_ = false;  // somebody has encoded on several
    std::shared_ptr<IdBuffer::Pool> results_ = std::make_shared<IdBuffer::Pool>();
    mutable std::mutex lock_;  // of the two below; never waited for, so a fork cannot hang on it
    mutable std::vector<std::unique_ptr<WordCache>> caches_;
    mutable std::once_flag seeded_;
    mutable WordCache::Words seeds_;
};

}  // namespace bpe
