#include "json.h"

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
    bool is_next(char character) { return skip_space() && text_[at_] == character; }

    // Takes a string; `whole` is it, in the text or in `room`.
    bool string(Bytes& whole, std::vector<uint8_t>& room) {
        if (!take('"')) return false;
        const size_t begin = at_;
        while (at_ < text_.size() && is_plain(text_[at_])) ++at_;
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

    // Takes an integer of one to nine digits.
    bool number(Id& number) {
        if (!skip_space()) return false;
        const size_t begin = at_;
        number = 0;
        while (at_ < text_.size() && at_ - begin < 10 && text_[at_] >= '0' && text_[at_] <= '9')
            number = number * 10 + (text_[at_++] - '0');
        const size_t digits = at_ - begin;
        return digits > 0 && digits < 10 && (digits == 1 || text_[begin] != '0');
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
            if (!skip_space()) return false;
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
    // False at the end of the text.
    bool skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
        return at_ < text_.size();
    }
    static bool is_plain(uint8_t c) { return c >= 0x20 && c != '"' && c != '\\'; }
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

bool is_utf8(Bytes json, JsonPart part) {
    const Bytes text = json.subspan(part.begin, part.end - part.begin);
    return first_invalid(text) == text.size();
}

bool read_vocab(Reader& reader, Bytes json, JsonModel& model) {
    if (!reader.take('{')) return false;
    model.vocab.begin = reader.offset() - 1;
    model.strings = std::make_shared<StringIds>();
    std::vector<uint8_t> room;
    do {
        Bytes string;
        Id id;
        if (!reader.string(string, room) || !reader.take(':') || !reader.number(id)) return false;
        model.strings->push_back(string, id);
    } while (reader.take(','));
    if (!reader.take('}')) return false;
    model.vocab.end = reader.offset();
    return is_utf8(json, model.vocab) && model.strings->build_index();
}

bool read_merge(Reader& reader, bool in_lists, std::vector<uint8_t> (&rooms)[2], MergeRows& rows) {
    Bytes left, right, both;
    if (in_lists)
        return reader.take('[') && reader.string(left, rooms[0]) && reader.take(',') &&
               reader.string(right, rooms[1]) && reader.take(']') && rows.add(left, right);
    if (!reader.string(both, rooms[0])) return false;
    const auto halves = halves_of(both);
    return halves && rows.add(halves->first, halves->second);
}

bool read_merges(Reader& reader, Bytes json, JsonModel& model) {
    if (!reader.take('[')) return false;
    model.merges.begin = reader.offset() - 1;
    const bool in_lists = reader.is_next('[');
    std::vector<uint8_t> rooms[2];
    MergeRows rows(*model.strings);
    do {
        if (!read_merge(reader, in_lists, rooms, rows)) return false;
    } while (reader.take(','));
    auto finished = rows.finish();
    if (!reader.take(']') || !finished) return false;
    model.rows = std::move(*finished);
    model.merges.end = reader.offset();
    return is_utf8(json, model.merges);
}

// Takes an object. `read(key)` takes the value of a key; false to end, or none if it is not for it.
template <class Read>
bool read_object(Reader& reader, Read&& read) {
    if (!reader.take('{')) return false;
    do {
        std::string_view name;
        if (!reader.key(name)) return false;
        const std::optional<bool> taken = read(name);
        if (taken ? !*taken : !reader.value()) return false;
    } while (reader.take(','));
    return reader.take('}');
}

}  // namespace

std::optional<JsonModel> find_model(Bytes json) {
    std::optional<JsonModel> model;
    Reader reader(json);
    const auto read_member = [&](std::string_view name) -> std::optional<bool> {
        if (name == "vocab") return !model->strings && read_vocab(reader, json, *model);
        if (name == "merges")
            return model->strings && model->rows.empty() && read_merges(reader, json, *model);
        return std::nullopt;
    };
    const bool is_plain = read_object(reader, [&](std::string_view name) -> std::optional<bool> {
        if (name != "model") return std::nullopt;
        if (model) return false;
        model.emplace();
        return read_object(reader, read_member);
    });
    return is_plain && model && !model->rows.empty() ? std::move(model) : std::nullopt;
}

namespace {

void append(std::string_view text, LargeVector<uint8_t>& out) {
    out.insert(out.end(), text.begin(), text.end());
}

// With the escapes that it needs, and quotes around it.
void quote(Bytes string, std::vector<uint8_t>& quoted) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    constexpr std::string_view kHex = "0123456789abcdef";
    quoted.assign(1, '"');
    for (const uint8_t byte : string) {
        const size_t place = kEscaped.find(static_cast<char>(byte));
        if (place != kEscaped.npos) {
            quoted.insert(quoted.end(), {'\\', static_cast<uint8_t>(kLetters[place])});
        } else if (byte < 0x20) {
            const auto high = static_cast<uint8_t>(kHex[byte >> 4]), low = static_cast<uint8_t>(kHex[byte & 15]);
            quoted.insert(quoted.end(), {'\\', 'u', '0', '0', high, low});
        } else {
            quoted.push_back(byte);
        }
    }
    quoted.push_back('"');
}

}  // namespace

void append_model(const ByteStrings& strings, std::span<const Id> inside, std::span<const Id> rows,
                  size_t columns, LargeVector<uint8_t>& out) {
    ByteStrings quoted;
    quoted.reserve(strings.size(), strings.total_bytes() + 3 * strings.size());
    std::vector<uint8_t> room;
    for (size_t i = 0; i < strings.size(); ++i) {
        quote(strings[i], room);
        quoted.push_back(room);
    }
    const auto append_string = [&](Id id) { out.insert(out.end(), quoted[id].begin(), quoted[id].end()); };
    std::string_view before = "{";
    for (const Id id : inside) {
        append(std::exchange(before, ","), out);
        append_string(id);
        append(":", out);
        append(std::to_string(id), out);
    }
    append(inside.empty() ? "{}" : "}", out);
    append(",\"merges\":[", out);
    before = "[";
    for (size_t at = 0; at < rows.size(); at += columns) {
        append(std::exchange(before, ",["), out);
        append_string(rows[at]);
        append(",", out);
        append_string(rows[at + 1]);
        append("]", out);
    }
    append("]", out);
}

}  // namespace bpe
