#include "kernels.h"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace bpe::scan {
namespace {

// The lowest bit again and again, eight times without a look at what is left.
inline size_t* write_lowest_bits(uint64_t bits, size_t base, size_t* out) {
    size_t* const end = out + std::popcount(bits);
    while (out < end) {
        for (int i = 0; i < 8; ++i, bits &= bits - 1) out[i] = base + std::countr_zero(bits);
        out += 8;
    }
    return end;
}

namespace portable {

// Eight bytes at a time in a 64-bit word; every step keeps to the low seven bits of each byte, so
// that none carries into its neighbour.
class Vector {
public:
    explicit Vector(const uint8_t* bytes) { std::memcpy(words_, bytes, 64); }
    uint64_t equals(uint8_t byte) const { return in_range(byte, byte); }
    uint64_t in_range(uint8_t low, uint8_t high) const {
        uint64_t mask = 0;
        for (int i = 0; i < 8; ++i) {
            const uint64_t seven = words_[i] & kLow;
            uint64_t found;
            if (low >= 0x80) {
                found = words_[i];
            } else {
                // Bit 7 of a byte: at least `low`, and not more than `high`, and ASCII.
                found = (seven + kOnes * (0x80 - low)) & ~(seven + kOnes * (0x7F - high)) & ~words_[i];
            }
            // Gathers the bits 7 of the eight bytes.
            mask |= ((found & ~kLow) >> 7) * 0x0102040810204080 >> 56 << (8 * i);
        }
        return mask;
    }

private:
    static constexpr uint64_t kOnes = 0x0101010101010101, kLow = 0x7F * kOnes;
    uint64_t words_[8];
};
inline size_t* write_positions(uint64_t bits, size_t base, size_t* out) {
    return write_lowest_bits(bits, base, out);
}
bool supported() { return true; }
#include "kernels.inc"

}  // namespace portable

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif
namespace avx2 {

class Vector {
public:
    explicit Vector(const uint8_t* bytes)
        : low_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes))),
          high_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32))) {}
    uint64_t equals(uint8_t byte) const {
        const __m256i b = _mm256_set1_epi8(static_cast<char>(byte));
        return join(_mm256_cmpeq_epi8(low_, b), _mm256_cmpeq_epi8(high_, b));
    }
    uint64_t in_range(uint8_t low, uint8_t high) const {
        if (low == 0x80) return join(low_, high_);
        return join(in_range(low_, low, high), in_range(high_, low, high));
    }

private:
    // There is no unsigned comparison: a byte is at most another if it is the smaller of the two.
    static __m256i in_range(__m256i v, uint8_t low, uint8_t high) {
        const __m256i moved = _mm256_sub_epi8(v, _mm256_set1_epi8(static_cast<char>(low)));
        const __m256i width = _mm256_set1_epi8(static_cast<char>(high - low));
        return _mm256_cmpeq_epi8(_mm256_min_epu8(moved, width), moved);
    }
    static uint64_t join(__m256i low, __m256i high) {
        return static_cast<uint32_t>(_mm256_movemask_epi8(low)) |
               uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(high))} << 32;
    }
    __m256i low_, high_;
};
inline size_t* write_positions(uint64_t bits, size_t base, size_t* out) {
    return write_lowest_bits(bits, base, out);
}
bool supported() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); }
#include "kernels.inc"

}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,lzcnt,popcnt")
#endif
namespace avx512 {

class Vector {
public:
    explicit Vector(const uint8_t* bytes) : bytes_(_mm512_loadu_si512(bytes)) {}
    uint64_t equals(uint8_t byte) const {
        return _mm512_cmpeq_epi8_mask(bytes_, _mm512_set1_epi8(static_cast<char>(byte)));
    }
    uint64_t in_range(uint8_t low, uint8_t high) const {
        if (low == 0x80) return _mm512_movepi8_mask(bytes_);
        const __m512i moved = _mm512_sub_epi8(bytes_, _mm512_set1_epi8(static_cast<char>(low)));
        return _mm512_cmple_epu8_mask(moved, _mm512_set1_epi8(static_cast<char>(high - low)));
    }

private:
    __m512i bytes_;
};

alignas(64) constexpr auto kNumbers = [] {
    std::array<uint8_t, 64> numbers{};
    for (uint8_t i = 0; i < 64; ++i) numbers[i] = i;
    return numbers;
}();

inline size_t* write_positions(uint64_t bits, size_t base, size_t* out) {
    alignas(64) uint8_t packed[64];
    _mm512_store_si512(packed, _mm512_maskz_compress_epi8(bits, _mm512_load_si512(kNumbers.data())));
    size_t* const end = out + std::popcount(bits);
    const __m512i start = _mm512_set1_epi64(static_cast<long long>(base));
    for (const uint8_t* from = packed; out < end; from += 8, out += 8) {
        const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
        _mm512_storeu_si512(out, _mm512_add_epi64(start, _mm512_maskz_cvtepu8_epi64(0xFF, eight)));
    }
    return end;
}
bool supported() {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
}
#include "kernels.inc"

}  // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#elif defined(__aarch64__)

namespace neon {

class Vector {
public:
    explicit Vector(const uint8_t* bytes) {
        for (int i = 0; i < 4; ++i) parts_[i] = vld1q_u8(bytes + 16 * i);
    }
    uint64_t equals(uint8_t byte) const {
        const uint8x16_t b = vdupq_n_u8(byte);
        return join([&](uint8x16_t v) { return vceqq_u8(v, b); });
    }
    uint64_t in_range(uint8_t low, uint8_t high) const {
        const uint8x16_t first = vdupq_n_u8(low), width = vdupq_n_u8(high - low);
        return join([&](uint8x16_t v) { return vcleq_u8(vsubq_u8(v, first), width); });
    }

private:
    // One bit of each byte, weighted by its place, added up pairwise.
    template <class Compare>
    uint64_t join(Compare&& compare) const {
        const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        uint8x16_t bits[4];
        for (int i = 0; i < 4; ++i) bits[i] = vandq_u8(compare(parts_[i]), weights);
        const uint8x16_t halves = vpaddq_u8(vpaddq_u8(bits[0], bits[1]), vpaddq_u8(bits[2], bits[3]));
        return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)), 0);
    }
    uint8x16_t parts_[4];
};
inline size_t* write_positions(uint64_t bits, size_t base, size_t* out) {
    return write_lowest_bits(bits, base, out);
}
bool supported() { return true; }
#include "kernels.inc"

}  // namespace neon

#endif

constexpr Kernels kAll[] = {
#if defined(__x86_64__)
    {"avx512", avx512::supported, avx512::classify, avx512::classify_more, avx512::positions},
    {"avx2", avx2::supported, avx2::classify, avx2::classify_more, avx2::positions},
#elif defined(__aarch64__)
    {"neon", neon::supported, neon::classify, neon::classify_more, neon::positions},
#endif
    {"portable", portable::supported, portable::classify, portable::classify_more, portable::positions},
};

// The fastest, or those that BPE_COMPAT_ISA names, if the processor supports them.
const Kernels* chosen() {
    const char* wanted = std::getenv("BPE_COMPAT_ISA");
    for (const Kernels& k : kAll)
        if (k.supported() && (!wanted || k.name == wanted)) return &k;
    return std::end(kAll) - 1;
}

std::atomic<const Kernels*> used{chosen()};

}  // namespace

std::span<const Kernels> all_kernels() { return kAll; }

const Kernels& kernels() { return *used.load(std::memory_order_relaxed); }

void use_kernels(std::string_view name) {
    for (const Kernels& k : kAll)
        if (k.name == name && k.supported()) {
            used = &k;
            return;
        }
    throw std::invalid_argument("no version for this processor named '" + std::string(name) + "'");
}

}  // namespace bpe::scan
