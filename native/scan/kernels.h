// The steps of scanning that are vector code, in versions for several instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "window.h"

namespace bpe::scan {

struct Kernels {
    std::string_view name;
    bool (*supported)();
    // Fills the masks of ASCII classes, and `wide`, for so many blocks of 64 bytes, from number
    // `first` on: those that all patterns look at, and `uppers`, `newlines`, `controls`, `slashes`.
    void (*classify)(const uint8_t* bytes, size_t first, size_t blocks, Window& window);
    void (*classify_more)(const uint8_t* bytes, size_t first, size_t blocks, Window& window);
    // Enters the classes of the characters beyond ASCII, and `tails`; the second also their scripts.
    void (*classify_wide)(Window& window);
    void (*classify_wide_and_scripts)(Window& window);
    // Writes `base` plus the number of each set bit, rising, and returns how many there are. Up to
    // 7 places behind the last may be overwritten.
    size_t (*positions)(const uint64_t* blocks, size_t count, size_t base, size_t* out);
    // Writes the UTF-8 of code points, see `RawText`, and returns its size. Up to 64 bytes behind it
    // may be overwritten.
    size_t (*utf8_of_1)(const uint8_t* points, size_t count, uint8_t* out);
    size_t (*utf8_of_2)(const uint16_t* points, size_t count, uint8_t* out);
    size_t (*utf8_of_4)(const uint32_t* points, size_t count, uint8_t* out);
};

// All that were built for this kind of processor, the fastest first. The last one is always
// supported.
std::span<const Kernels> all_kernels();

// The ones in use: the fastest that the processor supports, unless `use_kernels` chose others.
const Kernels& kernels();

// For tests: all versions give the same. Throws std::invalid_argument if there is none of this name
// or the processor does not support it.
void use_kernels(std::string_view name);

}  // namespace bpe::scan
