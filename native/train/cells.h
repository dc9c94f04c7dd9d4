// The pieces of a training text as one array of cells, a cell for each byte, rewritten by merges.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "../base/crew.h"
#include "../base/memory.h"
#include "pieces.h"
#include "start.h"

namespace bpe {

// The words of a training text: pieces of at least two symbols, as others have no pair. And where
// each goes: frequent words first, so that what is touched often lies together, unless the order of
// the pieces must be kept.
class Words {
public:
    Words(const PieceCounts& pieces, const Start& start, bool keep_order, Crew& crew);

    size_t size() const { return size_; }
    size_t cells() const { return cells_; }
    uint64_t greatest_count() const { return greatest_count_; }

    // Calls `place(word, cell, symbols, count)` for every word, on all threads; `symbols(sink)` calls
    // `sink(id, width)` for each symbol.
    template <class Place>
    void for_each(Crew& crew, Place&& place) const {
        crew.run([&](unsigned part) {
            if (part >= nexts_.size()) return;
            auto next = nexts_[part];
            for_each_in(part, [&](size_t cells, auto&& symbols, uint64_t count) {
                Next& to = next[magnitude(count)];
                place(to.word++, to.cell, symbols, count);
                to.cell += cells + 1;
            });
        });
    }

private:
    // Words of one binary magnitude of their counts follow each other, which is all the order that
    // the memory needs.
    struct Next {
        size_t word = 0, cell = 0;
    };
    static constexpr size_t kMagnitudes = 65;
    size_t magnitude(uint64_t count) const {
        return keep_order_ ? 0 : 64 - static_cast<size_t>(std::bit_width(count));
    }

    template <class Sink>
    void for_each_in(unsigned part, Sink&& sink) const {
        std::vector<Id> ids;
        pieces_.for_each(part, nexts_.size(), [&](Bytes piece, uint64_t count) {
            if (!start_.spell) {
                if (piece.size() < 2) return;
                return sink(piece.size(), [&](auto&& symbol) {
                    for (const uint8_t byte : piece) symbol(start_.byte_ids[byte], size_t{1});
                }, count);
            }
            start_.spell(piece, ids);
            if (ids.size() < 2) return;
            size_t cells = 0;
            for (const Id id : ids) cells += start_.widths[id];
            sink(cells, [&](auto&& symbol) {
                for (const Id id : ids) symbol(id, size_t{start_.widths[id]});
            }, count);
        });
    }

    const PieceCounts& pieces_;
    const Start& start_;
    bool keep_order_;
    std::vector<std::array<Next, kMagnitudes>> nexts_;  // of the parts, where their words begin
    size_t size_ = 0, cells_ = 1;
    uint64_t greatest_count_ = 0;
};

// A token covers as many cells as it has bytes and never moves. Its first and its last cell hold its
// id, so both neighbours of a token are found without a list: the token after it starts right behind
// its last cell, and the cell before its first one is its left neighbour's last. What stands between
// is stale, but for the cell where the right part of the last merge began, which holds the id too:
// so a remembered place whose token was swallowed never looks alive again. Words are parted by kEnd.
//
// `Number` holds every place and every word's count.
template <class Cell, class Number>
class Cells {
public:
    static constexpr Cell kEnd = std::numeric_limits<Cell>::max();

    Cells(const Words& words, Crew& crew)
        : cells_(words.cells()), begins_(words.size() + 1), counts_(words.size()) {
        words.for_each(crew, [this](size_t word, size_t at, auto&& symbols, uint64_t count) {
            begins_[word] = static_cast<Number>(at);
            counts_[word] = static_cast<Number>(count);
            Cell* cell = data() + at;
            symbols([&](Id id, size_t width) { cell = std::fill_n(cell, width, static_cast<Cell>(id)); });
            *cell = kEnd;
        });
        cells_[0] = kEnd;
        begins_[words.size()] = static_cast<Number>(words.cells());
    }

    Cell* data() { return cells_.data(); }
    const Cell* data() const { return cells_.data(); }
    Number count(size_t word) const { return counts_[word]; }
    // The first cell of a word; the last one before that of the next word is an end.
    size_t begin(size_t word) const { return begins_[word]; }

    // The words of one of so many parts of about equal size.
    std::pair<size_t, size_t> share(size_t part, size_t parts) const {
        const auto word_at = [&](size_t p) -> size_t {
            if (p == parts) return counts_.size();
            const size_t cell = cells_.size() / parts * p;
            return std::lower_bound(begins_.data(), begins_.data() + counts_.size(), cell) - begins_.data();
        };
        return {word_at(part), word_at(part + 1)};
    }

private:
    ZeroedArray<Cell> cells_;
    ZeroedArray<Number> begins_;  // of each word, and where the last one ends
    ZeroedArray<Number> counts_;
};

}  // namespace bpe
