// Where text without a split may be cut all the same.
#pragma once

#include <optional>

#include "model.h"
#include "../scan/scanner.h"

namespace bpe {

// Merges make tokens: none crosses a place whose two bytes stand side by side in no token. A scanner
// that cuts there, at ends of characters, makes words of a text that is one piece, so that caches
// know them; a SentencePiece vocabulary is cut in front of nearly every U+2581 and line end. None if
// neighbours matter in some other way: a token for a whole piece, affixes, characters that are
// dropped from between others, or unknown ones that become one token.
std::optional<Scan> free_cuts(const Model& model);

}  // namespace bpe
