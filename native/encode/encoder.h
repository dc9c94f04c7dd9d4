// Text in, ids out; ids in, bytes out. Immutable: any number of threads may use one encoder.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "added.h"
#include "model.h"
#include "../base/parallel.h"
#include "../scan/scanner.h"

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
    Encoder(std::unique_ptr<const Model> model, std::vector<AddedToken> added, Scan scan)
        : model_(std::move(model)),
          added_(std::move(added)),
          raw_(added_, false),
          normalized_(added_, true),
          scan_(scan) {}
    Encoder(const Encoder&) = delete;

    const Model& model() const { return *model_; }
    const std::vector<AddedToken>& added() const { return added_; }
    // The pass over raw text, or the one over normalized text.
    const AddedTokens& pass(bool normalized) const { return normalized ? normalized_ : raw_; }

    // What one thread uses again from text to text.
    struct Worker {
        explicit Worker(const Encoder& encoder, Beat* beat = nullptr)
            : merger(encoder.model_->table(), beat) {}
        Merger merger;
        std::vector<Symbol> symbols;
    };

    // Appends the ids of a text and, if `spans` is given, the bytes that each of them covers.
    void encode(Bytes text, Enabled enabled, Worker& worker, Beat& beat, std::vector<Id>& ids,
                std::vector<Span>* spans = nullptr) const;
    // The same for one piece of a split made elsewhere; spans count from `offset`.
    void encode_piece(Bytes piece, size_t offset, Worker& worker, std::vector<Id>& ids,
                      std::vector<Span>* spans = nullptr) const;

    // Ids of many texts one after the other, and where each text's ids end.
    struct Batch {
        std::vector<Id> ids;
        std::vector<int64_t> ends;
    };
    Batch encode_batch(std::span<const Bytes> texts, Enabled enabled, unsigned threads,
                       Watch& watch) const;

    // Cuts the text at its added tokens: `on_text(begin, end)` and `on_token(match)` in order.
    template <class OnText, class OnToken>
    void for_each_segment(Bytes text, Enabled enabled, Beat& beat, OnText&& on_text,
                          OnToken&& on_token) const {
        const auto second_pass = [&](size_t begin, size_t end) {
            cut(normalized_, text.subspan(begin, end - begin), enabled, beat,
                [&](size_t b, size_t e) { on_text(begin + b, begin + e); },
                [&](Match m) { on_token(Match{begin + m.begin, begin + m.end, m.index}); });
        };
        cut(raw_, text, enabled, beat, second_pass, on_token);
    }

    // One pass of it.
    template <class OnText, class OnToken>
    static void cut(const AddedTokens& pass, Bytes text, Enabled enabled, Beat& beat,
                    OnText&& on_text, OnToken&& on_token) {
        size_t from = 0;
        pass.for_each_match(text, enabled, beat, [&](Match match) {
            if (from < match.begin) on_text(from, match.begin);
            on_token(match);
            from = match.end;
        });
        if (from < text.size()) on_text(from, text.size());
    }

    // Throws BadId for an id that nobody owns.
    Bytes token(int64_t id, size_t position = 0) const {
        if (id < 0 || id >= kNoId || !model_->owned(static_cast<Id>(id)))
            throw BadId(std::to_string(id), position);
        return model_->token(static_cast<Id>(id));
    }

private:
    std::unique_ptr<const Model> model_;
    std::vector<AddedToken> added_;
    AddedTokens raw_, normalized_;
    Scan scan_;
};

}  // namespace bpe
