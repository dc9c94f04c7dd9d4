// `PieceCounter` and `train`.
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "../train/trainer.h"
#include "common.h"

namespace bpe::bindings {
namespace {

TieBreak tie_break_of(std::string_view name) {
    if (name == "bytes") return TieBreak::bytes;
    if (name == "ids") return TieBreak::ids;
    if (name == "first") return TieBreak::first;
    throw std::invalid_argument("tie_break must be 'bytes', 'ids' or 'first'");
}

}  // namespace

void bind_training(nb::module_& m) {
    nb::class_<PieceCounter>(m, "PieceCounter")
        .def("__init__",
             [](PieceCounter* self, std::string_view name, std::vector<nb::bytes> specials,
                bool by_line) {
                 CountOptions options{scanner(name), {}, by_line};
                 for (const nb::bytes& s : specials)
                     options.specials.emplace_back(s.c_str(), s.size());
                 new (self) PieceCounter(std::move(options));
             }, "scanner"_a, "specials"_a, "by_line"_a)
        .def("add",
             [](PieceCounter& counter, nb::handle documents, unsigned threads, nb::object progress) {
                 const Texts texts(documents);
                 PythonWatch watch(std::move(progress));
                 const nb::gil_scoped_release released;
                 counter.add(texts.views(), threads, watch);
             }, "documents"_a, "threads"_a, "progress"_a = nb::none())
        .def("add_piece",
             [](PieceCounter& counter, const nb::bytes& piece, uint64_t count) {
                 counter.add_piece(bytes_of(piece), count);
             }, "piece"_a, "count"_a)
        .def("__len__", [](PieceCounter& counter) { return counter.table().size(); })
        .def("items",
             [](PieceCounter& counter) {
                 const PieceCounts counts(counter.table(), true);
                 nb::list items;
                 for (size_t i = 0; i < counts.size(); ++i)
                     items.append(nb::make_tuple(to_bytes(counts.piece(i)), counts.count(i)));
                 return items;
             }, "Pieces in the order of their first appearance, with their counts.",
             nb::sig("def items(self) -> list[tuple[bytes, int]]"));
    m.def("train",
          [](PieceCounter& counter, std::string_view tie_break, const nb::bytes& byte_order,
             size_t merges, uint64_t min_frequency, size_t max_token_length, nb::object progress) {
              if (byte_order.size() != 256)
                  throw std::invalid_argument("byte_order must hold all 256 bytes");
              TrainOptions options;
              options.tie_break = tie_break_of(tie_break);
              std::copy_n(bytes_of(byte_order).data(), 256, options.byte_order.begin());
              options.merges = merges;
              options.min_frequency = min_frequency;
              options.max_token_length = max_token_length;
              PythonWatch watch(std::move(progress));
              std::vector<Id> values;
              {
                  const nb::gil_scoped_release released;
                  const PieceCounts counts(counter.table(),
                                           options.tie_break == TieBreak::first);
                  for (const auto& [a, b] : train(counts, options, watch))
                      values.insert(values.end(), {a, b});
              }
              return to_matrix(std::move(values), 2);
          }, "counter"_a, "tie_break"_a, "byte_order"_a, "merges"_a, "min_frequency"_a,
          "max_token_length"_a, "progress"_a = nb::none(),
          "Rows (left, right): ids below 256 are places in byte_order, 256 + i is merge i.");
}

}  // namespace bpe::bindings
