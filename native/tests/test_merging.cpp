#include "../encode/encoder.h"
#include "../encode/ranks.h"
#include "check.h"

#include <algorithm>

namespace bpe::tests {
namespace {

// `characters`: a piece starts as characters, of which a, b, c and the space have tokens.
std::unique_ptr<const Model> random_model(std::mt19937& random, bool by_ranks, size_t longest,
                                          bool characters = false) {
    ByteStrings tokens;
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
    std::vector<Merge> merges;
    while (texts.size() < 400) {
        const Id left = random() % 4 ? 'a' + random() % 3 : 256 + random() % (texts.size() - 255);
        const Id right = 'a' + random() % 3;
        if (left >= texts.size()) continue;
        const std::string joined = texts[left] + texts[right];
        bool known = joined.size() > longest;
        for (const std::string& text : texts) known = known || text == joined;
        if (known) continue;
        texts.push_back(joined);
        merges.push_back({left, right});
    }
    std::vector<Kind> kinds(texts.size(), Kind::normal);
    ModelOptions options;
    if (characters) {
        options.byte_level = false;
        options.byte_fallback = true;
        for (int byte = 0; byte < 256; ++byte) {
            if (byte == 'a' || byte == 'b' || byte == 'c' || byte == ' ') {
                texts.emplace_back(1, static_cast<char>(byte));
                kinds.push_back(Kind::byte);
            } else {
                kinds[byte] = Kind::byte;
            }
        }
    }
    for (const std::string& text : texts) tokens.push_back(bytes_of(text));
    options.by_ranks = by_ranks;
    return std::make_unique<const Model>(
        Vocabulary::make(std::move(tokens), std::move(kinds), std::move(merges)), options);
}

}  // namespace

void merging() {
    std::mt19937 random(3);
    for (const size_t longest : {6, 6, 12, 12, 12, 40, 40, 40, 100, 100}) {
        const bool characters = random() % 3 == 0, by_ranks = !characters && random() % 2;
        const Encoder encoder(random_model(random, by_ranks, longest, characters), {}, scanner("gpt2"));
        Encoder::Worker worker(encoder);
        for (int round = 0; round < 1000; ++round) {
            std::string text;
            const std::string letters = round % 3 ? "abc \xC3\xA9" : round % 2 ? "aab" : "a";
            for (size_t n = random() % (round % 10 ? 120 : 3000); n > 0; --n)
                text += letters[random() % letters.size()];
            IdBuffer ids, cached;
            std::vector<Span> spans;
            encoder.encode_piece_with_spans(Exact(text), 7, worker, ids, spans);
            std::string decoded;
            for (const Id id : std::span<const Id>(ids)) decoded += string_of(encoder.token(id));
            CHECK(decoded == text);
            // Whether a piece is new or known changes nothing.
            for (int again = 0; again < 2; ++again) {
                cached.resize(0);
                encoder.encode_piece(Exact(text), worker, cached);
                CHECK(std::ranges::equal(std::span<const Id>(ids), std::span<const Id>(cached)));
            }
            // The short and the long way of merging agree: a piece of a longer text, alone.
            std::vector<Symbol> symbols;
            encoder.model().start(bytes_of(text), symbols);
            Merger merger(encoder.model().table());
            merger.merge(symbols);
            CHECK(symbols.size() == ids.size());
            for (size_t i = 0; i < ids.size(); ++i) {
                CHECK(symbols[i].id == ids.data()[i] && spans[i].begin == 7 + symbols[i].start);
            }
        }
        Watch watch;
        std::vector<std::string> texts;
        for (int i = 0; i < 200; ++i) texts.push_back(random_text(random, 200));
        std::vector<Bytes> views;
        for (const std::string& text : texts) views.push_back(bytes_of(text));
        const auto one = encoder.encode_batch(views, {}, 1, watch);
        const auto four = encoder.encode_batch(views, {}, 4, watch);
        const std::span<const Id> a(one.ids), b(four.ids);
        CHECK(std::ranges::equal(a, b) && one.ends == four.ends);
    }
    const auto model = random_model(random, true, 12);
    Watch watch;
    std::vector<Id> odd;
    const auto merges = canonical_merges(*model, odd, watch);
    CHECK(merges.size() + odd.size() == 400 - 256);
    CHECK(all_pairs(*model).size() >= merges.size());
}

}  // namespace bpe::tests
