// The regexes that named scanners stand for, compiled by scripts/make_fuzz_patterns.py.
#pragma once

#include <string_view>

#include "../encode/prepare.h"

namespace bpe::fuzz {

// The split steps of a scanner; none for the scanner that makes no split.
const Preparation* regexes_of(std::string_view scanner);

}  // namespace bpe::fuzz
