#include "spelling.h"

#include <optional>
#include <string_view>

namespace bpe {
namespace {

// Of "<0x41>", whose digits are in upper case.
std::optional<uint8_t> fallback_byte(Bytes string) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    if (string.size() != 6 || !equal(string.first(3), as_bytes("<0x")) || string[5] != '>')
        return std::nullopt;
    const size_t high = kDigits.find(static_cast<char>(string[3]));
    const size_t low = kDigits.find(static_cast<char>(string[4]));
    if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
    return static_cast<uint8_t>(high << 4 | low);
}

// The bytes that the characters stand for; false if one stands for none.
bool spell(const Alphabet& alphabet, Bytes string, std::vector<uint8_t>& bytes) {
    bytes.clear();
    for (size_t at = 0; at < string.size(); ++at) {
        uint32_t character = string[at];
        if (character >= 0x80) {
            if (character >= 0xE0) return false;
            character = (character & 0x1F) << 6 | (string[++at] & 0x3F);
        }
        if (character >= alphabet.size() || alphabet[character] < 0) return false;
        bytes.push_back(static_cast<uint8_t>(alphabet[character]));
    }
    return true;
}

}  // namespace

Spelling::Spelling(const StringIds& strings, size_t size, const Alphabet* alphabet, bool byte_fallback)
    : places_(size, kNowhere), kinds_(size, Kind::unused) {
    spelled_.reserve(strings.size(), strings.total_bytes());
    std::vector<uint8_t> room;
    for (size_t place = 0; place < strings.size(); ++place) {
        const Bytes string = strings.string(place);
        const Id id = strings.ids()[place];
        places_[id] = static_cast<uint32_t>(place);
        kinds_[id] = string.empty() ? Kind::control : Kind::normal;
        if (alphabet) {
            const bool is_spelled = spell(*alphabet, string, room);
            if (!is_spelled) kinds_[id] = Kind::control;
            spelled_.push_back(is_spelled ? Bytes(room) : string);
        } else if (const auto byte = byte_fallback ? fallback_byte(string) : std::nullopt) {
            kinds_[id] = Kind::byte;
            spelled_.push_back({&*byte, 1});
        } else {
            spelled_.push_back(string);
        }
    }
}

ByteStrings Spelling::tokens(const std::map<Id, std::string>& replaced) const {
    ByteStrings tokens;
    tokens.reserve(places_.size(), spelled_.total_bytes());
    auto next = replaced.begin();
    for (Id id = 0; id < places_.size(); ++id) {
        if (next != replaced.end() && next->first == id)
            tokens.push_back(as_bytes((next++)->second));
        else
            tokens.push_back(places_[id] == kNowhere ? Bytes() : spelled_[places_[id]]);
    }
    return tokens;
}

ByteStrings spelled(const Vocabulary& vocabulary, const Characters* characters,
                    const std::map<Id, std::string>& replaced) {
    const ByteStrings& tokens = vocabulary.tokens();
    ByteStrings strings;
    strings.reserve(tokens.size(), 2 * tokens.total_bytes());
    std::vector<uint8_t> room;
    auto next = replaced.begin();
    for (Id id = 0; id < tokens.size(); ++id) {
        if (next != replaced.end() && next->first == id) {
            strings.push_back(as_bytes((next++)->second));
        } else if (!characters) {
            strings.push_back(tokens[id]);
        } else {
            room.clear();
            for (const uint8_t byte : tokens[id]) {
                const std::string& character = (*characters)[byte];
                room.insert(room.end(), character.begin(), character.end());
            }
            strings.push_back(room);
        }
    }
    return strings;
}

}  // namespace bpe
