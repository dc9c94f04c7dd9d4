// From ranks to merges.
#include "../encode/ranks.h"

#include <nanobind/stl/pair.h>

#include "common.h"

namespace bpe::bindings {

void bind_ranks(nb::module_& m) {
    const auto flat = [](const std::vector<Merge>& merges) {
        std::vector<Id> values;
        values.reserve(3 * merges.size());
        for (const Merge& m : merges) values.insert(values.end(), {m.left, m.right, m.merged});
        return values;
    };
    m.def("canonical_merges",
          [=](const Model& model) {
              PythonWatch watch{nb::none()};
              std::vector<Id> odd, values;
              {
                  const nb::gil_scoped_release released;
                  values = flat(canonical_merges(model, odd, watch));
              }
              return std::pair(to_matrix(std::move(values), 3), to_array(std::move(odd)));
          }, "model"_a,
          "Rows (left, right, merged) by merged id, and the ids that no two tokens make, of a model "
          "by ranks.");
    m.def("all_pairs",
          [=](const Model& model) {
              std::vector<Id> values;
              {
                  const nb::gil_scoped_release released;
                  values = flat(all_pairs(model));
              }
              return to_matrix(std::move(values), 3);
          }, "model"_a, "Rows (left, right, merged) by merged, left, right.");
}

}  // namespace bpe::bindings
