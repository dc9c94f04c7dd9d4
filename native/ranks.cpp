#include "ranks.h"

#include <algorithm>
#include <tuple>

namespace bpe {

std::vector<Merge> canonical_merges(const Model& model, std::vector<Id>& odd, Watch& watch) {
    std::vector<Merge> merges;
    Merger merger(model.table());
    std::vector<Symbol> symbols;
    const auto size = static_cast<Id>(model.tokens().size());
    for (Id id = 0; id < size; ++id) {
        watch.tick(id, size);
        const Bytes token = model.tokens()[id];
        if (!model.normal(id) || token.size() < 2) continue;
        model.split(token, symbols);
        const bool complete = symbols.size() == token.size();  // no byte lacks a token
        merger.merge(symbols, id);
        if (complete && symbols.size() == 2)
            merges.push_back({symbols[0].id, symbols[1].id, id});
        else
            odd.push_back(id);
    }
    return merges;
}

std::vector<Merge> all_splits(const Model& model) {
    std::vector<Merge> merges;
    for (Id id = 0; id < model.tokens().size(); ++id) {
        if (!model.normal(id)) continue;
        const size_t first = merges.size();
        model.for_each_split(id, [&](Id a, Id b) { merges.push_back({a, b, id}); });
        std::sort(merges.begin() + first, merges.end(), [](const Merge& x, const Merge& y) {
            return std::tie(x.left, x.right) < std::tie(y.left, y.right);
        });
    }
    return merges;
}

}  // namespace bpe
