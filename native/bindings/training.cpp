// `PieceCounter` and `train`.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "../train/piece_counter.h"
#include "../train/trainer.h"
#include "bound_encoder.h"
#include "common.h"

namespace bpe::bindings {
namespace {

TieBreak tie_break_of(std::string_view name) {
    if (name == "bytes") return TieBreak::bytes;
    if (name == "ids") return TieBreak::ids;
    if (name == "first") return TieBreak::first;
    throw std::invalid_argument("tie_break must be 'bytes', 'ids' or 'first'");
}

// Checks that every merge done first speaks of ids that there are by then.
void check_first(const TrainOptions& options, size_t symbols) {
    for (size_t i = 0; i < options.first.size(); ++i)
        if (options.first[i].first >= symbols + i || options.first[i].second >= symbols + i)
            throw std::invalid_argument("a merge of ids that are not there yet");
}

Matrix<Id> merges_of(PieceCounter& counter, const Start& start, TrainOptions options, bool consume,
                     nb::object progress) {
    if (consume) options.pieces_read = [&counter] { counter.clear(); };
    check_first(options, start.tokens.size());
    PythonWatch watch(std::move(progress));
    std::vector<Id> values;
    {
        const nb::gil_scoped_release released;
        const PieceCounts counts(counter.tables(), options.tie_break == TieBreak::first);
        for (const auto& [a, b] : train(counts, start, options, watch))
            values.insert(values.end(), {a, b});
    }
    return to_matrix(std::move(values), 2);
}

// Documents that lie in one buffer, each from one offset to the next.
std::vector<Bytes> documents_of(Bytes text, const ArrayView<int64_t>& offsets) {
    const auto all = span_of(offsets);
    return all.empty() ? std::vector<Bytes>() : column_of(text, all.subspan(1), all[0]);
}

// Pieces start as what an encoder makes of them.
Start start_of(const Encoder& encoder) {
    Start start;
    const Model& model = encoder.model();
    for (Id id = 0; id < model.size(); ++id) {
        start.tokens.push_back(model.token(id));
        start.widths.push_back(static_cast<uint32_t>(std::max<size_t>(model.token(id).size(), 1)));
    }
    start.prefix = model.options().prefix;
    struct Scratch {
        explicit Scratch(const Encoder& encoder) : worker(encoder) {}
        Encoder::Worker worker;
        IdBuffer made;
    };
    const auto scratch = std::make_shared<Scratch>(encoder);
    start.spell = [&encoder, scratch](Bytes piece, std::vector<Id>& ids) {
        scratch->made.resize(0);
        encoder.encode_piece(piece, scratch->worker, scratch->made);
        ids.assign(scratch->made.data(), scratch->made.data() + scratch->made.size());
    };
    return start;
}

}  // namespace

void bind_training(nb::module_& m) {
    nb::class_<PieceCounter>(m, "PieceCounter")
        .def("__init__",
             [](PieceCounter* self, std::string_view name, const std::vector<nb::bytes>& specials,
                bool by_line, std::optional<size_t> memory_limit) {
                 CountOptions options{scanner(name), {}, by_line, memory_limit.value_or(SIZE_MAX)};
                 for (const nb::bytes& s : specials)
                     options.specials.emplace_back(s.c_str(), s.size());
                 new (self) PieceCounter(std::move(options));
             }, "scanner"_a, "specials"_a, "by_line"_a, "memory_limit"_a = nb::none())
        .def("add",
             [](PieceCounter& counter, nb::handle documents, unsigned threads, nb::object progress) {
                 const Texts texts(documents);
                 PythonWatch watch(std::move(progress));
                 const nb::gil_scoped_release released;
                 counter.add(texts.views(), threads, watch);
             }, "documents"_a, "threads"_a, "progress"_a = nb::none())
        .def("add_column",
             [](PieceCounter& counter, nb::handle data, ArrayView<int64_t> offsets, unsigned threads,
                nb::object progress) {
                 const Text text(data);
                 const std::vector<Bytes> documents = documents_of(text, offsets);
                 PythonWatch watch(std::move(progress));
                 const nb::gil_scoped_release released;
                 counter.add(documents, threads, watch);
             }, "data"_a, "offsets"_a, "threads"_a, "progress"_a = nb::none(),
             "Documents that lie in one buffer, each from one offset to the next.")
        .def("reserve", &PieceCounter::reserve, "size"_a, "The place of so many bytes that come next.")
        .def("add_at",
             [](PieceCounter& counter, nb::handle documents, uint64_t place, unsigned worker,
                nb::object progress) {
                 const Texts texts(documents);
                 Tally& tally = counter.tally_of(worker);
                 PythonWatch watch(std::move(progress));
                 const nb::gil_scoped_release released;
                 counter.add_at(texts.views(), place, tally, watch);
             }, "documents"_a, "place"_a, "worker"_a, "progress"_a = nb::none(),
             "`add` on this thread, for several at once: each a worker of its own.")
        .def("add_column_at",
             [](PieceCounter& counter, nb::handle data, ArrayView<int64_t> offsets, uint64_t place,
                unsigned worker, nb::object progress) {
                 const Text text(data);
                 const std::vector<Bytes> documents = documents_of(text, offsets);
                 Tally& tally = counter.tally_of(worker);
                 PythonWatch watch(std::move(progress));
                 const nb::gil_scoped_release released;
                 counter.add_at(documents, place, tally, watch);
             }, "data"_a, "offsets"_a, "place"_a, "worker"_a, "progress"_a = nb::none(),
             "`add_column` in the same way.")
        .def("add_pieces",
             [](PieceCounter& counter, const nb::bytes& blob, ArrayView<int64_t> ends,
                ArrayView<uint64_t> counts) {
                 const auto all_ends = span_of(ends);
                 if (all_ends.size() != counts.shape(0))
                     throw std::invalid_argument("as many ends as counts are needed");
                 const std::vector<Bytes> pieces = column_of(bytes_of(blob), all_ends, 0);
                 for (size_t i = 0; i < pieces.size(); ++i)
                     counter.add_piece(pieces[i], counts.data()[i]);
             }, "blob"_a, "ends"_a, "counts"_a, "Pieces that were cut elsewhere.")
        .def("last_cut", [](const PieceCounter& counter, nb::handle text) {
                 const Text bytes(text);
                 const nb::gil_scoped_release released;
                 return counter.last_cut(bytes);
             }, "text"_a, "The last offset where a text may be cut whatever follows it; 0 if none.")
        .def("__len__", [](PieceCounter& counter) { return counter.tables().size(); })
        .def_prop_ro("forgotten", [](PieceCounter& counter) { return counter.tables().forgotten(); })
        .def("pieces",
             [](PieceCounter& counter) {
                 const PieceCounts pieces(counter.tables(), true);
                 std::vector<uint8_t> blob;
                 std::vector<int64_t> ends;
                 std::vector<uint64_t> counts;
                 pieces.for_each([&](Bytes piece, uint64_t count) {
                     blob.insert(blob.end(), piece.begin(), piece.end());
                     ends.push_back(static_cast<int64_t>(blob.size()));
                     counts.push_back(count);
                 });
                 return nb::make_tuple(to_bytes(blob), to_array(std::move(ends)),
                                       to_array(std::move(counts)));
             }, "Pieces in the order of their first appearance: bytes, their ends, counts.",
             nb::sig("def pieces(self) -> tuple[bytes, NDArray[numpy.int64], "
                     "NDArray[numpy.uint64]]"));
    nb::class_<TrainOptions>(m, "TrainOptions")
        .def("__init__",
             [](TrainOptions* self, std::string_view tie_break, size_t merges,
                uint64_t min_frequency, size_t max_token_length, MergeList first, nb::object forbids,
                bool may_clash, unsigned threads) {
                 new (self) TrainOptions{tie_break_of(tie_break), merges, min_frequency,
                                         max_token_length, std::move(first), {}, {}, may_clash, threads};
                 if (!forbids.is_none())
                     self->forbids = [forbids](Bytes token) {
                         const nb::gil_scoped_acquire acquired;
                         return nb::cast<bool>(forbids(to_bytes(token)));
                     };
             }, "tie_break"_a, "merges"_a, "min_frequency"_a = 1, "max_token_length"_a = SIZE_MAX,
             "first"_a = MergeList(), "forbids"_a = nb::none(), "may_clash"_a = false,
             "threads"_a = 1);
    m.def("train",
          [](PieceCounter& counter, const nb::bytes& byte_order, const TrainOptions& options,
             bool consume, nb::object progress) {
              if (byte_order.size() != 256)
                  throw std::invalid_argument("byte_order must hold all 256 bytes");
              std::array<uint8_t, 256> order;
              std::copy_n(bytes_of(byte_order).data(), 256, order.begin());
              return merges_of(counter, Start::of_bytes(order), options, consume, std::move(progress));
          }, "counter"_a, "byte_order"_a, "options"_a, "consume"_a = false, "progress"_a = nb::none(),
          "Rows (left, right): ids below 256 are places in byte_order, 256 + i is merge i. If it may "
          "consume the counts, their memory is used again.");
    m.def("train_from",
          [](PieceCounter& counter, const BoundEncoder& encoder, const TrainOptions& options,
             bool consume, nb::object progress) {
              return merges_of(counter, start_of(encoder), options, consume, std::move(progress));
          }, "counter"_a, "encoder"_a, "options"_a, "consume"_a = false, "progress"_a = nb::none(),
          "The same from the tokens of an encoder on: ids below its size are its own.");
}

}  // namespace bpe::bindings
