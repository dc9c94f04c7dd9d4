#include "../encode/encoder.h"
#include "../encode/ranks.h"
#include "check.h"

namespace bpe::tests {
namespace {

std::unique_ptr<const Model> random_model(std::mt19937& random, bool by_ranks) {
    ByteStrings tokens;
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
    std::vector<Id> merges;
    while (texts.size() < 400) {
        const Id left = random() % 4 ? 'a' + random() % 3 : 256 + random() % (texts.size() - 255);
        const Id right = 'a' + random() % 3;
        if (left >= texts.size()) continue;
        const std::string joined = texts[left] + texts[right];
        bool known = joined.size() > 12;
        for (const std::string& text : texts) known = known || text == joined;
        if (known) continue;
        texts.push_back(joined);
        merges.insert(merges.end(), {left, right});
    }
    for (const std::string& text : texts) tokens.push_back(bytes_of(text));
    const std::vector<uint8_t> kinds(texts.size(), 0);
    ModelOptions options;
    options.by_ranks = by_ranks;
    if (by_ranks) merges.clear();
    return std::make_unique<const Model>(std::move(tokens), kinds, merges, options);
}

}  // namespace

void merging() {
    std::mt19937 random(3);
    for (const bool by_ranks : {false, true}) {
        const Encoder encoder(random_model(random, by_ranks), {}, scanner("gpt2").scan);
        Encoder::Worker worker(encoder);
        for (int round = 0; round < 3000; ++round) {
            std::string text;
            for (size_t n = random() % 120; n > 0; --n) text += "abc "[random() % 4];
            std::vector<Id> ids;
            std::vector<Span> spans;
            encoder.encode_piece(Exact(text), 7, worker, ids, &spans);
            std::string decoded;
            for (const Id id : ids) decoded += string_of(encoder.token(id));
            CHECK(decoded == text);
            // The short and the long way of merging agree: a piece of a longer text, alone.
            std::vector<Symbol> symbols;
            encoder.model().start(bytes_of(text), symbols);
            Merger merger(encoder.model().table());
            merger.merge(symbols);
            CHECK(symbols.size() == ids.size());
            for (size_t i = 0; i < ids.size(); ++i) {
                CHECK(symbols[i].id == ids[i] && spans[i].begin == 7 + symbols[i].start);
            }
        }
        Watch watch;
        std::vector<std::string> texts;
        for (int i = 0; i < 200; ++i) texts.push_back(random_text(random, 200));
        std::vector<Bytes> views;
        for (const std::string& text : texts) views.push_back(bytes_of(text));
        const auto one = encoder.encode_batch(views, {}, 1, watch);
        const auto four = encoder.encode_batch(views, {}, 4, watch);
        CHECK(one.ids == four.ids && one.ends == four.ends);
    }
    const auto model = random_model(random, true);
    Watch watch;
    std::vector<Id> odd;
    const auto merges = canonical_merges(*model, odd, watch);
    CHECK(merges.size() + odd.size() == 400 - 256);
    CHECK(all_pairs(*model).size() >= merges.size());
}

}  // namespace bpe::tests
