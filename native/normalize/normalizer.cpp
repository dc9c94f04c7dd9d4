#include "normalizer.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace bpe::normalize {
namespace {

Bytes stripped(Bytes text, bool left, bool right) {
    size_t begin = 0, end = text.size();
    while (left && begin < end) {
        const Character c = character_at(text, begin);
        if (!c.properties().space()) break;
        begin += c.length;
    }
    while (right && begin < end) {
        const size_t last = previous_start(text, begin, end);
        if (!character_at(text, last).properties().space()) break;
        end = last;
    }
    return text.subspan(begin, end - begin);
}

void replace_text(Bytes text, Bytes pattern, Bytes content, std::vector<uint8_t>& out) {
    if (pattern.empty()) return append(text, out);
    size_t done = 0;
    for (size_t at = 0; at + pattern.size() <= text.size();) {
        const void* found =
            memmem(text.data() + at, text.size() - at, pattern.data(), pattern.size());
        if (!found) break;
        at = static_cast<const uint8_t*>(found) - text.data();
        append(text.subspan(done, at - done), out);
        append(content, out);
        done = at += pattern.size();
    }
    append(text.subspan(done), out);
}

// One byte by a few: no search, and no call for each.
void replace_byte(Bytes text, uint8_t byte, Bytes content, std::vector<uint8_t>& out) {
    size_t count = 0;
    for (const uint8_t b : text) count += b == byte;
    const size_t begin = out.size();
    out.resize(begin + text.size() - count + count * content.size());
    uint8_t* to = out.data() + begin;
    for (const uint8_t b : text) {
        if (b != byte) {
            *to++ = b;
            continue;
        }
        for (const uint8_t c : content) *to++ = c;
    }
}

void replace_matches(Bytes text, const scan::Regex& regex, Bytes content,
                     std::vector<uint8_t>& out) {
    scan::Regex::Memory memory(text.size());
    size_t done = 0;
    while (done < text.size()) {
        const auto match = regex.find(text, done, false, memory);
        append(text.subspan(done, match.begin - done), out);
        if (match.begin < match.end) append(content, out);
        done = match.end;
    }
}

std::optional<Form> form_of(const Step& step) {
    switch (step.kind) {
        case Step::Kind::nfc: return Form::nfc;
        case Step::Kind::nfd: return Form::nfd;
        case Step::Kind::nfkc: return Form::nfkc;
        case Step::Kind::nfkd: return Form::nfkd;
        default: return std::nullopt;
    }
}

void apply_step(const Step& step, Bytes text, std::vector<uint8_t>& out) {
    using Kind = Step::Kind;
    switch (step.kind) {
        case Kind::nfc:
        case Kind::nfd:
        case Kind::nfkc:
        case Kind::nfkd: return to_form(*form_of(step), text, out);
        case Kind::lowercase: return to_lower(text, out);
        case Kind::strip: return append(stripped(text, step.left, step.right), out);
        case Kind::strip_accents: return strip_accents(text, out);
        case Kind::prepend:
            if (!text.empty()) append(as_bytes(step.content), out);
            return append(text, out);
        case Kind::replace:
            if (step.regex) return replace_matches(text, *step.regex, as_bytes(step.content), out);
            if (step.pattern.size() == 1)
                return replace_byte(text, step.pattern[0], as_bytes(step.content), out);
            return replace_text(text, as_bytes(step.pattern), as_bytes(step.content), out);
    }
}

}  // namespace

bool Normalizer::is_form() const {
    return std::all_of(steps_.begin(), steps_.end(), [](const Step& step) {
        return form_of(step).has_value();
    });
}

Bytes Normalizer::apply(Bytes text, std::vector<uint8_t>& out, std::vector<uint8_t>& spare) const {
    for (const Step& step : steps_) {
        const auto form = form_of(step);
        if (form && is_in_form(*form, text)) continue;
        spare.clear();
        apply_step(step, text, spare);
        out.swap(spare);
        text = out;
    }
    return text;
}

}  // namespace bpe::normalize
