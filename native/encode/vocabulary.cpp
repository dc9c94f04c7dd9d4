#include "vocabulary.h"

#include <algorithm>
#include <array>

namespace bpe {

std::shared_ptr<const Vocabulary> Vocabulary::make(ByteStrings tokens, std::vector<Kind> kinds,
                                                   std::vector<Merge> merges, size_t cut) {
    if (kinds.size() != tokens.size() || tokens.size() >= kNoId - 256) return nullptr;
    const std::shared_ptr<Vocabulary> made(
        new Vocabulary(std::move(tokens), std::move(kinds), std::move(merges)));
    return made->add_tokens() && made->complete_merges(cut) ? made : nullptr;
}

bool Vocabulary::add_tokens() {
    for (Id id = 0; id < size(); ++id) {
        index_.look_ahead(id);
        const Kind kind = kinds_[id];
        if (tokens_[id].empty() ? kind != Kind::unused && kind != Kind::control : kind == Kind::unused)
            return false;
        if (kind == Kind::normal && index_.insert(id) != id) return false;
    }
    return true;
}

// What a merge is said to make is compared; what is not said is looked up, many at once.
bool Vocabulary::complete_merges(size_t cut) {
    constexpr size_t kBatch = 64;
    std::array<std::vector<uint8_t>, kBatch> rooms;
    std::vector<Bytes> sought;
    std::vector<Merge*> waiting;
    const auto look_up = [&] {
        auto next = waiting.begin();
        const bool found = index_.find_all(sought, [&](Id id) { (*next++)->merged = id; });
        sought.clear();
        waiting.clear();
        return found;
    };
    for (Merge& merge : merges_) {
        if (std::max(merge.left, merge.right) >= size()) return false;
        const Bytes made =
            joined(tokens_[merge.left], tokens_[merge.right], cut, rooms[sought.size()]);
        if (merge.merged < size() && kinds_[merge.merged] == Kind::normal &&
            equal(tokens_[merge.merged], made))
            continue;
        sought.push_back(made);
        waiting.push_back(&merge);
        if (sought.size() == kBatch && !look_up()) return false;
    }
    return look_up();
}

std::shared_ptr<const Vocabulary> Vocabulary::with_stand_ins(std::span<const uint8_t> bytes) const {
    ByteStrings tokens = tokens_;
    std::vector<Kind> kinds = kinds_;
    for (const uint8_t& byte : bytes) {
        tokens.push_back({&byte, 1});
        kinds.push_back(Kind::unused);
    }
    const std::shared_ptr<Vocabulary> made(new Vocabulary(std::move(tokens), std::move(kinds), {}));
    for (Id id = 0; id < made->size(); ++id)
        if (made->kinds_[id] == Kind::normal || id >= size()) made->index_.insert(id);
    return made;
}

}  // namespace bpe
