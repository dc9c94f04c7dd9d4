#include "../encode/added.h"
#include "check.h"

namespace bpe::tests {

void added_tokens() {
    const std::vector<AddedToken> tokens = {
        {"<s>", 1, false, false, false, false},    {"<s>a", 2, true, true, false, false},
        {"  ", 3, false, false, false, false},     {"a", 4, false, false, true, true},
        {"\xE4\xB8\xAD", 5, true, false, false, true},
    };
    const AddedTokens raw(tokens, false), normalized(tokens, true);
    const std::vector<uint8_t> all(tokens.size(), 1), none(tokens.size(), 0);
    std::atomic<uint64_t> done{0};
    const std::atomic<bool> stop{false};
    Beat beat(done, 0, stop, nullptr);
    std::mt19937 random(2);
    for (int round = 0; round < 4000; ++round) {
        const std::string text = random_text(random, random() % 40);
        const Exact exact(text);
        for (const AddedTokens* pass : {&raw, &normalized}) {
            pass->for_each_match(exact, all, beat, [&](Match match) {
                CHECK(match.begin < match.end && match.end <= text.size());
                const std::string found = text.substr(match.begin, match.end - match.begin);
                CHECK(found.find(tokens[match.index].content) != std::string::npos);
            });
            pass->for_each_match(exact, none, beat, [&](Match) { CHECK(false); });
        }
    }
    std::vector<AddedToken> many;
    for (int i = 0; i < 20000; ++i)
        many.push_back({"new_" + std::to_string(i), 0, false, false, false, false});
    const AddedTokens trie(many, false);
    const std::vector<uint8_t> enabled(many.size(), 1);
    size_t matches = 0;
    trie.for_each_match(bytes_of("new_12 new_199999 new_x"), enabled, beat, [&](Match m) {
        matches += m.end - m.begin;
    });
    CHECK(matches == 6 + 9);  // new_12, and new_19999 before the last 9
}

}  // namespace bpe::tests
