// The scan functions of the patterns, one or a family per file of this folder.
#pragma once

#include "scanner.h"

namespace bpe::scan {

size_t gpt2(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t cl100k(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t llama3(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t qwen2(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t qwen35(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t o200k(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t tekken(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t kimi(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t starcoder(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t deepseek_v3(Bytes text, size_t& at, bool by_line, size_t* ends);
size_t falcon(Bytes text, size_t& at, bool by_line, size_t* ends);

}  // namespace bpe::scan
