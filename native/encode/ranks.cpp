#include "ranks.h"

#include <algorithm>
#include <tuple>

namespace bpe {

std::vector<Merge> canonical_merges(const Model& model, std::vector<Id>& odd, Watch& watch) {
    std::vector<Merge> merges;
    Merger merger(model.table());
    std::vector<Symbol> symbols;
    for (Id id = 0; id < model.size(); ++id) {
        watch.tick(id, model.size());
        if (!model.normal(id) || model.token(id).size() < 2) continue;
        model.start(model.token(id), symbols);
        merger.merge(symbols, id);
        if (symbols.size() == 2 && model.normal(symbols[0].id) && model.normal(symbols[1].id))
            merges.push_back({symbols[0].id, symbols[1].id, id});
        else
            odd.push_back(id);
    }
    return merges;
}

std::vector<Merge> all_pairs(const Model& model) {
    std::vector<Merge> merges;
    model.for_each_pair([&](Id left, Id right, Id merged) {
        if (model.normal(left) && model.normal(right)) merges.push_back({left, right, merged});
    });
    std::sort(merges.begin(), merges.end(), [](const Merge& x, const Merge& y) {
        return std::tie(x.merged, x.left, x.right) < std::tie(y.merged, y.left, y.right);
    });
    return merges;
}

std::vector<LastMerge> last_merges(const Model& model, Watch& watch) {
    std::vector<LastMerge> merges;
    Merger merger(model.table());
    std::vector<Symbol> symbols;
    for (Id id = 0; id < model.size(); ++id) {
        watch.tick(id, model.size());
        if (!model.normal(id)) continue;
        model.start(model.token(id), symbols);
        if (symbols.size() < 2) continue;
        merger.merge(symbols, kNever, 2);
        if (symbols.size() != 2) continue;
        const Priority priority = model.table().priority_of(symbols[0].id, symbols[1].id);
        if (priority != kNever && model.table().merged(priority) == id)
            merges.push_back({symbols[0].id, symbols[1].id, id, priority});
    }
    return merges;
}

}  // namespace bpe
