#include "../scan/kernels.h"
#include "../scan/scanner.h"
#include "check.h"

namespace bpe::tests {

void scanners() {
    std::mt19937 random(1);
    for (const Scanner& scanner : bpe::scanners()) {
        for (int round = 0; round < 2000; ++round) {
            const std::string text = random_text(random, random() % (round % 10 ? 40 : 1000));
            const Exact exact(text);
            const bool by_line = round % 2;
            std::vector<size_t> expected;
            for (const scan::Kernels& kernels : scan::all_kernels()) {
                if (!kernels.supported()) continue;
                scan::use_kernels(kernels.name);
                // Pieces follow each other without a gap, none is empty, and all versions agree.
                std::vector<size_t> ends;
                size_t progress = 0;
                for_each_piece(
                    scanner.scan, exact, by_line,
                    [&](size_t begin, size_t end) {
                        CHECK(begin == (ends.empty() ? 0 : ends.back()) && end > begin);
                        ends.push_back(end);
                    },
                    [&](size_t bytes) { progress += bytes; });
                CHECK((ends.empty() ? 0 : ends.back()) == text.size() && progress == text.size());
                if (expected.empty()) expected = ends;
                CHECK(ends == expected);
            }
        }
    }
    for (uint32_t c = 0; c < 0x110000; ++c) {
        const Properties p(c);
        CHECK(p.category() <= Cn);
    }
    CHECK(first_invalid(bytes_of("abc\xC3\xA9")) == 5);
    CHECK(first_invalid(bytes_of("abc\xC3")) == 3);
}

}  // namespace bpe::tests
