// The core without Python, for the sanitizers: `make sanitize`. What is right is told by the Python
// tests; these look for accesses out of bounds, undefined behaviour and broken invariants.
#include "check.h"

int main() {
    bpe::tests::scanners();
    bpe::tests::added_tokens();
    bpe::tests::merging();
    bpe::tests::training();
    bpe::tests::outputs();
    std::puts("native tests passed");
}
