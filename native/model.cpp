#include "model.h"

#include <cstdio>

namespace bpe {

MissingByte::MissingByte(uint8_t byte)
    : std::invalid_argument([byte] {
          char text[64];
          std::snprintf(text, sizeof text, "byte 0x%02X has no token", byte);
          return std::string(text);
      }()) {}

Model::Model(ByteStrings tokens, std::span<const uint8_t> kinds, std::span<const Id> merges,
             ModelOptions options)
    : tokens_(std::move(tokens)),
      options_(std::move(options)),
      index_(tokens_, tokens_.size()),
      table_(merges.size() / 2) {
    starts_as_bytes_ = options_.byte_level && options_.unknown == kNoId &&
                       options_.prefix.empty() && options_.suffix.empty();
    if (kinds.size() != tokens_.size()) throw std::invalid_argument("one kind per token is needed");
    if (tokens_.size() >= kNoId) throw std::invalid_argument("ids must fit in 32 bits");
    for (const uint8_t kind : kinds) kinds_.push_back(static_cast<Kind>(kind));
    bytes_.fill(kNoId);
    for (Id id = 0; id < tokens_.size(); ++id) {
        const bool single = tokens_[id].size() == 1;
        if (kinds_[id] == Kind::normal) {
            index_.insert(id);
            if (single && options_.byte_level) bytes_[tokens_[id][0]] = id;
        } else if (kinds_[id] == Kind::byte && single && !options_.byte_level) {
            bytes_[tokens_[id][0]] = id;
        }
    }
    if (!options_.by_ranks) {
        add_listed_merges(merges);
        return;
    }
    for (Id id = 0; id < tokens_.size(); ++id)
        if (kinds_[id] == Kind::normal)
            for_each_split(id, [&](Id left, Id right) { table_.insert(left, right, id, id); });
}

void Model::add_listed_merges(std::span<const Id> merges) {
    std::vector<uint8_t> joined;
    for (size_t i = 0; i + 1 < merges.size(); i += 2) {
        const Id left = merges[i], right = merges[i + 1];
        if (left >= tokens_.size() || right >= tokens_.size())
            throw std::invalid_argument("merge " + std::to_string(i / 2) + " names an id that is no token");
        const Bytes a = tokens_[left], b = tokens_[right];
        joined.assign(a.begin(), a.end());
        joined.insert(joined.end(), b.begin() + std::min(options_.prefix.size(), b.size()), b.end());
        const auto merged = find(joined);
        if (!merged)
            throw std::invalid_argument("merge " + std::to_string(i / 2) +
                                        " makes a string that is no token");
        table_.insert(left, right, static_cast<Priority>(i / 2), *merged);
    }
}

void Model::encode(Bytes piece, Merger& merger, std::vector<Symbol>& symbols) const {
    if (options_.ignore_merges)
        if (const auto id = find(piece)) return symbols.assign(1, {*id, 0});
    split(piece, symbols);
    merger.merge(symbols);
}

void Model::split(Bytes piece, std::vector<Symbol>& symbols) const {
    if (piece.size() >= kNoId) throw std::length_error("a piece of 4 GiB or more cannot be encoded");
    symbols.clear();
    if (!starts_as_bytes_) return split_characters(piece, symbols);
    for (uint32_t i = 0; i < piece.size(); ++i) {
        if (const Id id = bytes_[piece[i]]; id != kNoId)
            symbols.push_back({id, i});
        else if (options_.by_ranks)
            throw MissingByte(piece[i]);
    }
}

// The order of events follows tokenizers' merge_word: an unknown waits until the next character that
// has a token, so that neighbours can be fused.
void Model::split_characters(Bytes piece, std::vector<Symbol>& symbols) const {
    Symbol waiting{kNoId, 0};
    const auto flush = [&] {
        if (waiting.id != kNoId) symbols.push_back(waiting);
        waiting.id = kNoId;
    };
    std::vector<uint8_t> spelled;
    for (uint32_t at = 0, length; at < piece.size(); at += length) {
        length = options_.byte_level ? 1 : character_at(piece, at).length;
        const bool last = at + length == piece.size();
        spelled.clear();
        if (at > 0) spelled.insert(spelled.end(), options_.prefix.begin(), options_.prefix.end());
        spelled.insert(spelled.end(), piece.begin() + at, piece.begin() + at + length);
        if (last) spelled.insert(spelled.end(), options_.suffix.begin(), options_.suffix.end());
        if (const auto id = find(spelled)) {
            flush();
            symbols.push_back({*id, at});
            continue;
        }
        if (options_.byte_fallback) {
            bool all = true;
            for (const uint8_t byte : spelled) all = all && bytes_[byte] != kNoId;
            if (all) {
                for (uint32_t i = 0; i < spelled.size(); ++i)
                    symbols.push_back({bytes_[spelled[i]], at + std::min(i, length - 1)});
                continue;
            }
        }
        if (options_.unknown == kNoId) continue;
        if (waiting.id != kNoId && options_.fuse_unknown) continue;
        flush();
        waiting = {options_.unknown, at};
    }
    flush();
}

}  // namespace bpe
