#include "decoder.h"

#include <algorithm>

namespace bpe {

Decoder::Decoder(const Encoder& encoder) : model_(encoder.model()), entries_(model_.size()) {
    for (Id id = 0; id < model_.size(); ++id) {
        const Bytes token = model_.token(id);
        Entry& entry = entries_[id];
        entry.length = static_cast<uint8_t>(token.size() > kShort ? size_t{kLong} : token.size());
        if (!model_.owned(id)) entry.length = kNobodys;
        if (entry.length <= kShort) std::copy(token.begin(), token.end(), entry.bytes);
    }
}

template <class Number>
void Decoder::decode(std::span<const Number> ids, ByteBuffer& out) const {
    constexpr size_t kBlock = 1024;
    const Entry* const entries = entries_.data();
    const uint64_t size = entries_.size();
    out.allow(out.size() + ids.size() * kUsual);
    for (size_t i = 0; i < ids.size();) {
        const size_t end = std::min(ids.size(), i + kBlock);
        uint8_t* to = out.reserve((end - i) * sizeof(Entry));
        for (; i < end; ++i) {
            const Number number = ids[i];
            const auto id = static_cast<uint64_t>(number);  // a negative one becomes a huge one
            if (id >= size) throw BadId(std::to_string(number), i);
            const Entry& entry = entries[id];
            std::memcpy(to, &entry, sizeof(Entry));
            if (entry.length <= kShort) {
                to += entry.length;
                continue;
            }
            if (entry.length == kNobodys) throw BadId(std::to_string(number), i);
            const Bytes token = model_.token(static_cast<Id>(id));
            out.resize(static_cast<size_t>(to - out.data()));
            to = std::copy(token.begin(), token.end(),
                           out.reserve(token.size() + (end - i) * sizeof(Entry)));
        }
        out.resize(static_cast<size_t>(to - out.data()));
    }
}

template <class Number>
void Decoder::decode(std::span<const Number> ids, std::span<const int64_t> offsets,
                     Texts& out) const {
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
        const auto begin = static_cast<size_t>(offsets[i]);
        decode(ids.subspan(begin, static_cast<size_t>(offsets[i + 1]) - begin), out.bytes);
        out.ends.push_back(out.bytes.size());
    }
}

#define BPE_DECODE(Number)                                                                       \
    template void Decoder::decode(std::span<const Number>, ByteBuffer&) const;                    \
    template void Decoder::decode(std::span<const Number>, std::span<const int64_t>, Texts&) const;
BPE_DECODE(uint8_t)
BPE_DECODE(uint16_t)
BPE_DECODE(uint32_t)
BPE_DECODE(uint64_t)
BPE_DECODE(int8_t)
BPE_DECODE(int16_t)
BPE_DECODE(int32_t)
BPE_DECODE(int64_t)
#undef BPE_DECODE

}  // namespace bpe
