// BPE as in the textbooks, on ids: everything is looked for again at every step.
#pragma once

#include <map>
#include <optional>

#include "../encode/model.h"
#include "fuzz.h"

namespace bpe::fuzz {

// A vocabulary of bytes and a few merges of them, made from fuzz input.
struct Vocabulary {
    std::vector<std::string> tokens;   // by id, the bytes first
    std::vector<Id> merges;            // left, right, left, right, ...
    std::optional<uint8_t> missing;    // a byte whose id nobody owns
    ModelOptions options;
    std::map<std::string, Id> ids;

    explicit Vocabulary(Input& in) {
        for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
        options.by_ranks = in.flag();
        options.ignore_merges = in.flag();
        if (in.below(4) == 3) missing = 'b';
        for (size_t count = in.below(64); count > 0; --count) add_token(in);
        if (in.flag()) turn_merges(in);
        for (Id id = 0; id < tokens.size(); ++id)
            if (owned(id)) ids[tokens[id]] = id;
        pairs_.resize(tokens.size() * tokens.size());
        options.by_ranks ? add_all_pairs() : add_listed_pairs();
    }

    bool owned(Id id) const { return !missing || id != *missing; }

    std::unique_ptr<const Model> model() const {
        ByteStrings strings;
        std::vector<Kind> kinds;
        for (Id id = 0; id < tokens.size(); ++id) {
            strings.push_back(owned(id) ? bytes_of(tokens[id]) : Bytes());
            kinds.push_back(owned(id) ? Kind::normal : Kind::unused);
        }
        std::vector<Merge> listed;
        for (size_t i = 0; i < merges.size() && !options.by_ranks; i += 2)
            listed.push_back({merges[i], merges[i + 1]});
        return std::make_unique<const Model>(
            bpe::Vocabulary::make(std::move(strings), std::move(kinds), std::move(listed)), options);
    }

    // The ids of a piece; none if a byte without a token is left over under tiktoken's rule.
    std::optional<std::vector<Id>> encode(const std::string& piece) const {
        if (options.ignore_merges)
            if (const auto whole = ids.find(piece); whole != ids.end()) return {{whole->second}};
        std::vector<Id> symbols;
        for (const char c : piece)
            if (const Id byte = static_cast<uint8_t>(c); options.by_ranks || owned(byte))
                symbols.push_back(byte);
        for (;;) {
            std::pair<Priority, size_t> best{kNever, 0};
            for (size_t i = 0; i + 1 < symbols.size(); ++i)
                best = std::min(best, {pair(symbols[i], symbols[i + 1]).priority, i});
            const auto [priority, at] = best;
            if (priority == kNever) break;
            symbols[at] = pair(symbols[at], symbols[at + 1]).merged;
            symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        }
        for (const Id id : symbols)
            if (!owned(id)) return std::nullopt;
        return symbols;
    }

private:
    struct Pair {
        Priority priority = kNever;
        Id merged = kNoId;
    };
    const Pair& pair(Id left, Id right) const { return pairs_[left * tokens.size() + right]; }
    Pair& pair(Id left, Id right) { return pairs_[left * tokens.size() + right]; }

    // A merge of letters that `text_of` likes, or of what was made before; maybe one more way to make a token.
    void add_token(Input& in) {
        const auto any = [&]() -> Id {
            const uint8_t byte = in.byte();
            if (byte < 64) return static_cast<uint8_t>("abc '\xC3\xA9\n"[byte % 8]);
            if (byte < 96) return in.byte();
            return static_cast<Id>(tokens.size() - 1 - byte % (tokens.size() - 255));
        };
        const Id left = any(), right = any();
        if (!owned(left) || !owned(right)) {
            if (!options.by_ranks) return;
        }
        const std::string joined = tokens[left] + tokens[right];
        if (joined.size() > 300) return;
        merges.insert(merges.end(), {left, right});
        if (std::find(tokens.begin(), tokens.end(), joined) == tokens.end()) tokens.push_back(joined);
    }

    // In the reverse order, or any.
    void turn_merges(Input& in) {
        std::vector<std::pair<Id, Id>> all;
        for (size_t i = 0; i < merges.size(); i += 2) all.emplace_back(merges[i], merges[i + 1]);
        std::reverse(all.begin(), all.end());
        if (in.flag())
            for (size_t i = 1; i < all.size(); ++i) std::swap(all[i], all[in.below(i + 1)]);
        merges.clear();
        for (const auto& [left, right] : all) merges.insert(merges.end(), {left, right});
    }

    void add_listed_pairs() {
        for (size_t i = 0; i < merges.size(); i += 2)
            pair(merges[i], merges[i + 1]) = {static_cast<Priority>(i / 2),
                                              ids.at(tokens[merges[i]] + tokens[merges[i + 1]])};
    }

    void add_all_pairs() {
        std::map<std::string, Id> all;  // with the byte that nobody owns
        for (Id id = 0; id < tokens.size(); ++id) all[tokens[id]] = id;
        for (Id id = 256; id < tokens.size(); ++id)
            for (size_t cut = 1; cut < tokens[id].size(); ++cut) {
                const auto left = all.find(tokens[id].substr(0, cut));
                const auto right = all.find(tokens[id].substr(cut));
                if (left != all.end() && right != all.end())
                    pair(left->second, right->second) = {id, id};
            }
    }

    std::vector<Pair> pairs_;  // of every two tokens
};

}  // namespace bpe::fuzz
