// Which pair of tokens makes each token: from tiktoken's ranks to merges, and what merges come to.
#pragma once

#include <vector>

#include "model.h"
#include "../base/parallel.h"

namespace bpe {

// The merge of each normal token of at least two bytes, in the order of ids: what BPE leaves of the
// token's bytes under the ranks below its own, if that is two tokens. Tokens that are left in another
// number of parts, or have a byte without a token, go to `odd`. `model` must be built by ranks.
std::vector<Merge> canonical_merges(const Model& model, std::vector<Id>& odd, Watch& watch);

// Every two normal tokens whose concatenation is one, by (that token, left, right).
std::vector<Merge> all_pairs(const Model& model);

struct LastMerge {
    Id left, right, merged;
    Priority priority;
};

// The last merge of each normal token that its own bytes become under the merges of any model without
// prefix and suffix, in the order of ids. No other pair ever merges: while the ends of two neighbours
// stay where they are, everything between happens as it would to these bytes alone.
std::vector<LastMerge> last_merges(const Model& model, Watch& watch);

}  // namespace bpe
