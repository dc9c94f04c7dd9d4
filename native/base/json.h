// Just enough of JSON to take a long list of merges out of a text whose rest a full reader reads.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "vocab.h"

namespace bpe {

// A list of merges in a JSON text: all of its items are strings with one space, or all are lists of
// two strings, no half is empty, and there is at least one.
struct JsonMerges {
    size_t begin, end;   // of the list, brackets included
    bool in_lists;       // each merge is a list of two strings
    ByteStrings halves;  // left and right in turn, as UTF-8
};

// The list at `key` of the object at `parent` of the object that the text is. None if there is no
// such list, or if the way to it is not plain: an escape in a key of these two objects, or one of the
// two keys twice. The rest of the text need not be JSON for a list to be found.
std::optional<JsonMerges> find_merges(Bytes json, std::string_view parent, std::string_view key);

}  // namespace bpe
