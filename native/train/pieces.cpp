#include "pieces.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace bpe {

PieceCounts::PieceCounts(const CountTable& table, bool in_order) {
    if (!in_order) {
        table.for_each([this](Bytes piece, uint64_t count, uint64_t) {
            pieces_.push_back(piece);
            counts_.push_back(count);
        });
        return;
    }
    struct Found {
        uint64_t order, count;
        std::string piece;
    };
    std::vector<Found> all;
    all.reserve(table.size());
    table.for_each([&](Bytes piece, uint64_t count, uint64_t order) {
        all.push_back({order, count, std::string(piece.begin(), piece.end())});
    });
    std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.order < b.order; });
    for (const Found& found : all) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(found.piece.data());
        pieces_.push_back({bytes, found.piece.size()});
        counts_.push_back(found.count);
    }
}

namespace {

std::vector<AddedToken> as_added(const std::vector<std::string>& specials) {
    std::vector<AddedToken> added;
    for (const std::string& content : specials)
        added.push_back({content, 0, false, false, false, false});
    return added;
}

}  // namespace

PieceCounter::PieceCounter(CountOptions options)
    : options_(std::move(options)),
      added_(as_added(options_.specials)),
      enabled_(added_.size(), 1),
      specials_(added_, false) {
    tables_.push_back(std::make_unique<CountTable>());
}

void PieceCounter::count_document(Bytes document, uint64_t order, CountTable& table,
                                  Beat& beat) const {
    const auto count_text = [&](size_t from, size_t to) {
        const Bytes text = document.subspan(from, to - from);
        size_t ends[kScanCapacity];
        for (size_t at = 0; at < text.size();) {
            const size_t begin = at;
            const size_t count = options_.scan(text, at, options_.by_line, ends);
            table.add_pieces(text, begin, {ends, count}, order + from);
            beat(at - begin);
        }
    };
    size_t from = 0;
    specials_.for_each_match(document, enabled_, beat, [&](Match match) {
        count_text(from, match.begin);
        beat(match.end - match.begin);
        from = match.end;
    });
    count_text(from, document.size());
}

void PieceCounter::add(std::span<const Bytes> documents, unsigned threads, Watch& watch) {
    std::vector<uint64_t> orders;
    const uint64_t before = position_;
    for (const Bytes document : documents) {
        orders.push_back(position_);
        position_ += document.size();
        add_weight(document.size());
    }
    while (tables_.size() < threads) tables_.push_back(std::make_unique<CountTable>());
    std::atomic<size_t> next_table{0};
    parallel_for(
        documents.size(), threads, position_ - before, watch,
        [&](Beat&) { return tables_[next_table++].get(); },
        [&](size_t i, CountTable* table, Beat& beat) {
            count_document(documents[i], orders[i], *table, beat);
        });
}

namespace {

struct TooMany : std::overflow_error {
    TooMany() : std::overflow_error("the counts add up to more than 2^64 bytes of text") {}
};

}  // namespace

void PieceCounter::add_piece(Bytes piece, uint64_t count) {
    uint64_t weight;
    if (__builtin_mul_overflow(count, piece.size(), &weight)) throw TooMany();
    add_weight(weight);
    tables_[0]->add(piece, count, position_++);
}

void PieceCounter::add_weight(uint64_t bytes) {
    if (__builtin_add_overflow(weight_, bytes, &weight_))
        throw TooMany();
}

const CountTable& PieceCounter::table() {
    while (tables_.size() > 1) {
        tables_[0]->add(*tables_.back());
        tables_.pop_back();
    }
    return *tables_[0];
}

}  // namespace bpe
