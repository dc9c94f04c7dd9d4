// Training: pieces counted on any number of threads, and the merges of every tie rule, as in the
// textbook, which counts all pairs again after every merge.
#include <map>

#include "../train/piece_counter.h"
#include "../train/trainer.h"
#include "fuzz.h"

namespace bpe::fuzz {
namespace {

struct Word {
    std::string piece;
    uint64_t count;
    std::vector<Id> ids;
};

struct Options {
    TieBreak tie_break;
    size_t merges;
    uint64_t min_frequency;
    size_t max_token_length;
};

class Textbook {
public:
    Textbook(std::vector<Word> words, const std::array<uint8_t, 256>& order, const Options& options)
        : words_(std::move(words)), options_(options) {
        std::array<Id, 256> places{};
        for (Id id = 0; id < 256; ++id) {
            tokens_.emplace_back(1, static_cast<char>(order[id]));
            places[order[id]] = id;
        }
        for (Word& word : words_)
            for (const char c : word.piece) word.ids.push_back(places[static_cast<uint8_t>(c)]);
    }

    MergeList train() {
        MergeList done;
        while (done.size() < options_.merges) {
            count_pairs();
            if (pairs_.empty()) break;
            auto best = pairs_.begin();
            for (auto pair = pairs_.begin(); pair != pairs_.end(); ++pair)
                if (comes_before(*pair, *best)) best = pair;
            const auto [left, right] = best->first;
            tokens_.push_back(tokens_[left] + tokens_[right]);
            CHECK(std::find(tokens_.begin(), tokens_.end() - 1, tokens_.back()) == tokens_.end() - 1);
            done.push_back({left, right});
            for (Word& word : words_) merge(word.ids, left, right);
        }
        return done;
    }

private:
    struct Counted {
        uint64_t count = 0;
        size_t first = 0;  // place in the text
    };
    using Pairs = std::map<std::pair<Id, Id>, Counted>;

    void count_pairs() {
        pairs_.clear();
        size_t place = 0;
        for (const Word& word : words_)
            for (size_t i = 0; i + 1 < word.ids.size(); ++i) {
                Counted& pair = pairs_[{word.ids[i], word.ids[i + 1]}];
                if (pair.count == 0) pair.first = place;
                pair.count += word.count;
                ++place;
            }
        std::erase_if(pairs_, [&](const auto& pair) {
            const auto [left, right] = pair.first;
            return pair.second.count < options_.min_frequency ||
                   tokens_[left].size() + tokens_[right].size() > options_.max_token_length;
        });
    }

    bool comes_before(const Pairs::value_type& a, const Pairs::value_type& b) const {
        if (a.second.count != b.second.count) return a.second.count > b.second.count;
        if (options_.tie_break == TieBreak::first) return a.second.first < b.second.first;
        if (options_.tie_break == TieBreak::ids) return a.first < b.first;
        const auto strings = [&](const std::pair<Id, Id>& pair) {
            return std::pair(tokens_[pair.first], tokens_[pair.second]);
        };
        return strings(a.first) > strings(b.first);
    }

    void merge(std::vector<Id>& ids, Id left, Id right) const {
        std::vector<Id> out;
        for (size_t i = 0; i < ids.size(); ++i) {
            const bool match = i + 1 < ids.size() && ids[i] == left && ids[i + 1] == right;
            out.push_back(match ? static_cast<Id>(tokens_.size() - 1) : ids[i]);
            i += match;
        }
        ids = out;
    }

    std::vector<Word> words_;
    const Options& options_;
    std::vector<std::string> tokens_;
    Pairs pairs_;
};

// Pieces in the order of their first appearance.
std::vector<Word> counted(const std::vector<std::string>& documents, const Scanner& scanner,
                          const std::string& special, bool by_line) {
    std::vector<Word> words;
    std::map<std::string, size_t> known;
    const auto count = [&](const std::string& text) {
        for_each_piece(
            scanner.scan, bytes_of(text), by_line,
            [&](size_t begin, size_t end) {
                const std::string piece = text.substr(begin, end - begin);
                const auto [found, added] = known.try_emplace(piece, words.size());
                if (added) words.push_back({piece, 0, {}});
                ++words[found->second].count;
            },
            [](size_t) {});
    };
    for (const std::string& document : documents) {
        size_t from = 0;
        for (size_t at; (at = document.find(special, from)) != std::string::npos;) {
            count(document.substr(from, at - from));
            from = at + special.size();
        }
        count(document.substr(from));
    }
    return words;
}

}  // namespace

void run(Input in) {
    const Scanner& scanner = scanners()[in.below(scanners().size())];
    const bool by_line = in.flag();
    const unsigned threads = in.flag() ? 3 : 1;
    const Options wanted{static_cast<TieBreak>(in.below(3)), in.below(40), in.below(4),
                         in.flag() ? 2 + in.below(6) : SIZE_MAX};
    std::array<uint8_t, 256> order;
    const uint8_t shift = in.byte();
    for (int byte = 0; byte < 256; ++byte) order[byte] = static_cast<uint8_t>(byte * 5 + shift);
    const std::string special = in.flag() ? "a\n" : "<s>";
    std::vector<std::string> documents(1 + in.below(4));
    const std::string text = text_of(in, 800);
    for (size_t i = 0; i < text.size(); ++i) documents[i * documents.size() / text.size()] += text[i];
    const auto words = counted(documents, scanner, special, by_line);

    Watch watch;
    TrainOptions options;
    options.threads = threads;
    options.tie_break = wanted.tie_break;
    options.merges = wanted.merges;
    options.min_frequency = wanted.min_frequency;
    options.max_token_length = wanted.max_token_length;
    const MergeList expected = Textbook(words, order, wanted).train();
    std::vector<Bytes> views;
    for (const std::string& document : documents) views.push_back(bytes_of(document));
    PieceCounter counter({scanner, {special}, by_line, SIZE_MAX});
    counter.add(views, options.threads, watch);
    const PieceCounts counts(counter.tables(), true);
    CHECK(counts.size() == words.size());
    size_t i = 0;
    counts.for_each([&](Bytes piece, uint64_t count) {
        CHECK(string_of(piece) == words[i].piece && count == words[i].count);
        ++i;
    });
    CHECK(train(counts, Start::of_bytes(order), options, watch) == expected);
}

}  // namespace bpe::fuzz
