// Many small things to do, gathered into jobs that are worth handing to a thread.
#pragma once

#include <cstddef>
#include <vector>

namespace bpe {

// Where runs of neighbours begin whose sizes add up to at least `least`, and where the last one ends.
template <class SizeOf>
std::vector<size_t> runs_of(size_t count, size_t least, SizeOf&& size_of) {
    std::vector<size_t> begins{0};
    size_t size = 0;
    for (size_t i = 0; i < count; ++i) {
        size += size_of(i);
        if (size < least && i + 1 < count) continue;
        begins.push_back(i + 1);
        size = 0;
    }
    return begins;
}

}  // namespace bpe
