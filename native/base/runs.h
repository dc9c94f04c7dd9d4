// What a thread gets of the things to do: many small ones, or a part of many.
#pragma once

#include <cstddef>
#include <utility>
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

// Where one of so many parts of about equal size begins and ends.
inline std::pair<size_t, size_t> part_of(size_t count, size_t part, size_t parts) {
    const size_t first = count / parts * part;
    return {first, part + 1 == parts ? count : first + count / parts};
}

}  // namespace bpe
