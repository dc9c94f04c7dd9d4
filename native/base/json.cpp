#include "json.h"

#include <algorithm>
#include <utility>

#include "utf8.h"

namespace bpe {
namespace {

// Reads a text from its begin on; every step is false where the text is not what it looks for.
class Reader {
public:
    explicit Reader(Bytes text) : text_(text) {}

    size_t offset() const { return at_; }

    // Takes this character, behind white space.
    bool take(char character) {
        if (!is_next(character)) return false;
        ++at_;
        return true;
    }
    bool is_next(char character) {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
        return at_ < text_.size() && text_[at_] == character;
    }

    // Takes a string; `whole` is it, in the text or in `room`.
    bool string(Bytes& whole, std::vector<uint8_t>& room) {
        if (!take('"')) return false;
        const size_t begin = at_;
        while (at_ < text_.size() && text_[at_] >= 0x20 && text_[at_] != '"' && text_[at_] != '\\') ++at_;
        if (at_ == text_.size()) return false;
        if (text_[at_] == '"') {
            whole = text_.subspan(begin, at_++ - begin);
            return true;
        }
        room.assign(text_.begin() + begin, text_.begin() + at_);
        while (at_ < text_.size() && text_[at_] != '"') {
            if (text_[at_] < 0x20) return false;
            if (text_[at_] != '\\')
                room.push_back(text_[at_++]);
            else if (!escape(room))
                return false;
        }
        whole = room;
        return at_++ < text_.size();
    }

    // Takes a key without an escape, and the colon.
    bool key(std::string_view& found) {
        Bytes whole;
        std::vector<uint8_t> room;
        if (!string(whole, room) || !room.empty()) return false;
        found = {reinterpret_cast<const char*>(whole.data()), whole.size()};
        return take(':');
    }

    // Takes any value: as far as brackets and strings go, as a full reader looks at it.
    bool value() {
        size_t depth = 0;
        do {
            while (at_ < text_.size() && is_space(text_[at_])) ++at_;
            if (at_ == text_.size()) return false;
            const uint8_t c = text_[at_++];
            if (c == '"') {
                while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
                if (at_++ >= text_.size()) return false;
            } else if (c == '{' || c == '[') {
                ++depth;
            } else if (c == '}' || c == ']') {
                if (depth-- == 0) return false;
            } else if (depth == 0) {  // a number or a name
                while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != ',' &&
                       text_[at_] != '}' && text_[at_] != ']')
                    ++at_;
            }
        } while (depth > 0);
        return true;
    }

private:
    static bool is_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

    bool escape(std::vector<uint8_t>& room) {
        constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
        if (at_ + 1 >= text_.size()) return false;
        const char name = static_cast<char>(text_[at_ + 1]);
        at_ += 2;
        if (name != 'u') {
            const size_t place = kNames.find(name);
            if (place == kNames.npos) return false;
            room.push_back(static_cast<uint8_t>(kMeant[place]));
            return true;
        }
        uint32_t code_point, low;
        if (!unit(code_point)) return false;
        if (code_point >= 0xD800 && code_point < 0xE000) {
            const bool is_pair = code_point < 0xDC00 && at_ + 1 < text_.size() && text_[at_] == '\\' &&
                                 text_[at_ + 1] == 'u';
            at_ += 2;
            if (!is_pair || !unit(low) || low < 0xDC00 || low >= 0xE000) return false;
            code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
        }
        append_utf8(code_point, room);
        return true;
    }

    // Four hexadecimal digits.
    bool unit(uint32_t& number) {
        number = 0;
        for (int i = 0; i < 4; ++i, ++at_) {
            if (at_ >= text_.size()) return false;
            const char c = static_cast<char>(text_[at_]);
            const char lower = static_cast<char>(c | 0x20);
            if (c >= '0' && c <= '9')
                number = number * 16 + static_cast<uint32_t>(c - '0');
            else if (lower >= 'a' && lower <= 'f')
                number = number * 16 + static_cast<uint32_t>(lower - 'a' + 10);
            else
                return false;
        }
        return true;
    }

    Bytes text_;
    size_t at_ = 0;
};

bool read_merge(Reader& reader, bool in_lists, std::vector<uint8_t> (&rooms)[2], ByteStrings& halves) {
    Bytes left, right;
    if (in_lists) {
        if (!reader.take('[') || !reader.string(left, rooms[0]) || !reader.take(',') ||
            !reader.string(right, rooms[1]) || !reader.take(']'))
            return false;
    } else {
        Bytes both;
        if (!reader.string(both, rooms[0])) return false;
        const auto space = std::find(both.begin(), both.end(), ' ');
        if (space == both.end() || std::find(space + 1, both.end(), ' ') != both.end()) return false;
        left = both.first(static_cast<size_t>(space - both.begin()));
        right = both.subspan(left.size() + 1);
    }
    if (left.empty() || right.empty()) return false;
    halves.push_back(left);
    halves.push_back(right);
    return true;
}

std::optional<JsonMerges> read_merges(Reader& reader, Bytes json) {
    JsonMerges merges{};
    if (!reader.take('[')) return std::nullopt;
    merges.begin = reader.offset() - 1;
    merges.in_lists = reader.is_next('[');
    std::vector<uint8_t> rooms[2];
    do {
        if (!read_merge(reader, merges.in_lists, rooms, merges.halves)) return std::nullopt;
    } while (reader.take(','));
    if (!reader.take(']')) return std::nullopt;
    merges.end = reader.offset();
    const Bytes list = json.subspan(merges.begin, merges.end - merges.begin);
    if (first_invalid(list) != list.size()) return std::nullopt;
    return merges;
}

// Takes an object, whose value at a key is read by `read`: once, or false.
template <class Read>
bool read_member(Reader& reader, std::string_view key, Read&& read) {
    bool found = false;
    if (!reader.take('{')) return false;
    do {
        std::string_view name;
        if (!reader.key(name) || (name == key && std::exchange(found, true))) return false;
        if (name == key ? !read() : !reader.value()) return false;
    } while (reader.take(','));
    return reader.take('}') && found;
}

}  // namespace

std::optional<JsonMerges> find_merges(Bytes json, std::string_view parent, std::string_view key) {
    std::optional<JsonMerges> merges;
    Reader reader(json);
    const bool found = read_member(reader, parent, [&] {
        return read_member(reader, key, [&] { return (merges = read_merges(reader, json)).has_value(); });
    });
    return found ? merges : std::nullopt;
}

}  // namespace bpe
