// From ranks to merges.
#include "../encode/ranks.h"

#include <nanobind/stl/pair.h>

#include "common.h"

namespace bpe::bindings {

void bind_ranks(nb::module_& m) {
    const auto model_of = [](const nb::bytes& tokens, const ArrayView<int64_t>& ends,
                             const nb::bytes& kinds) {
        ModelOptions options;
        options.by_ranks = true;
        return std::make_unique<const Model>(ByteStrings(bytes_of(tokens), span_of(ends)),
                                             bytes_of(kinds), std::span<const Id>{},
                                             std::move(options));
    };
    const auto flat = [](const std::vector<Merge>& merges) {
        std::vector<Id> values;
        values.reserve(3 * merges.size());
        for (const Merge& m : merges) values.insert(values.end(), {m.left, m.right, m.merged});
        return values;
    };
    m.def("canonical_merges",
          [=](const nb::bytes& tokens, ArrayView<int64_t> ends, const nb::bytes& kinds) {
              PythonWatch watch{nb::none()};
              std::vector<Id> odd, values;
              {
                  const nb::gil_scoped_release released;
                  values = flat(canonical_merges(*model_of(tokens, ends, kinds), odd, watch));
              }
              return std::pair(to_matrix(std::move(values), 3), to_array(std::move(odd)));
          }, "tokens"_a, "ends"_a, "kinds"_a,
          "Rows (left, right, merged) by merged id, and the ids that no two tokens make.");
    m.def("all_pairs",
          [=](const nb::bytes& tokens, ArrayView<int64_t> ends, const nb::bytes& kinds) {
              std::vector<Id> values;
              {
                  const nb::gil_scoped_release released;
                  values = flat(all_pairs(*model_of(tokens, ends, kinds)));
              }
              return to_matrix(std::move(values), 3);
          }, "tokens"_a, "ends"_a, "kinds"_a, "Rows (left, right, merged) by merged, left, right.");
}

}  // namespace bpe::bindings
