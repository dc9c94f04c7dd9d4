// The scan functions of the patterns, one or a family per file of this folder.
#pragma once

#include "scanner.h"

namespace bpe::scan {

size_t gpt2(Bytes text, size_t& at, size_t* ends, size_t capacity);
size_t cl100k(Bytes text, size_t& at, size_t* ends, size_t capacity);
size_t llama3(Bytes text, size_t& at, size_t* ends, size_t capacity);
size_t qwen2(Bytes text, size_t& at, size_t* ends, size_t capacity);
size_t o200k(Bytes text, size_t& at, size_t* ends, size_t capacity);

}  // namespace bpe::scan
