// The state of a training run between two merges, and one step of it.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "trainer.h"
#include "words.h"

namespace bpe {

// Why this is exact, with z the token that the pair (a, b) becomes:
// * Only pairs with z are new; every other pair keeps or loses count. So a queued count is an upper
//   bound, and a pair popped with an outdated one is queued again with what is left.
// * A pair's list of words is complete when the pair appears; from then on it only goes stale.
// * What a merge changes is gathered per neighbour first: one look-up per neighbour and merge
//   instead of four per occurrence.
template <class Tie>
class MergeLoop {
public:
    using Pair = uint32_t;  // number of a pair in the order of appearance

    MergeLoop(const PieceCounts& pieces, const TrainOptions& options)
        : options_(options), words_(pieces, inverse(options.byte_order)) {
        for (const uint8_t byte : options.byte_order) tokens_.push_back({&byte, 1});
        grow_gatherers();
        for (Id word = 0; word < words_.size(); ++word)
            for (const Id* s = words_[word]; s[1] != Words::kEnd; ++s) count_pair(s[0], s[1], word);
        for (Pair pair = 0; pair < pairs_.size(); ++pair) enqueue(pair);
    }

    // The pair to merge next, if one is left.
    std::optional<Pair> best_pair() {
        const auto later = [this](const Entry& a, const Entry& b) { return comes_later(a, b); };
        while (!queue_.empty()) {
            const Entry top = queue_.front();
            std::pop_heap(queue_.begin(), queue_.end(), later);
            queue_.pop_back();
            if (top.count == pairs_[top.pair].count) return top.pair;
            enqueue(top.pair);
        }
        return std::nullopt;
    }

    std::pair<Id, Id> ids_of(Pair pair) const { return {pairs_[pair].left, pairs_[pair].right}; }

    // Makes the pair a token and rewrites the words.
    void merge(Pair pair) {
        const auto [a, b] = ids_of(pair);
        const auto z = static_cast<Id>(tokens_.size());
        const Bytes left = tokens_[a], right = tokens_[b];
        std::vector<uint8_t> joined(left.begin(), left.end());
        joined.insert(joined.end(), right.begin(), right.end());
        tokens_.push_back(joined);
        grow_gatherers();
        const std::vector<Id> words = std::move(pairs_[pair].words);
        for (const Id word : words) rewrite(word, a, b, z);
        pairs_[pair].words.clear();
        apply(a, b, z);
        pairs_[pair].count = 0;
    }

private:
    struct PairState {
        Id left, right;
        uint64_t count = 0;
        std::vector<Id> words;  // rising; those that no longer hold the pair stay
        [[no_unique_address]] typename Tie::Cursor cursor{};
    };
    struct Entry {
        uint64_t count;
        typename Tie::Key key;
        Pair pair;
    };
    // What one merge does to the pairs of one neighbour: (left, a) -> (left, z) on one side,
    // (b, right) -> (z, right) on the other.
    struct Gatherer {
        uint64_t removed = 0, added = 0;
        std::vector<Id> words;  // of the added pair

        void add(uint64_t count, Id word) {
            added += count;
            if (words.empty() || words.back() != word) words.push_back(word);
        }
    };

    static std::array<uint8_t, 256> inverse(const std::array<uint8_t, 256>& byte_order) {
        std::array<uint8_t, 256> id_of{};
        for (size_t id = 0; id < 256; ++id) id_of[byte_order[id]] = static_cast<uint8_t>(id);
        return id_of;
    }

    void grow_gatherers() {
        before_.resize(tokens_.size());
        after_.resize(tokens_.size());
    }

    bool comes_later(const Entry& a, const Entry& b) const {
        if (a.count != b.count) return a.count < b.count;
        return Tie::first({tokens_, words_}, b.key, a.key);
    }

    Pair pair_of(Id left, Id right) {
        const auto [found, is_new] = numbers_.try_emplace(uint64_t{left} << 32 | right,
                                                          static_cast<Pair>(pairs_.size()));
        if (is_new) pairs_.push_back({left, right, 0, {}, {}});
        return found->second;
    }

    void count_pair(Id left, Id right, Id word) {
        PairState& pair = pairs_[pair_of(left, right)];
        pair.count += words_.count(word);
        if (pair.words.empty() || pair.words.back() != word) pair.words.push_back(word);
    }

    // Queues the pair with its count of now, unless the options rule it out.
    void enqueue(Pair pair) {
        PairState& p = pairs_[pair];
        if (p.count == 0 || p.count < options_.min_frequency) return;
        if (tokens_[p.left].size() + tokens_[p.right].size() > options_.max_token_length) return;
        queue_.push_back({p.count, Tie::key({tokens_, words_}, p.left, p.right, p.words, p.cursor),
                          pair});
        std::push_heap(queue_.begin(), queue_.end(),
                       [this](const Entry& x, const Entry& y) { return comes_later(x, y); });
    }

    // Merges (a, b) in one word and gathers what that does to the neighbours. The reading and the
    // writing position run together: the left neighbour has been rewritten, the right one not yet.
    void rewrite(Id word, Id a, Id b, Id z) {
        Id* const begin = words_[word];
        Id* read = begin;
        while (*read != Words::kEnd && !(read[0] == a && read[1] == b)) ++read;
        if (*read == Words::kEnd) return;
        const uint64_t count = words_.count(word);
        Id* write = read;
        while (*read != Words::kEnd) {
            if (read[0] != a || read[1] != b) {
                *write++ = *read++;
                continue;
            }
            read += 2;
            if (write > begin && write[-1] == z) {
                // Two matches in a row: the pair between them went with the first one, which took
                // an `a` for its right neighbour.
                after_[a].added -= count;
                after_[z].add(count, word);
            } else if (write > begin) {
                note(before_[write[-1]], touched_before_, write[-1]);
                before_[write[-1]].removed += count;
                before_[write[-1]].add(count, word);
            }
            if (*read != Words::kEnd) {
                note(after_[*read], touched_after_, *read);
                after_[*read].removed += count;
                after_[*read].add(count, word);
            }
            *write++ = z;
        }
        *write = Words::kEnd;
    }

    static void note(const Gatherer& gatherer, std::vector<Id>& touched, Id neighbour) {
        if (gatherer.removed == 0) touched.push_back(neighbour);
    }

    // Brings the gathered changes into the pairs.
    void apply(Id a, Id b, Id z) {
        for (const Id left : touched_before_) {
            lower(left, a, before_[left].removed);
            create(left, z, before_[left]);
        }
        for (const Id right : touched_after_) {
            lower(b, right, after_[right].removed);
            create(z, right, after_[right]);
        }
        create(z, z, after_[z]);
        touched_before_.clear();
        touched_after_.clear();
    }

    void lower(Id left, Id right, uint64_t count) { pairs_[pair_of(left, right)].count -= count; }

    void create(Id left, Id right, Gatherer& gatherer) {
        if (gatherer.added) {
            const Pair pair = pair_of(left, right);
            pairs_[pair].count = gatherer.added;
            pairs_[pair].words = std::move(gatherer.words);
            enqueue(pair);
        }
        gatherer = {};
    }

    const TrainOptions& options_;
    ByteStrings tokens_;
    Words words_;
    std::vector<PairState> pairs_;
    std::unordered_map<uint64_t, Pair> numbers_;
    std::vector<Entry> queue_;
    std::vector<Gatherer> before_, after_;  // by the neighbour's id; empty between merges
    std::vector<Id> touched_before_, touched_after_;
};

}  // namespace bpe
