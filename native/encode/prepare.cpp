#include "prepare.h"

namespace bpe {

void Preparation::prepare(const Encoder& encoder, Bytes text, Enabled enabled, Beat& beat,
                          Prepared& out) const {
    std::vector<uint8_t> rewritten, spare;
    const auto on_token = [&](Match match) { out.items.push_back(match.index); };
    encoder.pass(false).cut(
        text, enabled, beat,
        [&](size_t begin, size_t end) {
            normalizer_.apply(text.subspan(begin, end - begin), rewritten, spare);
            const Bytes part(rewritten);
            encoder.pass(true).cut(
                part, enabled, beat,
                [&](size_t from, size_t to) { segment(part.subspan(from, to - from), out); },
                on_token);
        },
        on_token);
}

void Preparation::segment(Bytes text, Prepared& out) const {
    if (text.empty()) return;
    if (!prefix_space_ || text[0] == ' ') return cut(text, 0, out);
    std::vector<uint8_t> prefixed{' '};
    prefixed.insert(prefixed.end(), text.begin(), text.end());
    cut(prefixed, 0, out);
}

void Preparation::cut(Bytes text, size_t step, Prepared& out) const {
    if (step == steps_.size()) {
        out.bytes.insert(out.bytes.end(), text.begin(), text.end());
        out.ends.push_back(out.bytes.size());
        out.items.push_back(kSegment);
        return;
    }
    scan::Cutter cutter(steps_[step], text);
    while (cutter.next()) cut(text.subspan(cutter.begin(), cutter.end() - cutter.begin()), step + 1, out);
}

}  // namespace bpe
