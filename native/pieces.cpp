#include "pieces.h"

#include <cstring>

namespace bpe {

void PieceCounts::add(Bytes piece, uint64_t count) {
    if (const auto known = index_.find(piece)) {
        counts_[*known] += count;
        return;
    }
    pieces_.push_back(piece);
    counts_.push_back(count);
    index_.insert(static_cast<Id>(counts_.size() - 1));
}

void PieceCounts::add(const PieceCounts& other) {
    for (size_t i = 0; i < other.size(); ++i) add(other.piece(i), other.count(i));
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
      specials_(added_, false) {}

void PieceCounter::count_document(Bytes document, PieceCounts& counts, Beat& beat) const {
    const auto count_unit = [&](Bytes unit) {
        for_each_piece(
            options_.scan, unit,
            [&](size_t begin, size_t end) { counts.add(unit.subspan(begin, end - begin)); }, beat);
    };
    const auto count_text = [&](size_t begin, size_t end) {
        if (!options_.by_line) return count_unit(document.subspan(begin, end - begin));
        while (begin < end) {
            const void* newline = std::memchr(document.data() + begin, '\n', end - begin);
            const size_t next =
                newline ? static_cast<const uint8_t*>(newline) - document.data() + 1 : end;
            count_unit(document.subspan(begin, next - begin));
            begin = next;
        }
    };
    size_t from = 0;
    specials_.for_each_match(document, enabled_, [&](Match match) {
        count_text(from, match.begin);
        beat(match.end - match.begin);
        from = match.end;
    });
    count_text(from, document.size());
}

void PieceCounter::add(std::span<const Bytes> documents, unsigned threads, Watch& watch) {
    uint64_t total = 0;
    for (const Bytes document : documents) total += document.size();
    // A job counts a run of documents into a table of its own; the tables are added in the order of
    // the text, so that the order of first appearance is that of one thread.
    const size_t jobs = std::max<size_t>(1, std::min<size_t>(threads, documents.size()));
    std::vector<PieceCounts> tables(jobs - 1);
    parallel_for(
        jobs, threads, total, watch, [] { return 0; },
        [&](size_t job, int, Beat& beat) {
            const size_t end = documents.size() * (job + 1) / jobs;
            for (size_t i = documents.size() * job / jobs; i < end; ++i)
                count_document(documents[i], job ? tables[job - 1] : counts_, beat);
        });
    for (const PieceCounts& table : tables) counts_.add(table);
}

}  // namespace bpe
