#include "kernels.h"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "../base/utf8.h"
#include "wide_bytes.h"

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

// Bytes of a text that are asked for ahead, as the processor foresees none beyond a page: 10 instead of
// 13 ms for 28 million characters.
constexpr size_t kAhead = 2048;

// One character, or U+FFFD for half of a surrogate pair.
template <class Point>
inline uint8_t* write_next(const Point*& points, const Point* end, uint8_t* out) {
    uint32_t c = *points++;
    if ((c & ~0x7FFu) == 0xD800) {
        const bool is_pair = c < 0xDC00 && points < end && (*points & ~0x3FFu) == 0xDC00;
        c = is_pair ? 0x10000 + ((c - 0xD800) << 10) + (*points++ - 0xDC00) : 0xFFFD;
    }
    return write_utf8(c, out);
}

// So many characters if all are ASCII. A compiler makes vector code of it, of the instruction set that
// it is inlined into; a version with something better hides these two.
template <class Point, int count = 32>
inline bool write_ascii(const Point* points, uint8_t* out) {
    Point all = 0;
    for (int i = 0; i < count; ++i) all |= points[i];
    if (all >= 0x80) return false;
    for (int i = 0; i < count; ++i) out[i] = static_cast<uint8_t>(points[i]);
    return true;
}
// 16 characters, or null: then they have to be written one by one.
template <class Point>
inline uint8_t* write_16(const Point* points, uint8_t* out) {
    return write_ascii<Point, 16>(points, out) ? out + 16 : nullptr;
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
                found = (seven + kOnes * (0x100 - low)) & words_[i];
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

inline __m512i load_16(const uint8_t* points) {
    return _mm512_maskz_cvtepu8_epi32(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(points)));
}
inline __m512i load_16(const uint16_t* points) {
    return _mm512_maskz_cvtepu16_epi32(0xFFFF,
                                       _mm256_loadu_si256(reinterpret_cast<const __m256i*>(points)));
}
inline __m512i load_16(const uint32_t* points) { return _mm512_loadu_si512(points); }

inline __m512i all_32(uint32_t bits) { return _mm512_set1_epi32(static_cast<int>(bits)); }
inline __m512i bits_of(__m512i v, uint32_t mask) { return _mm512_and_si512(v, all_32(mask)); }

using scan::write_ascii;
inline bool write_ascii(const uint16_t* points, uint8_t* out) {
    const __m512i v = _mm512_loadu_si512(points);
    if (_mm512_test_epi16_mask(v, _mm512_set1_epi16(static_cast<short>(0xFF80)))) return false;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_maskz_cvtepi16_epi8(~0u, v));
    return true;
}

// Each character's bytes at the end of the four of its lane, which are then moved together.
template <class Point>
inline uint8_t* write_16(const Point* points, uint8_t* out) {
    const __m512i c = load_16(points);
    const __mmask16 two = _mm512_cmpge_epu32_mask(c, all_32(0x80));
    if (!two) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_maskz_cvtepi32_epi8(0xFFFF, c));
        return out + 16;
    }
    if (_mm512_cmpeq_epi32_mask(bits_of(c, ~0x7FFu), all_32(0xD800))) return nullptr;
    const __mmask16 three = _mm512_cmpge_epu32_mask(c, all_32(0x800));
    const __mmask16 four = _mm512_cmpge_epu32_mask(c, all_32(0x10000));
    const __m512i low = bits_of(_mm512_maskz_slli_epi32(0xFFFF, c, 24), 0x3F000000);
    const __m512i middle = bits_of(_mm512_maskz_slli_epi32(0xFFFF, c, 10), 0x003F0000);
    const __m512i high = bits_of(_mm512_maskz_srli_epi32(0xFFFF, c, 4), 0x00003F00);
    const __m512i top = _mm512_maskz_srli_epi32(0xFFFF, c, 18);
    __m512i v = _mm512_or_si512(_mm512_or_si512(low, middle), _mm512_or_si512(high, top));
    // The marks of lead bytes over those of bytes that continue.
    __m512i marks = _mm512_mask_mov_epi32(all_32(0x80C00000), three, all_32(0x8080E000));
    marks = _mm512_mask_mov_epi32(marks, four, all_32(0x808080F0));
    v = _mm512_mask_or_epi32(_mm512_maskz_slli_epi32(0xFFFF, c, 24), two, v, marks);
    const __mmask64 kept = _mm512_movepi8_mask(_mm512_mask_mov_epi32(all_32(0x80000000), two, marks));
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, v));
    return out + std::popcount(kept);
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
    {"avx512", avx512::supported, avx512::classify, avx512::classify_more, avx512::classify_wide<false>,
     avx512::classify_wide<true>,
     avx512::positions, avx512::utf8_of_1, avx512::utf8_of_2, avx512::utf8_of_4},
    {"avx2", avx2::supported, avx2::classify, avx2::classify_more, avx2::classify_wide<false>,
     avx2::classify_wide<true>,
     avx2::positions, avx2::utf8_of_1, avx2::utf8_of_2, avx2::utf8_of_4},
#elif defined(__aarch64__)
    {"neon", neon::supported, neon::classify, neon::classify_more, neon::classify_wide<false>,
     neon::classify_wide<true>,
     neon::positions, neon::utf8_of_1, neon::utf8_of_2, neon::utf8_of_4},
#endif
    {"portable", portable::supported, portable::classify, portable::classify_more, portable::classify_wide<false>,
     portable::classify_wide<true>,
     portable::positions, portable::utf8_of_1, portable::utf8_of_2, portable::utf8_of_4},
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
