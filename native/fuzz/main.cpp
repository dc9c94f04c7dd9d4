// The entry of every target: `run` is the target's own.
#include "fuzz.h"

namespace bpe::fuzz {
void run(Input in);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    bpe::fuzz::run(bpe::fuzz::Input(data, size));
    return 0;
}
