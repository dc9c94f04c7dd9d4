#include "runs.h"

namespace bpe::scan {
namespace {

// `\s++$`: what is left of the white space that ends the text is one piece.
void join_final_space(const Window& w, const Others& others, Window::Mask& starts) {
    size_t first = 0;
    for (size_t i = w.blocks; i > 0 && first == 0; --i) {
        const uint64_t before = ~w.spaces[i] | others.absorbed[i];
        // A begin of a unit is the first of its white space; everything else stands in front of it.
        const uint64_t begins = before << 1 | w.breaks[i];
        if (before >> 63) first = 64 * i;
        else if (begins) first = 64 * i - 1 - std::countl_zero(begins);
    }
    for (size_t i = first / 64 + 1; i <= w.blocks; ++i)
        starts[i] &= i == first / 64 + 1 ? (uint64_t{2} << (first % 64)) - 1 : 0;
}

}  // namespace

Others::Others(const Window& w, const Window::Mask& closers) {
    for (const size_t edge : {size_t{0}, w.blocks + 1})
        starts[edge] = prefixes[edge] = absorbed[edge] = 0;
    uint64_t before = 0, left_before = 0;
    for (size_t i = 1; i <= w.blocks; ++i) {
        const uint64_t others = w.others(i), inside = ~w.breaks[i], closing = closers[i] & inside;
        const uint64_t seeds = (w.line_ends[i] & inside & (others << 1 | before)) |
                               (closing & absorbed[i - 1] >> 63);
        before = others >> 63;
        absorbed[i] = carry_up(seeds, closing);
        const uint64_t left = others & ~absorbed[i];
        const uint64_t after_left = (left << 1 | left_before) & inside;
        left_before = left >> 63;
        starts[i] = prefixes[i] = left & ~w.tails[i] & ~after_left & ~w.after(w.blanks, i);
    }
    if (!w.wide_categories) return;
    for (int step = 0; step < 3; ++step)
        for (size_t i = w.blocks; i > 0; --i)
            prefixes[i] |= (prefixes[i] << 1 | prefixes[i - 1] >> 63) & w.tails[i];
}

void cut_numbers(const Window& w, Window::Mask& starts) {
    uint64_t before = 0, groups_before = 0;
    for (size_t i = 1; i <= w.blocks; ++i) {
        const uint64_t numbers = w.numbers[i];
        const auto moved = [&](int by) { return numbers << by | before >> (64 - by); };
        const uint64_t fourth = numbers & moved(1) & moved(2) & moved(3);
        uint64_t groups = (numbers & ~moved(1)) | (groups_before >> 61 & fourth);
        for (uint64_t next = groups << 3 & fourth; next; next = next << 3 & fourth) groups |= next;
        starts[i] |= groups;
        before = numbers;
        groups_before = groups;
    }
}

void cut_spaces(const Window& w, const Others& others, bool keeps_final_space,
                Window::Mask& starts) {
    // White space in front of which a line end can be reached from the left, and line ends. Mostly
    // there are only these.
    Window::Mask closed, last;
    for (const size_t edge : {size_t{0}, w.blocks + 1}) closed[edge] = last[edge] = 0;
    for (size_t i = w.blocks; i > 0; --i) {
        const uint64_t inside = w.spaces[i] & ~(w.breaks[i] >> 1 | w.breaks[i + 1] << 63);
        closed[i] = w.line_ends[i];
        const uint64_t more = (closed[i] >> 1 | closed[i + 1] << 63) & inside & ~closed[i];
        if (more) [[unlikely]] closed[i] = spread_down(closed[i] | more, inside);
        last[i] = w.spaces[i] & ~w.line_ends[i] & ~w.before_space(i);
    }
    if (w.wide_spaces) to_first_bytes(w, last);
    uint64_t before = 0;
    for (size_t i = 1; i <= w.blocks; ++i) {
        const uint64_t free = w.spaces[i] & ~others.absorbed[i];
        const uint64_t first = free & ~((free << 1 | before) & ~w.breaks[i]);
        before = free >> 63;
        const uint64_t tail = w.spaces[i] & ~closed[i] & w.after(closed, i);
        starts[i] |= ((first | tail) & ~w.tails[i]) | last[i];
    }
    if (keeps_final_space && w.at_end()) join_final_space(w, others, starts);
}

}  // namespace bpe::scan
