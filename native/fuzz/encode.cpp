// Encoding under both merge rules: with a cold and a warm cache, in one call and in many, the ids are
// those of the textbook, and they decode to the text.
#include "../encode/encoder.h"

#include <optional>

#include "../base/utf8.h"
#include "textbook.h"

namespace bpe::fuzz {
namespace {

using Ids = std::optional<std::vector<Id>>;

// Added tokens that are cut out of the text without a look at what is beside them.
std::vector<AddedToken> added_tokens(Input& in, const Vocabulary& vocabulary) {
    static const std::string kContents[] = {"<s>", "ab", "aba", "  ", "a\n", "\xC3\xA9", "c' "};
    std::vector<AddedToken> added;
    for (size_t count = in.below(4); count > 0; --count) {
        const auto id = static_cast<Id>(vocabulary.tokens.size() + added.size());
        added.push_back({kContents[in.below(std::size(kContents))], id, false, false, false, false});
    }
    return added;
}

// The ids of a text that holds no added token.
Ids expected_ids(const Vocabulary& vocabulary, const Scan& scan, const std::string& text) {
    Ids all{std::in_place};
    for_each_piece(
        scan, bytes_of(text), false,
        [&](size_t begin, size_t end) {
            const Ids ids = all ? vocabulary.encode(text.substr(begin, end - begin)) : std::nullopt;
            if (ids)
                all->insert(all->end(), ids->begin(), ids->end());
            else
                all = std::nullopt;
        },
        [](size_t) {});
    return all;
}

// The same with added tokens: the leftmost, the longest of those, the first of several.
Ids expected_ids(const Vocabulary& vocabulary, const std::vector<AddedToken>& added,
                 const Scan& scan, const std::string& text) {
    Ids all{std::in_place};
    const auto add = [&](const Ids& ids) {
        if (ids && all)
            all->insert(all->end(), ids->begin(), ids->end());
        else
            all = std::nullopt;
    };
    size_t done = 0;
    for (size_t at = 0; at < text.size();) {
        const AddedToken* found = nullptr;
        for (const AddedToken& token : added)
            if (text.compare(at, token.content.size(), token.content) == 0 &&
                (!found || token.content.size() > found->content.size()))
                found = &token;
        if (!found) {
            ++at;
            continue;
        }
        add(expected_ids(vocabulary, scan, text.substr(done, at - done)));
        add({{found->id}});
        done = at += found->content.size();
    }
    add(expected_ids(vocabulary, scan, text.substr(done)));
    return all;
}

template <class Make>
Ids unless_missing(Make&& make) {
    try {
        const IdBuffer ids = make();
        const std::span<const Id> made(ids);
        return {{made.begin(), made.end()}};
    } catch (const MissingByte&) {
        return std::nullopt;
    }
}

void check_decoded(const Encoder& encoder, const std::vector<Id>& ids, const std::string& text) {
    std::string decoded;
    for (const Id id : ids) {
        if (id < encoder.model().size())
            decoded += string_of(encoder.token(id));
        else
            decoded += encoder.added()[id - encoder.model().size()].content;
    }
    CHECK(decoded == text);
}

// A cache through new and known pieces, whole texts as pieces among them. A worker is of no more use
// when it has thrown; its cache goes to the next one.
void check_worker(const Encoder& encoder, const Vocabulary& vocabulary, Enabled enabled,
                  const std::string& text, const Ids& expected) {
    Silence silence;
    std::optional<Encoder::Worker> worker;
    const Ids whole = vocabulary.encode(text);
    const bool throws = !expected || !whole;
    for (int round = 0; round < 3; ++round) {
        if (round == 0 || throws) worker.emplace(encoder);
        CHECK(unless_missing([&] {
                  IdBuffer ids;
                  encoder.encode(Exact(text), enabled, *worker, silence.beat, ids);
                  return ids;
              }) == expected);
        if (throws) worker.emplace(encoder);
        CHECK(unless_missing([&] {
                  IdBuffer ids;
                  encoder.encode_piece(Exact(text), *worker, ids);
                  return ids;
              }) == whole);
    }
    if (throws) worker.emplace(encoder);
    CHECK(unless_missing([&] {
              auto found = encoder.locate(Exact(text), enabled, *worker, silence.beat);
              CHECK(found.spans.size() == found.ids.size() && found.words.size() == found.ids.size());
              size_t end = 0;
              for (const Span& span : found.spans) {
                  CHECK(span.begin >= end && span.end > span.begin && span.end <= text.size());
                  CHECK(span.begin == end || vocabulary.missing);
                  end = span.end;
              }
              return std::move(found.ids);
          }) == expected);
}

// A text as UTF-8 and, if it is that, in code points of every width that holds it.
class Raws {
public:
    explicit Raws(const std::string& text) : exact_(text), texts_(2, Bytes(exact_)) {
        if (first_invalid(exact_) != text.size()) return;
        const TextShape shape = shape_of(exact_);
        if (shape.most <= 0xFF) add(narrow_, shape);
        if (shape.most <= 0xFFFF) add(middle_, shape);
        add(wide_, shape);
    }
    std::span<const RawText> texts() const { return texts_; }

private:
    template <class Unit>
    void add(std::vector<Unit>& room, TextShape shape) {
        room.resize(shape.characters);
        widen(exact_, room.data());
        texts_.emplace_back(room.data(), room.size());
    }

    Exact exact_;
    std::vector<uint8_t> narrow_;
    std::vector<uint16_t> middle_;
    std::vector<uint32_t> wide_;
    std::vector<RawText> texts_;
};

void check_batches(const Encoder& encoder, Enabled enabled, const std::string& text,
                   const Ids& expected) {
    const Raws raws(text);
    const std::span<const RawText> texts = raws.texts();
    for (const unsigned threads : {1u, 2u}) {
        Watch watch;
        const Ids found = unless_missing([&] {
            auto batch = encoder.encode_batch(texts, enabled, threads, watch);
            CHECK(batch.ends.size() == texts.size());
            return std::move(batch.ids);
        });
        CHECK(found.has_value() == expected.has_value());
        if (!found) continue;
        CHECK(found->size() == texts.size() * expected->size());
        for (size_t i = 0; i < found->size(); ++i)
            CHECK((*found)[i] == (*expected)[i % expected->size()]);
    }
}

}  // namespace

void run(Input in) {
    const Vocabulary vocabulary(in);
    const Scanner& scanner = scanners()[in.below(scanners().size())];
    const Encoder encoder(vocabulary.model(), added_tokens(in, vocabulary), scanner);
    const std::vector<uint8_t> enabled(encoder.added().size(), 1);
    const std::string text = text_of(in, in.below(8) ? 300 : 3000);
    const Ids expected = expected_ids(vocabulary, encoder.added(), scanner.scan, text);
    if (expected && !vocabulary.missing) check_decoded(encoder, *expected, text);
    check_worker(encoder, vocabulary, enabled, text, expected);
    check_batches(encoder, enabled, text, expected);
}

}  // namespace bpe::fuzz
