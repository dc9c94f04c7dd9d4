// The class that Python knows as `Encoder`.
#pragma once

#include "../encode/decoder.h"
#include "../encode/encoder.h"
#include "common.h"

namespace bpe::bindings {

// An encoder with the Python ints of its ids, and its decoder. Both need the GIL.
struct BoundEncoder : Encoder {
    using Encoder::Encoder;

    // Made when it is first asked for: most encoders decode nothing.
    const Decoder& decoder() const {
        if (!decoder_) decoder_ = std::make_unique<const Decoder>(*this);
        return *decoder_;
    }

    mutable Ints ints;

private:
    mutable std::unique_ptr<const Decoder> decoder_;
};

// Adds the methods that decode.
void bind_decoding(nb::class_<BoundEncoder>& encoder);

}  // namespace bpe::bindings
