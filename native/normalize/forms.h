// Normalization forms, accents and lower case, as the normalizers of tokenizers have them.
#pragma once

#include <vector>

#include "../base/unicode.h"

namespace bpe::normalize {

enum class Form : uint8_t { nfc, nfd, nfkc, nfkd };

// Whether the text is in this form already: fast, and false for some texts that are.
bool is_in_form(Form form, Bytes text);

// Each appends the rewritten text, which must be UTF-8, to `out`.
void to_form(Form form, Bytes text, std::vector<uint8_t>& out);
// Every character alone: no final sigma.
void to_lower(Bytes text, std::vector<uint8_t>& out);
// Without the characters that are marks in Unicode 9.0.
void strip_accents(Bytes text, std::vector<uint8_t>& out);

inline void append(Bytes bytes, std::vector<uint8_t>& out) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace bpe::normalize
