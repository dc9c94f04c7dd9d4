#include "raw_text.h"

#include "kernels.h"

namespace bpe {

Bytes RawText::utf8(ByteBuffer& room) const {
    if (is_utf8()) return {static_cast<const uint8_t*>(data_), size_};
    uint8_t* const out = room.reserve(most_bytes() + kBehind);
    const size_t size = written(scan::kernels(), out);
    room.resize(room.size() + size);
    return {out, size};
}

size_t RawText::written(const scan::Kernels& kernels, uint8_t* out) const {
    switch (width_) {
        case 1: return kernels.utf8_of_1(static_cast<const uint8_t*>(data_), size_, out);
        case 2: return kernels.utf8_of_2(static_cast<const uint16_t*>(data_), size_, out);
        default: return kernels.utf8_of_4(static_cast<const uint32_t*>(data_), size_, out);
    }
}

}  // namespace bpe
