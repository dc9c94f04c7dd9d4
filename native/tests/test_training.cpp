#include <map>

#include "../train/piece_counter.h"
#include "../train/trainer.h"
#include "check.h"

namespace bpe::tests {
namespace {

using Words = std::vector<std::pair<std::vector<Id>, uint64_t>>;

// A full recount after every merge, ties broken by the lowest ids.
MergeList textbook(Words words, size_t merges) {
    MergeList done;
    while (done.size() < merges) {
        std::map<std::pair<Id, Id>, uint64_t> counts;
        for (const auto& [ids, count] : words)
            for (size_t i = 0; i + 1 < ids.size(); ++i) counts[{ids[i], ids[i + 1]}] += count;
        if (counts.empty()) break;
        auto best = counts.begin();
        for (auto pair = counts.begin(); pair != counts.end(); ++pair)
            if (pair->second > best->second) best = pair;
        const auto [a, b] = best->first;
        const auto merged = static_cast<Id>(256 + done.size());
        done.push_back({a, b});
        for (auto& [ids, count] : words) {
            std::vector<Id> out;
            for (size_t i = 0; i < ids.size(); ++i) {
                const bool match = i + 1 < ids.size() && ids[i] == a && ids[i + 1] == b;
                out.push_back(match ? merged : ids[i]);
                i += match;
            }
            ids = out;
        }
    }
    return done;
}

}  // namespace

void training() {
    std::mt19937 random(4);
    TrainOptions options;
    std::array<uint8_t, 256> order;
    for (int byte = 0; byte < 256; ++byte) order[byte] = static_cast<uint8_t>(byte);
    const Start start = Start::of_bytes(order);
    options.merges = 40;
    Watch watch;
    for (int round = 0; round < 300; ++round) {
        PieceCounter counter({scanner("none"), {}, false, SIZE_MAX});
        Words words;
        for (size_t n = random() % 12; n > 0; --n) {
            std::string piece;
            for (size_t length = 1 + random() % 14; length > 0; --length) piece += "ab"[random() % 2];
            // Far apart in every other round: then rare pairs are listed late.
            const uint64_t count = round % 2 ? uint64_t{1} << random() % 40 : 1 + random() % 5;
            counter.add_piece(Exact(piece), count);
        }
        const PieceCounts counts(counter.tables(), true);
        counts.for_each([&](Bytes piece, uint64_t count) {
            words.push_back({std::vector<Id>(piece.begin(), piece.end()), count});
        });
        options.tie_break = TieBreak::ids;
        CHECK(train(counts, start, options, watch) == textbook(words, options.merges));
        const PieceCounts unordered(counter.tables(), false);
        for (options.threads = 1; options.threads < 4; ++options.threads)
            CHECK(train(unordered, start, options, watch) == textbook(words, options.merges));
        for (const TieBreak tie : {TieBreak::bytes, TieBreak::first}) {
            options.tie_break = tie;
            options.threads = 1;
            CHECK(train(counts, start, options, watch).size() <= options.merges);
        }
    }
    // Merges large enough for all threads to work on them.
    PieceCounter long_words({scanner("none"), {}, false, SIZE_MAX});
    for (int n = 0; n < 50; ++n) {
        std::string piece;
        for (int length = 0; length < 4000; ++length) piece += "abc"[random() % 3];
        long_words.add_piece(Exact(piece), 1 + random() % 5);
    }
    const PieceCounts counts(long_words.tables(), true);
    for (const TieBreak tie : {TieBreak::bytes, TieBreak::ids, TieBreak::first}) {
        options.tie_break = tie;
        options.threads = 1;
        const MergeList one = train(counts, start, options, watch);
        options.threads = 3;
        CHECK(train(counts, start, options, watch) == one);
    }
    for (const bool by_line : {false, true}) {
        std::vector<std::string> texts;
        for (int i = 0; i < 50; ++i) texts.push_back(random_text(random, 300));
        std::vector<Bytes> views;
        for (const std::string& text : texts) views.push_back(bytes_of(text));
        PieceCounter one({scanner("cl100k"), {"<s>"}, by_line, SIZE_MAX});
        PieceCounter many({scanner("cl100k"), {"<s>"}, by_line, SIZE_MAX});
        one.add(views, 1, watch);
        many.add(views, 5, watch);
        const auto list_of = [](const CountTables& tables) {
            std::vector<std::pair<std::string, uint64_t>> list;
            PieceCounts(tables, true).for_each(
                [&](Bytes piece, uint64_t count) { list.push_back({string_of(piece), count}); });
            return list;
        };
        CHECK(list_of(one.tables()) == list_of(many.tables()));
    }
}

}  // namespace bpe::tests
