// Strings with ids, as the vocab of a tokenizer.json lists them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "byte_strings.h"

namespace bpe {

class StringIds {
public:
    StringIds() = default;
    StringIds(const StringIds&) = delete;

    void reserve(size_t strings, size_t bytes) {
        strings_.reserve(strings, bytes);
        ids_.reserve(strings);
    }
    void push_back(Bytes string, Id id) {
        strings_.push_back(string);
        ids_.push_back(id);
    }
    // To be called when all are there; false if a string is there twice.
    bool build_index() { return index_.rebuild(); }

    size_t size() const { return ids_.size(); }
    Bytes string(size_t place) const { return strings_[place]; }
    size_t total_bytes() const { return strings_.total_bytes(); }
    std::span<const Id> ids() const { return ids_; }

    std::optional<Id> find(Bytes string) const {
        const auto place = index_.find(string);
        return place ? std::optional(ids_[*place]) : std::nullopt;
    }
    // Calls `sink(id)` for each of some strings, in order; false at the first that has none.
    template <class Sink>
    bool find_all(std::span<const Bytes> strings, Sink&& sink) const {
        return index_.find_all(strings, [&](Id place) { sink(ids_[place]); });
    }

private:
    ByteStrings strings_;
    std::vector<Id> ids_;
    BytesIndex index_{strings_};
};

// The halves of a merge in one string; none if there is not one space.
inline std::optional<std::pair<Bytes, Bytes>> halves_of(Bytes merge) {
    const auto space = std::find(merge.begin(), merge.end(), ' ');
    if (space == merge.end() || std::find(space + 1, merge.end(), ' ') != merge.end())
        return std::nullopt;
    const auto at = static_cast<size_t>(space - merge.begin());
    return std::pair(merge.first(at), merge.subspan(at + 1));
}

// Merges of strings to rows of the ids of left, right and what they make together. Many are looked up
// at once: every step is false if a string has no id, maybe one of a step before.
class MergeRows {
public:
    explicit MergeRows(const StringIds& strings) : strings_(strings) {}

    bool add(Bytes left, Bytes right) {
        if (left.empty() || right.empty()) return false;
        const Bytes made = joined(left, right, 0, rooms_[count_++]);
        sought_.insert(sought_.end(), {made.first(left.size()), made.subspan(left.size()), made});
        return count_ < kBatch || look_up();
    }
    // The rows, one after the other; none if a string has no id.
    std::optional<LargeVector<Id>> finish() {
        return look_up() ? std::optional(std::move(rows_)) : std::nullopt;
    }

private:
    static constexpr size_t kBatch = 64;

    bool look_up() {
        const bool found = strings_.find_all(sought_, [&](Id id) { rows_.push_back(id); });
        sought_.clear();
        count_ = 0;
        return found;
    }

    const StringIds& strings_;
    std::array<std::vector<uint8_t>, kBatch> rooms_;
    size_t count_ = 0;
    std::vector<Bytes> sought_;
    LargeVector<Id> rows_;
};

}  // namespace bpe
