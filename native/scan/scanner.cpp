#include "scanner.h"

#include <stdexcept>
#include <string>

#include "patterns.h"

namespace bpe {
namespace {

// No split: the whole text is one piece.
size_t whole(Bytes text, size_t& at, bool by_line, size_t* ends) {
    if (at == text.size()) return 0;
    ends[0] = at = by_line ? line_end(text, at) : text.size();
    return 1;
}

const Scanner kScanners[] = {
    {"none", whole, false},
    {"gpt2", scan::gpt2, true},
    {"cl100k", scan::cl100k, true},
    {"llama3", scan::llama3, true},
    {"qwen2", scan::qwen2, true},
    {"qwen3.5", scan::qwen35, true},
    {"o200k", scan::o200k, true},
    {"tekken", scan::tekken, true},
    {"kimi", scan::kimi, true},
    {"starcoder", scan::starcoder, true},
    {"deepseek_v3", scan::deepseek_v3, true},
    {"falcon", scan::falcon, true},
};

}  // namespace

std::span<const Scanner> scanners() { return kScanners; }

const Scanner& scanner(std::string_view name) {
    for (const Scanner& s : kScanners)
        if (s.name == name) return s;
    throw std::invalid_argument("no native scanner named '" + std::string(name) + "'");
}

}  // namespace bpe
