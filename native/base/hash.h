// Hashing, shared by every table of the core.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <random>

#include "unicode.h"

namespace bpe {

static_assert(std::endian::native == std::endian::little, "keys are loaded as little-endian words");

// 64x64 -> 128 bit multiply, both halves folded: one instruction mixes all bits.
inline uint64_t mix(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline constexpr uint64_t kSeedB = 0xD1B54A32D192ED03;
// Another one in each process, so that nobody can write text whose pieces all meet in one slot. No
// result depends on it.
inline const uint64_t kSeedA = std::random_device{}() * 0x9E3779B97F4A7C15 | 1;

inline uint64_t hash_of(uint64_t key) { return mix(key ^ kSeedA, kSeedB); }

inline uint64_t hash_of(Bytes bytes) {
    uint64_t hash = kSeedA ^ bytes.size();
    size_t at = 0;
    uint64_t word = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::memcpy(&word, bytes.data() + at, 8);
        hash = mix(hash ^ word, kSeedB);
    }
    word = 0;
    if (at < bytes.size()) std::memcpy(&word, bytes.data() + at, bytes.size() - at);
    return mix(hash ^ word, kSeedA ^ kSeedB);
}

inline bool equal(Bytes a, Bytes b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace bpe
