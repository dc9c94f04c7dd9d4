// How many ids texts have.
#pragma once

#include "encoder.h"

namespace bpe {

// The number of ids of each text. No ids are kept: each thread has room for those of one text.
std::vector<int64_t> count_batch(const Encoder& encoder, std::span<const RawText> texts,
                                 Enabled enabled, unsigned threads, Watch& watch);

}  // namespace bpe
