#include "forms.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "../base/utf8.h"

namespace bpe::normalize {
namespace {

// What is known of a character. Decompositions are full and in no canonical order yet.
struct Record {
    uint8_t combining_class;
    uint8_t flags;
    uint16_t canonical;
    uint8_t canonical_length;
    uint16_t compatible;
    uint8_t compatible_length;

    bool mark() const { return flags & 1; }
    // The second character of a primary composite.
    bool second() const { return flags & 2; }
    // NFC leaves it as it is.
    bool composed() const { return flags & 4; }
};
struct Composition {
    uint32_t first, second, composed;
};
// Every `step`-th character from `first` to `last` has its lower case at a distance.
struct Cases {
    uint32_t first, last, step;
    int32_t distance;
};
#include "forms.inc"

const Record& record_of(uint32_t c) { return kRecords[kRecordOf[kBlockOf[c >> 7]][c & 127]]; }

// Hangul syllables are composed by arithmetic: leading, vowel and maybe trailing letter.
constexpr uint32_t kSyllables = 0xAC00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11A7;
constexpr uint32_t kLeadingCount = 19, kVowelCount = 21, kTrailingCount = 28;
constexpr bool is_syllable(uint32_t c) {
    return c - kSyllables < kLeadingCount * kVowelCount * kTrailingCount;
}

constexpr bool composes(Form form) { return form == Form::nfc || form == Form::nfkc; }
constexpr bool compatible(Form form) { return form == Form::nfkc || form == Form::nfkd; }

// Whether a character stays as it is, and what precedes it does not care for it.
bool stable(Form form, uint32_t c) {
    if (is_syllable(c)) return composes(form);
    const Record& r = record_of(c);
    if (r.combining_class) return false;
    if (composes(form)) {
        if (c - kVowels < kVowelCount || c - kTrailing < kTrailingCount || r.second()) return false;
        if (compatible(form) && r.compatible_length)
            return r.composed() && r.compatible == r.canonical && r.canonical_length;
        return !r.canonical_length || r.composed();
    }
    return compatible(form) ? !r.compatible_length : !r.canonical_length;
}

struct Symbol {
    uint32_t code_point;
    uint8_t combining_class;
};

void decompose(Form form, uint32_t c, std::vector<Symbol>& out) {
    if (is_syllable(c)) {
        const uint32_t number = c - kSyllables, trailing = number % kTrailingCount;
        out.push_back({kLeading + number / kTrailingCount / kVowelCount, 0});
        out.push_back({kVowels + number / kTrailingCount % kVowelCount, 0});
        if (trailing) out.push_back({kTrailing + trailing, 0});
        return;
    }
    const Record& r = record_of(c);
    const bool all = compatible(form);
    const size_t length = all ? r.compatible_length : r.canonical_length;
    if (length == 0) out.push_back({c, r.combining_class});
    for (size_t i = 0; i < length; ++i) {
        const uint32_t part = kDecompositions[(all ? r.compatible : r.canonical) + i];
        out.push_back({part, record_of(part).combining_class});
    }
}

// The canonical order: neighbours with combining classes are sorted by them.
void sort_marks(std::vector<Symbol>& symbols) {
    const auto starts = [](const Symbol& s) { return s.combining_class == 0; };
    for (auto at = symbols.begin(); at != symbols.end();) {
        at = std::find_if_not(at, symbols.end(), starts);
        const auto end = std::find_if(at, symbols.end(), starts);
        std::stable_sort(at, end, [](const Symbol& a, const Symbol& b) {
            return a.combining_class < b.combining_class;
        });
        at = end;
    }
}

std::optional<uint32_t> composed(uint32_t first, uint32_t second) {
    if (first - kLeading < kLeadingCount && second - kVowels < kVowelCount)
        return kSyllables +
               ((first - kLeading) * kVowelCount + (second - kVowels)) * kTrailingCount;
    if (is_syllable(first) && (first - kSyllables) % kTrailingCount == 0 &&
        second - kTrailing - 1 < kTrailingCount - 1)
        return first + (second - kTrailing);
    const auto found = std::lower_bound(
        std::begin(kCompositions), std::end(kCompositions), std::pair(first, second),
        [](const Composition& c, const auto& pair) { return std::pair(c.first, c.second) < pair; });
    if (found == std::end(kCompositions) || found->first != first || found->second != second)
        return std::nullopt;
    return found->composed;
}

void compose(std::vector<Symbol>& symbols) {
    size_t size = 0, starter = SIZE_MAX;
    int before = -1;  // the combining class between the starter and the next symbol; -1: nothing
    for (const Symbol symbol : symbols) {
        if (starter != SIZE_MAX && before < symbol.combining_class) {
            if (const auto one = composed(symbols[starter].code_point, symbol.code_point)) {
                symbols[starter].code_point = *one;
                continue;
            }
        }
        if (symbol.combining_class == 0) {
            starter = size;
            before = -1;
        } else {
            before = symbol.combining_class;
        }
        symbols[size++] = symbol;
    }
    symbols.resize(size);
}

// The first character from `at` on that may change or combine with the one in front of it, which is at
// `previous` then.
size_t first_unstable(Form form, Bytes text, size_t at, size_t& previous) {
    while (at < text.size()) {
        if (text[at] < 0x80) {
            at += ascii_length(text.subspan(at));
            previous = at - 1;
            continue;
        }
        const Character c = character_at(text, at);
        if (!stable(form, c.code_point)) break;
        previous = at;
        at += c.length;
    }
    return at;
}

}  // namespace

bool is_in_form(Form form, Bytes text) {
    size_t previous = 0;
    return first_unstable(form, text, 0, previous) == text.size();
}

void to_form(Form form, Bytes text, std::vector<uint8_t>& out) {
    std::vector<Symbol> symbols;
    size_t done = 0, previous = 0;  // the text that has been written, the last character
    for (size_t at = 0; (at = first_unstable(form, text, at, previous)) < text.size();) {
        Character c;
        // The last stable character may change together with those up to the next one.
        append(text.subspan(done, previous - done), out);
        symbols.clear();
        for (at = previous; at < text.size(); at += c.length) {
            c = character_at(text, at);
            if (at > previous && stable(form, c.code_point)) break;
            decompose(form, c.code_point, symbols);
        }
        sort_marks(symbols);
        if (composes(form)) compose(symbols);
        for (const Symbol& symbol : symbols) append_utf8(symbol.code_point, out);
        done = previous = at;
    }
    append(text.subspan(done), out);
}

void to_lower(Bytes text, std::vector<uint8_t>& out) {
    out.reserve(out.size() + text.size());
    for (size_t at = 0; at < text.size();) {
        const uint8_t byte = text[at];
        if (byte < 0x80) {
            out.push_back(static_cast<uint8_t>(byte - 'A') < 26 ? byte | 0x20 : byte);
            ++at;
            continue;
        }
        const Character c = character_at(text, at);
        at += c.length;
        const auto found = std::lower_bound(
            std::begin(kLower), std::end(kLower), c.code_point,
            [](const Cases& cases, uint32_t code_point) { return cases.last < code_point; });
        const bool upper = found != std::end(kLower) && found->first <= c.code_point &&
                           (c.code_point - found->first) % found->step == 0;
        append_utf8(upper ? c.code_point + found->distance : c.code_point, out);
        if (c.code_point == 0x130) append_utf8(0x307, out);  // i with its dot kept
    }
}

void strip_accents(Bytes text, std::vector<uint8_t>& out) {
    size_t done = 0;
    for (size_t at = 0; at < text.size();) {
        if (text[at] < 0x80) {
            at += ascii_length(text.subspan(at));
            continue;
        }
        const Character c = character_at(text, at);
        if (record_of(c.code_point).mark()) {
            append(text.subspan(done, at - done), out);
            done = at + c.length;
        }
        at += c.length;
    }
    append(text.subspan(done), out);
}

}  // namespace bpe::normalize
