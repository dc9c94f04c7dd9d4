#include "../scan/scanner.h"
#include "check.h"

namespace bpe::tests {

void scanners() {
    std::mt19937 random(1);
    for (const Scanner& scanner : bpe::scanners()) {
        for (int round = 0; round < 4000; ++round) {
            const std::string text = random_text(random, random() % 40);
            const Exact exact(text);
            // Pieces follow each other without a gap, and none is empty.
            size_t covered = 0, progress = 0;
            for_each_piece(
                scanner.scan, exact,
                [&](size_t begin, size_t end) {
                    CHECK(begin == covered && end > begin);
                    covered = end;
                },
                [&](size_t bytes) { progress += bytes; });
            CHECK(covered == text.size() && progress == text.size());
            // Going on from any piece gives the same pieces, whatever the capacity.
            size_t at = 0, ends[3];
            while (at < text.size()) {
                const size_t count = scanner.scan(exact, at, ends, 1 + random() % 3);
                CHECK(count > 0 && ends[count - 1] == at);
            }
            CHECK(at == text.size());
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
