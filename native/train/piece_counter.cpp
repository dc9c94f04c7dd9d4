#include "piece_counter.h"

#include <stdexcept>

#include "../base/runs.h"
#include "../scan/cuts.h"

namespace bpe {
namespace {

constexpr size_t kTask = 1 << 16;  // bytes of text: what is worth handing to a thread

struct TooMany : std::overflow_error {
    TooMany() : std::overflow_error("the counts add up to more than 2^64 bytes of text") {}
};

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
    clear();
}

void PieceCounter::add(std::span<const Bytes> documents, unsigned threads, Watch& watch) {
    if (options_.memory_limit != SIZE_MAX) threads = 1;
    const uint64_t before = position_;
    const std::vector<Part> parts = parts_of(documents, threads);
    if (threads > 0) tally_of(threads - 1);
    const auto tasks =
        runs_of(parts.size(), kTask, [&](size_t i) { return parts[i].text.size(); });
    std::atomic<size_t> next_tally{0};
    parallel_for(
        tasks.size() - 1, threads, position_ - before, watch,
        [&](Beat&) { return tallies_[next_tally++].get(); },
        [&](size_t task, Tally* tally, Beat& beat) {
            const auto some = std::span(parts).subspan(tasks[task], tasks[task + 1] - tasks[task]);
            count_parts(some, *tally, beat);
        });
}

uint64_t PieceCounter::reserve(uint64_t bytes) {
    add_bytes(bytes);
    return std::exchange(position_, position_ + bytes);
}

Tally& PieceCounter::tally_of(unsigned worker) {
    while (tallies_.size() <= worker) tallies_.push_back(std::make_unique<Tally>(*tables_));
    return *tallies_[worker];
}

void PieceCounter::add_at(std::span<const Bytes> documents, uint64_t place, Tally& tally,
                          Watch& watch) const {
    std::vector<Part> parts;
    uint64_t end = place;
    for (const Bytes document : documents) parts.push_back({document, std::exchange(end, end + document.size())});
    parallel_for(
        1, 1, end - place, watch, [](Beat&) { return 0; },
        [&](size_t, int, Beat& beat) { count_parts(parts, tally, beat); });
}

void PieceCounter::count_parts(std::span<const Part> parts, Tally& tally, Beat& beat) const {
    try {
        for (size_t i = 0; i < parts.size(); ++i) {
            if (i + 1 < parts.size()) prefetch_begin(parts[i + 1].text);
            count_part(parts[i], tally, beat);
        }
        tally.leave_texts();
    } catch (...) {
        tally.drop_texts();
        throw;
    }
}

// For several threads, long documents are cut where that changes nothing.
std::vector<PieceCounter::Part> PieceCounter::parts_of(std::span<const Bytes> documents,
                                                       unsigned threads) {
    constexpr size_t kPart = 1 << 16;
    std::vector<Part> parts;
    for (Bytes document : documents) {
        add_bytes(document.size());
        size_t part = kPart;
        while (threads > 1 && document.size() > 2 * part) {
            if (const size_t cut = last_cut(document.first(part))) {
                parts.push_back({document.first(cut), position_});
                document = document.subspan(cut);
                position_ += cut;
                part = kPart;
            } else {
                part *= 2;
            }
        }
        parts.push_back({document, position_});
        position_ += document.size();
    }
    return parts;
}

void PieceCounter::count_part(Part part, Tally& tally, Beat& beat) const {
    const auto count_text = [&](size_t from, size_t to) {
        const Bytes text = part.text.subspan(from, to - from);
        for_each_batch(
            options_.scanner.scan, text, options_.by_line,
            [&](size_t begin, std::span<const size_t> ends) {
                tally.add_pieces(text, begin, ends, part.order + from);
            },
            beat);
    };
    specials_.cut(part.text, enabled_, beat, count_text,
                  [&](Match match) { beat(match.end - match.begin); });
}

size_t PieceCounter::last_cut(Bytes text) const {
    return bpe::last_cut(options_.scanner, text, options_.by_line,
                         [&](size_t at) { return splits_special(text, at); });
}

// Whether a special token may begin in front of this place and end behind it.
bool PieceCounter::splits_special(Bytes text, size_t at) const {
    for (const std::string& special : options_.specials)
        if (may_begin(text, as_bytes(special), at - std::min(at, special.size() - 1), at)) return true;
    return false;
}

void PieceCounter::add_piece(Bytes piece, uint64_t count) {
    if (piece.empty() || count == 0) return;
    uint64_t bytes;
    if (__builtin_mul_overflow(count, piece.size(), &bytes)) throw TooMany();
    add_bytes(bytes);
    const uint64_t order = position_++;
    if (piece.size() <= ShortKey::kMost) {
        const ShortPiece counted{ShortKey::of(piece, 0, piece.size()), count, order};
        tables_->add(tables_->table_of(counted.key.hash()), std::span(&counted, 1), true);
    } else {
        const LongPiece counted{piece, hash_of(piece), count, order};
        tables_->add(tables_->table_of(counted.hash), std::span(&counted, 1), true);
    }
}

void PieceCounter::add_bytes(uint64_t bytes) {
    if (__builtin_add_overflow(total_bytes_, bytes, &total_bytes_)) throw TooMany();
}

const CountTables& PieceCounter::tables() {
    for (const auto& tally : tallies_) tally->flush();
    return *tables_;
}

void PieceCounter::clear() {
    tallies_.clear();
    tables_ = std::make_unique<CountTables>(options_.memory_limit);
}

}  // namespace bpe
