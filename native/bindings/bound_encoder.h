// The class that Python knows as `Encoder`.
#pragma once

#include "../encode/encoder.h"
#include "common.h"

namespace bpe::bindings {

// An encoder with the Python ints of its ids.
struct BoundEncoder : Encoder {
    using Encoder::Encoder;
    mutable Ints ints;
};

}  // namespace bpe::bindings
