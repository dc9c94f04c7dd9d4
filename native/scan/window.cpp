#include "window.h"

#include <cstring>

#include "../base/memory.h"
#include "kernels.h"

namespace bpe::scan {
namespace {

void add_breaks(Window& w) {
    for (size_t i = 1; i <= w.blocks + 1; ++i)
        w.breaks[i] = w.newlines[i] << 1 | w.newlines[i - 1] >> 63;
}

// Starts up to this offset do not depend on the text behind the window: what a run of white space
// at its end is cut into does, but for the first character and for what a line end has closed.
size_t certain(const Window& w) {
    if (w.at_end()) return w.size;
    size_t limit = 0;
    for (size_t i = w.blocks; i > 0 && !limit; --i)
        if (~w.spaces[i]) limit = 64 * i - std::countl_zero(~w.spaces[i]);
    for (size_t i = w.blocks; 64 * i > limit; --i)
        if (w.breaks[i]) return std::max<size_t>(limit, 64 * i - 1 - std::countl_zero(w.breaks[i]));
    return limit;
}

}  // namespace

void fill_window(Window& w, Bytes text, size_t at, bool by_line, MoreMasks more) {
    w.text = text.subspan(at);
    w.size = std::min(Window::kBytes, w.text.size());
    // The next window is asked for while this one is worked on: encoding is 6 % faster for it.
    prefetch(w.text.data() + w.size, std::min(Window::kBytes, w.text.size() - w.size));
    const size_t whole = w.size / 64, rest = w.size % 64;
    w.blocks = whole + (rest > 0);
    const auto classify = [&, use = kernels()](const uint8_t* bytes, size_t first, size_t blocks) {
        use.classify(bytes, first, blocks, w);
        if (more.ascii || by_line) use.classify_more(bytes, first, blocks, w);
    };
    classify(w.text.data(), 1, whole);
    if (rest) {
        uint8_t filled[64];
        std::memset(filled, ' ', 64);
        std::memcpy(filled, w.text.data() + 64 * whole, rest);
        classify(filled, 1 + whole, 1);
    }
    for (auto* mask : {&w.letters, &w.numbers, &w.spaces, &w.blanks, &w.newlines, &w.line_ends,
                       &w.apostrophes, &w.slashes, &w.uppers})
        (*mask)[0] = (*mask)[w.blocks + 1] = 0;
    w.wide_categories = w.han_categories = w.kana_han_categories = 0;
    w.wide_spaces = false;
    uint64_t any_wide = 0;
    for (size_t i = 1; i <= w.blocks; ++i) any_wide |= w.wide[i];
    for (size_t i = 0; i <= w.blocks + 1; ++i) w.tails[i] = w.breaks[i] = 0;
    if (any_wide) (more.scripts ? kernels().classify_wide_and_scripts : kernels().classify_wide)(w);
    if (by_line) add_breaks(w);
    if (w.at_end()) w.spaces[w.blocks + 1] = ~uint64_t{0};
}

size_t write_ends(const Window& w, Window::Mask& starts, size_t at, size_t* ends) {
    const size_t limit = certain(w);
    for (size_t i = 1; i <= w.blocks; ++i) {
        const size_t begin = 64 * (i - 1);
        if (limit < begin + 63) starts[i] &= limit < begin ? 0 : (uint64_t{2} << (limit - begin)) - 1;
    }
    starts[1] &= ~uint64_t{1};
    if (w.size % 64 && w.at_end()) starts[w.blocks] &= (uint64_t{1} << (w.size % 64)) - 1;
    size_t count = kernels().positions(starts.data() + 1, w.blocks, at, ends);
    if (w.at_end()) ends[count++] = at + w.size;
    return count;
}

}  // namespace bpe::scan
