// Ids to bytes.
#pragma once

#include "encoder.h"

namespace bpe {

// The tokens of an encoder, which must outlive it, laid out for copying.
class Decoder {
public:
    explicit Decoder(const Encoder& encoder);

    // Appends the bytes of some ids. Throws BadId for the first that nobody owns.
    template <class Number>
    void decode(std::span<const Number> ids, ByteBuffer& out) const;

    // The bytes of texts one after the other, and where each ends: text i has the ids from
    // `offsets[i]` to `offsets[i + 1]`, which must be rising and lie in `ids`.
    struct Texts {
        ByteBuffer bytes;
        std::vector<size_t> ends;
    };
    template <class Number>
    void decode(std::span<const Number> ids, std::span<const int64_t> offsets, Texts& out) const;

private:
    // A short token is copied as a whole entry: no loop over its bytes, no branch on its length.
    static constexpr size_t kShort = 15;
    static constexpr uint8_t kLong = 16, kNobodys = 17;  // lengths of what is not in its entry
    static constexpr size_t kUsual = 6;  // bytes of a token: what is reserved for each at first
    struct alignas(16) Entry {
        uint8_t bytes[kShort];
        uint8_t length;
    };

    const Model& model_;
    std::vector<Entry> entries_;
};

}  // namespace bpe
