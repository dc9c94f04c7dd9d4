// Scanners on any bytes: pieces cover the text, all instruction sets agree, and where the text is
// UTF-8 the generic matcher, which runs the pattern's regexes, cuts it the same way.
#include "../scan/kernels.h"
#include "../scan/scanner.h"
#include "fuzz.h"
#include "patterns.h"

namespace bpe::fuzz {
namespace {

std::vector<size_t> ends_of(const Scan& scan, const std::string& text, bool by_line) {
    std::vector<size_t> ends;
    size_t progress = 0;
    for_each_piece(
        scan, Exact(text), by_line,
        [&](size_t begin, size_t end) {
            CHECK(begin == (ends.empty() ? 0 : ends.back()) && end > begin);
            ends.push_back(end);
        },
        [&](size_t bytes) { progress += bytes; });
    CHECK((ends.empty() ? 0 : ends.back()) == text.size() && progress == text.size());
    return ends;
}

std::vector<size_t> ends_by_regex(const Preparation& preparation, const std::string& text,
                                  bool by_line) {
    std::vector<size_t> ends;
    for (size_t at = 0; at < text.size();) {
        const size_t end = by_line ? line_end(bytes_of(text), at) : text.size();
        const Exact line(text.substr(at, end - at));
        preparation.cut(line, [&](Bytes part) {
            ends.push_back((ends.empty() ? 0 : ends.back()) + part.size());
        });
        at = end;
    }
    return ends;
}

// Moves what follows to any place of a window.
std::string filling(Input& in) {
    static const std::string kUnits[] = {"x", " ", "ab ", "\n", "1", "\xC3\xA9", "x\n", "!?"};
    const std::string& unit = kUnits[in.below(std::size(kUnits))];
    std::string text;
    for (size_t size = in.below(2200); text.size() < size;) text += unit;
    return text;
}

}  // namespace

void run(Input in) {
    const Scanner& scanner = scanners()[in.below(scanners().size())];
    const bool by_line = in.flag();
    std::string text = in.flag() ? filling(in) : "";
    text += text_of(in, 3000);
    std::vector<size_t> expected;
    for (const scan::Kernels& kernels : scan::all_kernels()) {
        if (!kernels.supported()) continue;
        scan::use_kernels(kernels.name);
        const std::vector<size_t> ends = ends_of(scanner.scan, text, by_line);
        if (expected.empty()) expected = ends;
        CHECK(ends == expected);
    }
    const Preparation* preparation = regexes_of(scanner.name);
    if (!preparation || first_invalid(bytes_of(text)) < text.size()) return;
    CHECK(ends_by_regex(*preparation, text, by_line) == expected);
}

}  // namespace bpe::fuzz
