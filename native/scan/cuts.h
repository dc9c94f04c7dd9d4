// Where a text may be cut in two without a change to its pieces.
#pragma once

#include <algorithm>

#include "raw_text.h"
#include "scanner.h"

namespace bpe {

// The last such offset (as `RawText` counts), whatever follows the text; 0 if there is none.
// `touched(offset)` says whether something that is matched before the split may end or begin there or
// stand across.
template <class Touched>
size_t last_cut(const Scanner& scanner, RawText text, bool by_line, Touched&& touched) {
    for (size_t at = text.size(); at > 0; --at) {
        const bool after_line = by_line && text[at - 1] == '\n';
        if (!after_line) {
            if (!scanner.cuts_at_spaces || at == text.size()) continue;
            if (text[at] != ' ' && (text[at] < '\t' || text[at] > '\r')) continue;
            if (!text.properties_before(at).in(kLetters | kNumbers)) continue;
        }
        if (!touched(at)) return at;
    }
    return 0;
}

// Whether a string may begin at one of the offsets from `first` to before `last`; the text goes on, so
// that a string that reaches beyond its end may.
inline bool may_begin(Bytes text, Bytes string, size_t first, size_t last) {
    for (size_t begin = first; begin < last; ++begin) {
        const size_t known = std::min(string.size(), text.size() - begin);
        if (std::memcmp(text.data() + begin, string.data(), known) == 0) return true;
    }
    return false;
}

}  // namespace bpe
