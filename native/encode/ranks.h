// From tiktoken's ranks to merges: which pair of tokens makes each token.
#pragma once

#include <vector>

#include "model.h"
#include "../base/parallel.h"

namespace bpe {

struct Merge {
    Id left, right, merged;
};

// The merge of each normal token of at least two bytes, in the order of ids: what BPE leaves of the
// token's bytes under the ranks below its own, if that is two tokens. Tokens that are left in another
// number of parts, or have a byte without a token, go to `odd`. `model` must be built by ranks.
std::vector<Merge> canonical_merges(const Model& model, std::vector<Id>& odd, Watch& watch);

// Every two normal tokens whose concatenation is one, by (that token, left, right).
std::vector<Merge> all_pairs(const Model& model);

}  // namespace bpe
