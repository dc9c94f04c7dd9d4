// The smallest test framework that names the failing line.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "../base/unicode.h"

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                        \
        }                                                                        \
    } while (false)

namespace bpe::tests {

// A copy in a block of memory of its own, so that AddressSanitizer sees any access beyond the text.
class Exact {
public:
    explicit Exact(const std::string& text) : bytes_(new uint8_t[text.size()]), size_(text.size()) {
        for (size_t i = 0; i < size_; ++i) bytes_[i] = static_cast<uint8_t>(text[i]);
    }
    ~Exact() { delete[] bytes_; }
    Exact(const Exact&) = delete;
    operator Bytes() const { return {bytes_, size_}; }

private:
    uint8_t* bytes_;
    size_t size_;
};

inline Bytes bytes_of(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string string_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

// Random text of fragments that the scanners treat differently, broken UTF-8 among them.
inline std::string random_text(std::mt19937& random, size_t fragments) {
    static const std::vector<std::string> pool = {
        " ", "  ", "\n", "\r\n", "\t", "a", "Z", "'s", "'LL", "'\xC5\xBF", "12", "\xC3\xA9",
        "\xE4\xB8\xAD", "\xCC\x81", "\xF0\x9F\x98\x80", "\xE3\x80\x80", "\xC2\xBD", "!", "/", "'",
        "<s>", "<s", std::string(1, '\0'), "\xFF", "\xC3", "\xE4\xB8", "\xF0\x9F\x98", "\xED\xA0\x80",
        "\xF4\x90\x80\x80", "\xC0\xAF",
    };
    std::string text;
    for (size_t i = 0; i < fragments; ++i) text += pool[random() % pool.size()];
    return text;
}

void scanners();
void added_tokens();
void merging();
void training();
void outputs();

}  // namespace bpe::tests
