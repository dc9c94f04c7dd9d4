#include "../base/utf8.h"
#include "../scan/kernels.h"
#include "../scan/raw_text.h"
#include "../scan/scanner.h"
#include "check.h"

namespace bpe::tests {
namespace {

// One character after the other, as `RawText` says.
template <class Point>
std::vector<uint8_t> utf8_of(const std::vector<Point>& points) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < points.size(); ++i) {
        uint32_t c = points[i];
        if (c >= 0xD800 && c < 0xE000) {
            const uint32_t next = i + 1 < points.size() ? points[i + 1] : 0;
            const bool is_pair = c < 0xDC00 && next >= 0xDC00 && next < 0xE000;
            c = is_pair ? 0x10000 + ((c & 0x3FF) << 10 | (next & 0x3FF)) : 0xFFFD;
            i += is_pair;
        }
        append_utf8(c, bytes);
    }
    return bytes;
}

// Characters of one kind for a while, then of another one; of `Point` those that it can hold.
template <class Point>
void raw_texts(std::mt19937& random) {
    static constexpr uint32_t kFirst[] = {0, 0x80, 0x100, 0x800, 0xD7FE, 0xDBFE, 0xFFF0, 0x10FFF0};
    for (int round = 0; round < 3000; ++round) {
        std::vector<Point> points(random() % (round % 10 ? 50 : 600));
        uint32_t first = 0;
        for (Point& point : points) {
            if (random() % 12 == 0) first = kFirst[random() % std::size(kFirst)];
            point = static_cast<Point>(first + random() % 16);
        }
        const std::vector<uint8_t> expected = utf8_of(points);
        for (const scan::Kernels& kernels : scan::all_kernels()) {
            if (!kernels.supported()) continue;
            scan::use_kernels(kernels.name);
            ByteBuffer room;
            CHECK(equal(RawText(points.data(), points.size()).utf8(room), expected));
        }
    }
}

}  // namespace

void scanners() {
    std::mt19937 random(1);
    raw_texts<uint8_t>(random);
    raw_texts<uint16_t>(random);
    raw_texts<uint32_t>(random);
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
