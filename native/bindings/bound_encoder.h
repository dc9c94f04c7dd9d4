// The class that Python knows as `Encoder`.
#pragma once

#include "../encode/decoder.h"
#include "../encode/encoder.h"
#include "common.h"

namespace bpe::bindings {

// An encoder with the Python ints of its ids, and its decoder. All of this needs the GIL.
struct BoundEncoder : Encoder {
    using Encoder::Encoder;

    // Made when it is first asked for: most encoders decode nothing.
    const Decoder& decoder() const {
        if (!decoder_) decoder_ = std::make_unique<const Decoder>(*this);
        return *decoder_;
    }

    // Memory for a text, which is used again if it is given back and not large: fresh memory takes
    // longer to get than to fill.
    ByteBuffer take_buffer() const {
        ByteBuffer buffer(std::move(buffer_));
        buffer.resize(0);
        return buffer;
    }
    void give_back(ByteBuffer&& buffer) const {
        if (!buffer.is_mapped()) buffer_ = std::move(buffer);
    }

    mutable Ints ints;

private:
    mutable std::unique_ptr<const Decoder> decoder_;
    mutable ByteBuffer buffer_;
};

// Adds the methods that decode.
void bind_decoding(nb::class_<BoundEncoder>& encoder);

}  // namespace bpe::bindings
