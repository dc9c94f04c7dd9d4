#include "../base/utf8.h"
#include "../encode/counting.h"
#include "../encode/decoder.h"
#include "check.h"

namespace bpe::tests {
namespace {

// Tokens of 0 to 40 bytes, some of them nobody's.
std::unique_ptr<const Model> model_of_lengths(std::mt19937& random) {
    ByteStrings tokens;
    std::vector<Kind> kinds;
    for (int id = 0; id < 500; ++id) {
        std::string token(id < 256 ? 1 : random() % 41, 'x');
        for (char& c : token) c = static_cast<char>(id < 256 ? id : random());
        const bool is_unused = id % 7 == 6;
        tokens.push_back(is_unused ? Bytes() : bytes_of(token));
        kinds.push_back(is_unused ? Kind::unused : Kind::control);
    }
    return std::make_unique<const Model>(Vocabulary::make(std::move(tokens), std::move(kinds), {}),
                                         ModelOptions{});
}

template <class Number>
void decoding(const Encoder& encoder, const Decoder& decoder, std::mt19937& random) {
    constexpr int kMost = sizeof(Number) == 1 ? 127 : 500;
    for (int round = 0; round < 200; ++round) {
        std::vector<Number> ids;
        std::vector<int64_t> offsets{0};
        std::string expected;
        for (size_t n = random() % 5000; n > 0; --n) {
            const int id = static_cast<int>(random() % kMost);
            if (id % 7 == 6) continue;
            ids.push_back(static_cast<Number>(id));
            expected += string_of(encoder.token(id));
            if (random() % 50 == 0) offsets.push_back(static_cast<int64_t>(ids.size()));
        }
        ByteBuffer whole;
        decoder.decode(std::span<const Number>(ids), whole);
        CHECK(string_of(Bytes(whole)) == expected);
        Decoder::Texts texts;
        decoder.decode(std::span<const Number>(ids), std::span<const int64_t>(offsets), texts);
        CHECK(texts.ends.size() + 1 == offsets.size());
        CHECK(string_of(Bytes(texts.bytes)) ==
              expected.substr(0, texts.bytes.size()));
        const size_t bad = random() % (ids.size() + 1);
        ids.insert(ids.begin() + static_cast<ptrdiff_t>(bad), Number{6});  // nobody's
        try {
            decoder.decode(std::span<const Number>(ids), whole);
            CHECK(false);
        } catch (const BadId& error) {
            const std::string position = "position " + std::to_string(bad) + ")";
            CHECK(std::string(error.what()).find(position) != std::string::npos);
        }
    }
}

template <class Unit>
void widening(Bytes text, const std::vector<uint32_t>& expected) {
    const auto out = std::make_unique<Unit[]>(expected.size());  // as large as needed and no larger
    CHECK(widen(text, out.get()));
    CHECK(std::equal(expected.begin(), expected.end(), out.get()));
}

bool is_widened(Bytes text, const TextShape& shape) {
    const auto narrow = std::make_unique<uint8_t[]>(shape.characters);
    const auto wide = std::make_unique<uint16_t[]>(shape.characters);
    const auto widest = std::make_unique<uint32_t[]>(shape.characters);
    const bool fits = widen(text, widest.get());
    CHECK(widen(text, wide.get()) == fits && widen(text, narrow.get()) == fits);
    return fits;
}

void characters(std::mt19937& random) {
    for (int round = 0; round < 20000; ++round) {
        const std::string text = random_text(random, random() % 20) + std::string(random() % 40, 'a');
        const Exact exact(text);
        const Bytes bytes(exact);
        const TextShape shape = shape_of(bytes);
        if (first_invalid(bytes) < bytes.size()) {
            CHECK(!is_widened(bytes, shape));
            continue;
        }
        std::vector<uint32_t> expected;
        uint32_t greatest = 0;
        for (size_t at = 0; at < bytes.size();) {
            const Character c = character_at(bytes, at);
            expected.push_back(c.code_point);
            greatest = std::max(greatest, c.code_point);
            at += c.length;
        }
        CHECK(shape.characters == expected.size());
        CHECK(shape.most == (greatest < 0x80      ? 0x7Fu
                             : greatest < 0x100   ? 0xFFu
                             : greatest < 0x10000 ? 0xFFFFu
                                                  : 0x10FFFFu));
        if (greatest < 0x100) widening<uint8_t>(bytes, expected);
        if (greatest < 0x10000) widening<uint16_t>(bytes, expected);
        widening<uint32_t>(bytes, expected);
    }
}

// Memory that grows by pages, and is used again, keeps what was written; so does memory whose first
// page took long.
void buffers(std::mt19937& random) {
    const auto pool = std::make_shared<IdBuffer::Pool>();
    for (int round = 0; round < 4; ++round) {
        IdBuffer buffer = round % 2 ? pool->take(random() % 5'000'000) : IdBuffer();
        std::vector<Id> expected;
        while (expected.size() < 4'000'000) {
            const size_t more = random() % 300'000;
            if (random() % 4 == 0) buffer.allow(buffer.size() + random() % 1'000'000);
            Id* const out = buffer.reserve(more);
            for (size_t i = 0; i < more; ++i) expected.push_back(out[i] = static_cast<Id>(random()));
            buffer.resize(expected.size());
        }
        CHECK(std::ranges::equal(std::span<const Id>(buffer), std::span<const Id>(expected)));
    }
    if (!huge::kAvailable) return;
    const size_t size = 4 * huge::kPage;
    for (const int slow : {-1, 1'000'000}) {
        auto* const memory = static_cast<uint8_t*>(huge::map(size));
        std::fill_n(memory, huge::kPage, uint8_t{7});
        const size_t made = huge::make_pages(memory, huge::kPage, huge::kPage + 1, size,
                                             std::chrono::microseconds(slow));
        CHECK(made == (slow < 0 ? size : 2 * huge::kPage));
        for (size_t i = 0; i < size; i += 1000) CHECK(memory[i] == (i < huge::kPage ? 7 : 0));
        huge::unmap(memory, size);
    }
}

}  // namespace

void outputs() {
    std::mt19937 random(5);
    buffers(random);
    characters(random);
    const Encoder encoder(model_of_lengths(random), {}, scanner("gpt2"));
    const Decoder decoder(encoder);
    decoding<uint8_t>(encoder, decoder, random);
    decoding<int8_t>(encoder, decoder, random);
    decoding<uint16_t>(encoder, decoder, random);
    decoding<int32_t>(encoder, decoder, random);
    decoding<uint64_t>(encoder, decoder, random);
    Watch watch;
    std::vector<std::string> texts;
    for (int i = 0; i < 300; ++i) texts.push_back(random_text(random, random() % 200));
    std::vector<RawText> views;
    for (const std::string& text : texts) views.push_back(bytes_of(text));
    const auto ends = encoder.encode_batch(views, {}, 1, watch).ends;
    for (const unsigned threads : {1u, 3u}) {
        int64_t total = 0;
        const auto counts = count_batch(encoder, views, {}, threads, watch);
        for (size_t i = 0; i < counts.size(); ++i) CHECK((total += counts[i]) == ends[i]);
    }
}

}  // namespace bpe::tests
