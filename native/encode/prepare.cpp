#include "prepare.h"

#include <functional>

namespace bpe {

void Preparation::prepare(const Encoder& encoder, Bytes text, Enabled enabled, Beat& beat,
                          Prepared& out) const {
    std::vector<uint8_t> rewritten, spare;
    const auto on_token = [&](Match match) { out.items.push_back(match.index); };
    encoder.pass(false).cut(
        text, enabled, beat,
        [&](size_t begin, size_t end) {
            const Bytes part =
                normalizer_.apply(text.subspan(begin, end - begin), rewritten, spare);
            encoder.pass(true).cut(
                part, enabled, beat,
                [&](size_t from, size_t to) { segment(part.subspan(from, to - from), text, out); },
                on_token);
        },
        on_token);
}

void Preparation::segment(Bytes text, Bytes original, Prepared& out) const {
    if (text.empty()) return;
    if (!prefix_space_ || text[0] == ' ') return cut(text, 0, original, out);
    std::vector<uint8_t> prefixed{' '};
    prefixed.insert(prefixed.end(), text.begin(), text.end());
    cut(prefixed, 0, original, out);
}

void Preparation::cut(Bytes text, size_t step, Bytes original, Prepared& out) const {
    if (step == steps_.size()) {
        const std::less<const uint8_t*> before;
        const bool stays = !before(text.data(), original.data()) &&
                           before(text.data(), original.data() + original.size());
        out.segments.push_back({stays ? text.data() : nullptr, out.bytes.size(), text.size()});
        if (!stays) out.bytes.insert(out.bytes.end(), text.begin(), text.end());
        out.items.push_back(kSegment);
        return;
    }
    scan::Cutter cutter(steps_[step], text);
    while (cutter.next())
        cut(text.subspan(cutter.begin(), cutter.end() - cutter.begin()), step + 1, original, out);
}

}  // namespace bpe
