// Just enough of JSON to take the vocab and the merges out of a tokenizer.json, and to put them there,
// whose rest is left to others.
#pragma once

#include <memory>
#include <optional>

#include "string_ids.h"

namespace bpe {

// A part of a JSON text, brackets included.
struct JsonPart {
    size_t begin, end;
};

// `vocab` is an object of strings and plain integers below 10^9, no string twice, and at least one.
// `merges`, behind it, is a list of at least one merge: all items are strings with one space, or all
// are lists of two strings. Both halves and what they make are strings of the vocab.
struct JsonModel {
    JsonPart vocab, merges;
    std::shared_ptr<StringIds> strings;
    LargeVector<Id> rows;  // of left, right and made ids
};

// The values at "vocab" and "merges" of the object at "model" of the object that the text is. None if
// they are missing or not as above, or if the way to them is not plain: an escape in a key of these two
// objects, or one of the keys twice. The rest of the text need not be JSON for them to be found.
std::optional<JsonModel> find_model(Bytes json);

// Appends the vocab of some of the strings, which are numbered by their places, then `"merges":` and
// merges of the strings: lists of two. `rows` of `columns` ids begin with left and right. There is no
// space between anything, and nothing is escaped that may stand in a string.
void append_model(const ByteStrings& strings, std::span<const Id> inside, std::span<const Id> rows,
                  size_t columns, LargeVector<uint8_t>& out);

}  // namespace bpe
