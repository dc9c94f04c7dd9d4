#include "model.h"

#include <algorithm>
#include <cstdio>

#include "short_merger.h"

namespace bpe {
MissingByte::MissingByte(uint8_t byte)
    : std::invalid_argument([byte] {
          char text[160];
          std::snprintf(text, sizeof text,
                        "byte 0x%02X has no token, so that texts with it cannot be encoded; give "
                        "the vocabulary a token for it, or take it out of the text", byte);
          return std::string(text);
      }()) {}

Model::Model(std::shared_ptr<const Vocabulary> vocabulary, ModelOptions options)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      size_(static_cast<Id>(vocabulary_->size())) {
    starts_as_bytes_ = options_.byte_level && options_.unknown == kNoId &&
                       options_.prefix.empty() && options_.suffix.empty();
    bytes_.fill(kNoId);
    const Kind of_bytes = options_.byte_level ? Kind::normal : Kind::byte;
    for (Id id = 0; id < size_; ++id)
        if (kind(id) == of_bytes && token(id).size() == 1) bytes_[token(id)[0]] = id;
    add_characters();
    if (!options_.by_ranks) {
        look_into_tokens();
        add_listed_merges();
        return;
    }
    look_into_tokens();
    add_missing_bytes();
    for (Id id = 0; id < vocabulary_->size(); ++id)
        if (kind(id) == Kind::normal || id >= size_) lengths_.push_back(token(id).size());
    std::sort(lengths_.begin(), lengths_.end());
    lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
    add_pairs_of_ranks();
}

void Model::add_characters() {
    constexpr size_t kMost = 1 << 16;
    if (options_.byte_level || !options_.prefix.empty() || !options_.suffix.empty()) return;
    characters_.resize(kMost, kNoId);
    for (Id id = 0; id < size_; ++id) {
        const Bytes bytes = token(id);
        if (bytes.empty() || bytes.size() > 3) continue;
        const Character character = character_at(bytes, 0);
        if (character.length == bytes.size() && character.code_point < kMost)
            characters_[character.code_point] = index().find(bytes).value_or(kNoId);
    }
}

void Model::add_pairs_of_ranks() {
    std::vector<Merge> pairs;
    pairs.reserve(4 * size_t{size_});
    for_each_pair([&](Id left, Id right, Id merged) { pairs.push_back({left, right, merged}); });
    add_merges(std::move(pairs));
}

void Model::add_listed_merges() {
    const std::span<const Merge> merges = vocabulary_->merges();
    for (const Merge& merge : merges)
        merges_unknown_ = merges_unknown_ || merge.left == options_.unknown || merge.right == options_.unknown;
    add_merges({merges.begin(), merges.end()});
}

void Model::add_merges(std::vector<Merge> merges) {
    const auto priority_of = [&](size_t i) {
        return options_.by_ranks ? merges[i].merged : static_cast<Priority>(i);
    };
    constexpr size_t kAhead = 16;  // asked for before it is written
    const auto add = [&] {
        table_ = MergeTable(merges.size(), vocabulary_->size());
        for (size_t i = 0; i < merges.size(); ++i) {
            if (i + kAhead < merges.size()) table_.ask(merges[i + kAhead].left, merges[i + kAhead].right);
            table_.insert(merges[i].left, merges[i].right, priority_of(i), merges[i].merged);
        }
        if (has_first_merges())
            first_merges_ = FirstMerges(vocabulary_->tokens(), bytes_, merges, priority_of);
    };
    add();
    if (has_first_merges() && drop_idle(merges)) add();
}

// Where ranks are meant, all pairs are listed whose concatenation is a token; but no other than the last
// one that merges when the token is merged alone ever merges, see `last_merges`. Without the rest, the
// table is half as large, and new words are encoded in a tenth less time. False if nothing is dropped.
bool Model::drop_idle(std::vector<Merge>& merges) const {
    std::vector<uint8_t> ways(vocabulary_->size());
    for (const Merge& merge : merges)
        ways[merge.merged] += ways[merge.merged] < 2 && token(merge.merged).size() > 2;
    std::vector<std::pair<Id, Id>> last(vocabulary_->size(), {kNoId, kNoId});
    ShortMerger shorts(*this);
    Merger merger(table_);
    std::vector<Id> tokens;
    std::vector<Symbol> symbols;
    const auto merge_shorts = [&] {
        shorts.run(2);
        for (size_t i = 0; i < tokens.size(); ++i)
            if (const auto ids = shorts.ids(i); ids.size() == 2) last[tokens[i]] = {ids[0], ids[1]};
        shorts.clear();
        tokens.clear();
    };
    for (Id id = 0; id < vocabulary_->size(); ++id) {
        if (ways[id] < 2) continue;
        if (shorts.takes(token(id).size())) {
            shorts.add(token(id));
            tokens.push_back(id);
            if (tokens.size() == ShortMerger::kTogether) merge_shorts();
            continue;
        }
        start(token(id), symbols);
        merger.merge(symbols, kNever, 2);
        if (symbols.size() == 2) last[id] = {symbols[0].id, symbols[1].id};
    }
    merge_shorts();
    return std::erase_if(merges, [&](const Merge& merge) {
        return ways[merge.merged] > 1 && last[merge.merged] != std::pair(merge.left, merge.right);
    }) > 0;
}

void Model::look_into_tokens() {
    has_all_bytes_ = std::find(bytes_.begin(), bytes_.end(), kNoId) == bytes_.end();
    in_tokens_.resize(1 << 16);
    long_tokens_.resize(1 << 19);
    for (Id id = 0; id < size_; ++id) {
        const Bytes bytes = token(id);
        longest_ = std::max(longest_, bytes.size());
        if (kind(id) != Kind::normal) continue;
        if (bytes.size() > kShort) long_tokens_[long_place(bytes)] = true;
        for (size_t i = 1; i < bytes.size(); ++i) in_tokens_[bytes[i - 1] << 8 | bytes[i]] = true;
    }
}

// Bytes without a token can still be merged into one; they get ids that nobody owns meanwhile.
void Model::add_missing_bytes() {
    std::vector<uint8_t> missing;
    for (uint32_t byte = 0; byte < 256; ++byte) {
        if (bytes_[byte] != kNoId) continue;
        bytes_[byte] = size_ + static_cast<Id>(missing.size());
        missing.push_back(static_cast<uint8_t>(byte));
    }
    if (!missing.empty()) vocabulary_ = vocabulary_->with_stand_ins(missing);
}

void Model::encode(Bytes piece, Merger& merger, std::vector<Symbol>& symbols) const {
    if (piece.size() >= kNoId)
        throw std::length_error("a piece of 4 GiB or more cannot be encoded");
    if (options_.ignore_merges)
        if (const auto id = whole(piece))
            return symbols.assign(1, {*id, 0, static_cast<uint32_t>(piece.size())});
    start(piece, symbols);
    merger.merge(symbols);
    if (size_ < vocabulary_->size())
        for (const Symbol& symbol : symbols)
            if (symbol.id >= size_) throw MissingByte(piece[symbol.start]);
}

// tokenizers knows Kind::byte tokens by their spelling.
std::optional<Id> Model::whole(Bytes piece) const {
    if (piece.size() > longest_) return std::nullopt;
    if (piece.size() > kShort && !long_tokens_[long_place(piece)]) return std::nullopt;
    if (const auto id = find(piece)) return id;
    if (!options_.byte_fallback || piece.size() != 6) return std::nullopt;
    for (uint32_t byte = 0; byte < 256; ++byte) {
        char spelled[8];
        std::snprintf(spelled, sizeof spelled, "<0x%02X>", byte);
        if (bytes_[byte] != kNoId && std::equal(piece.begin(), piece.end(), spelled))
            return bytes_[byte];
    }
    return std::nullopt;
}

void Model::start(Bytes piece, std::vector<Symbol>& symbols) const {
    symbols.clear();
    if (!starts_as_bytes_) return start_with_characters(piece, symbols);
    for (uint32_t i = 0; i < piece.size(); ++i)
        if (const Id id = bytes_[piece[i]]; id != kNoId) symbols.push_back({id, i, i + 1});
}

// The order of events follows tokenizers' merge_word: an unknown waits until the next character that
// has a token, so that neighbours can be fused.
void Model::start_with_characters(Bytes piece, std::vector<Symbol>& symbols) const {
    Symbol waiting{kNoId, 0, 0};
    const auto flush = [&] {
        if (waiting.id != kNoId) symbols.push_back(waiting);
        waiting.id = kNoId;
    };
    std::vector<uint8_t> spelled;
    for (uint32_t at = 0, end; at < piece.size(); at = end) {
        const Character character = character_at(piece, at);
        end = at + (options_.byte_level ? 1 : character.length);
        Id id = character.code_point < characters_.size() ? characters_[character.code_point] : kNoId;
        if (id == kNoId) {
            spelled.clear();
            if (at > 0) spelled.insert(spelled.end(), options_.prefix.begin(), options_.prefix.end());
            spelled.insert(spelled.end(), piece.begin() + at, piece.begin() + end);
            if (end == piece.size() && !options_.suffix_apart)
                spelled.insert(spelled.end(), options_.suffix.begin(), options_.suffix.end());
            id = index().find(spelled).value_or(kNoId);
        }
        if (id != kNoId) {
            flush();
            symbols.push_back({id, at, end});
            continue;
        }
        const bool falls_back =
            options_.byte_fallback && std::all_of(spelled.begin(), spelled.end(), [&](uint8_t b) {
                return bytes_[b] != kNoId;
            });
        if (falls_back) {
            for (const uint8_t byte : spelled) symbols.push_back({bytes_[byte], at, end});
        } else if (waiting.id != kNoId && options_.fuse_unknown) {
            waiting.end = end;
        } else if (options_.unknown != kNoId) {
            flush();
            waiting = {options_.unknown, at, end};
        }
    }
    flush();
    const auto end = static_cast<uint32_t>(piece.size());
    if (options_.suffix_apart && end > 0)
        if (const auto id = index().find(as_bytes(options_.suffix))) symbols.push_back({*id, end, end});
}

}  // namespace bpe
