#include "../encode/encoder.h"
#include "../encode/ranks.h"
#include "check.h"

#include <algorithm>
#include <map>

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
        if (known) continue;
        for (const std::string& text : texts) known = known || text == joined;
        if (known && random() % 2) continue;
        merges.push_back({left, right});  // maybe one more way to make a token
        if (!known) texts.push_back(joined);
    }
    // A list of merges can be in any order.
    if (random() % 3 == 0) std::shuffle(merges.begin(), merges.end(), random);
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

// A cache that is full most of the time, or grows, knows a word's ids or does not know it.
void word_cache(std::mt19937& random, size_t words, size_t memory_limit) {
    for (const size_t seeded : {0, 700}) {
        WordCache::Words seeds;
        const auto key_of = [](uint32_t number) {
            return ShortKey::of(Bytes(reinterpret_cast<const uint8_t*>(&number), 4), 0, 4);
        };
        for (Id id = 0; id < seeded; ++id) {
            const ShortKey key = key_of(id);
            seeds.entries.push_back({key.low, key.high | uint64_t{1} << 60, {id}});
        }
        WordCache cache(seeds, memory_limit);
        CHECK(cache.has_all_seeds(true) && cache.has_all_seeds(false));
        std::vector<Id> announced;
        for (int round = 0; round < 100'000; ++round) {
            const Id id = random() % words;
            const WordCache::Found found = cache.find(key_of(id));
            if (found.is_pending) {
                CHECK(announced.at(found.ids[0]) == id);
            } else if (found.ids.empty()) {
                cache.announce(key_of(id), static_cast<Id>(announced.size()), found);
                announced.push_back(id);
            } else {
                CHECK(found.ids.back() == id && (id < seeded || found.ids.size() == id % 7 + 1));
            }
            if (random() % 50 > 0) continue;
            for (const Id word : announced) {
                const std::vector<Id> ids(word % 7 + 1, word);
                word % 5 ? cache.insert(key_of(word), ids) : cache.forget(key_of(word));
            }
            announced.clear();
        }
    }
}

// The cache knows whether it has lost a long seed: overwritten in the ring, or pushed out of its slot.
void long_seeds(std::mt19937& random) {
    for (const size_t size : {20, 4000}) {
        const auto text_of = [&](Id id) {
            std::string text = std::to_string(id);
            return text + std::string(size - text.size(), ' ');
        };
        WordCache::Words seeds;
        for (Id id = 0; id < 300; ++id) seeds.add_long(bytes_of(text_of(id)), {&id, 1});
        WordCache cache(seeds, size_t{1} << 15);
        Id next = 300;
        for (; cache.has_all_seeds(false); ++next) {
            const Id id = random() % 300;
            const std::string seed = text_of(id), text = text_of(next);
            const std::span<const Id> ids = cache.find_long(bytes_of(seed), hash_of(bytes_of(seed)));
            CHECK(ids.size() == 1 && ids[0] == id);
            cache.insert_long(bytes_of(text), hash_of(bytes_of(text)), {&next, 1});
        }
        CHECK(next > 3000 && cache.has_all_seeds(true));
    }
}

// A table of merges against a map: of few ids and many, with room for its pairs or without, so that
// lines run over, are searched to the last one, and move.
void merge_table(std::mt19937& random) {
    for (const Id ids : {1, 2, 3, 40, 1000, 200'000, 100'000'000}) {
        for (const size_t room : {0, 20'000}) {
            MergeTable table(room, ids);
            std::map<std::pair<Id, Id>, Priority> expected;
            std::vector<Id> merged;
            // Some ids are often in a pair, as in a real table.
            const auto some = [&] { return random() % 3 ? random() % ids : random() % std::min<Id>(ids, 30); };
            for (Priority priority = 0; priority < 20'000; ++priority) {
                const std::pair<Id, Id> pair(some(), some());
                merged.push_back(random() % ids);
                table.insert(pair.first, pair.second, priority, merged.back());
                expected[pair] = priority;
                if (priority % 100) continue;
                const auto one = expected.lower_bound({some(), some()});
                if (one == expected.end()) continue;
                CHECK(table.priority_of(one->first.first, one->first.second) == one->second);
            }
            for (const auto& [pair, priority] : expected) {
                CHECK(table.priority_of(pair.first, pair.second) == priority);
                CHECK(table.merged(priority) == merged[priority]);
                CHECK(table.find(table.ask(pair.first, pair.second, false)) == kNever);
            }
            for (int i = 0; i < 100'000; ++i) {
                const std::pair<Id, Id> pair(random() % ids, random() % ids);
                const auto known = expected.find(pair);
                CHECK(table.priority_of(pair.first, pair.second) ==
                      (known == expected.end() ? kNever : known->second));
            }
        }
    }
}

}  // namespace

void merging() {
    std::mt19937 random(3);
    word_cache(random, 3000, size_t{1} << 15);
    word_cache(random, 50'000, size_t{1} << 22);
    long_seeds(random);
    merge_table(random);
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
        Merger merger(encoder.model().table());
        std::atomic<uint64_t> done{0};
        std::atomic<bool> stop{false};
        std::vector<std::string> texts;
        for (int i = 0; i < 200; ++i) texts.push_back(random_text(random, 200));
        std::vector<RawText> views;
        for (const std::string& text : texts) views.push_back(bytes_of(text));
        const auto one = encoder.encode_batch(views, {}, 1, watch);
        const auto four = encoder.encode_batch(views, {}, 4, watch);
        const std::span<const Id> a(one.ids), b(four.ids);
        CHECK(std::ranges::equal(a, b) && one.ends == four.ends);
        // As each text alone: new words are merged together with those of other texts.
        size_t begin = 0;
        for (size_t i = 0; i < texts.size(); begin = one.ends[i++]) {
            std::vector<Symbol> symbols;
            size_t end = begin;
            Beat silent(done, 0, stop, nullptr);
            for_each_piece(
                scanner("gpt2").scan, bytes_of(texts[i]), false,
                [&](size_t from, size_t to) {
                    encoder.model().encode(bytes_of(texts[i]).subspan(from, to - from), merger, symbols);
                    for (const Symbol& symbol : symbols) CHECK(a[end++] == symbol.id);
                },
                silent);
            CHECK(one.ends[i] == static_cast<int64_t>(end));
        }
    }
    const auto model = random_model(random, true, 12);
    Watch watch;
    std::vector<Id> odd;
    const auto merges = canonical_merges(*model, odd, watch);
    CHECK(merges.size() + odd.size() == 400 - 256);
    CHECK(all_pairs(*model).size() >= merges.size());
}

}  // namespace bpe::tests
