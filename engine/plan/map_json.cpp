// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/map_json.h"

#include <unordered_set>
#include <utility>

namespace engine {

namespace {

constexpr int kMaxDepth = 16;

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// Length of the well-formed UTF-8 sequence at text[i] (RFC 3629), 0 when there is none.
size_t utf8Length(std::string_view text, size_t i) {
    const auto byte = [&text](size_t k) {
        return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
    };
    const auto is_tail = [&byte](size_t k) { return (byte(k) & 0xc0U) == 0x80U; };
    const unsigned lead = byte(i);
    if (lead < 0x80U) {
        return 1;
    }
    if (lead >= 0xc2U && lead <= 0xdfU) {
        return is_tail(i + 1) ? 2 : 0;
    }
    if (lead >= 0xe0U && lead <= 0xefU) {
        const unsigned next = byte(i + 1);
        const bool is_overlong = lead == 0xe0U && next < 0xa0U;
        const bool is_surrogate = lead == 0xedU && next >= 0xa0U;
        return is_tail(i + 1) && is_tail(i + 2) && !is_overlong && !is_surrogate ? 3 : 0;
    }
    if (lead >= 0xf0U && lead <= 0xf4U) {
        const unsigned next = byte(i + 1);
        const bool is_outside = (lead == 0xf0U && next < 0x90U) || (lead == 0xf4U && next >= 0x90U);
        return is_tail(i + 1) && is_tail(i + 2) && is_tail(i + 3) && !is_outside ? 4 : 0;
    }
    return 0;
}

void appendUtf8(std::string& out, uint32_t code) {
    if (code < 0x80U) {
        out += static_cast<char>(code);
    } else if (code < 0x800U) {
        out += static_cast<char>(0xc0U | (code >> 6U));
        out += static_cast<char>(0x80U | (code & 0x3fU));
    } else if (code < 0x10000U) {
        out += static_cast<char>(0xe0U | (code >> 12U));
        out += static_cast<char>(0x80U | ((code >> 6U) & 0x3fU));
        out += static_cast<char>(0x80U | (code & 0x3fU));
    } else {
        out += static_cast<char>(0xf0U | (code >> 18U));
        out += static_cast<char>(0x80U | ((code >> 12U) & 0x3fU));
        out += static_cast<char>(0x80U | ((code >> 6U) & 0x3fU));
        out += static_cast<char>(0x80U | (code & 0x3fU));
    }
}

class Reader {
public:
    Reader(std::string_view text, MapJsonProblem& problem) : text_(text), problem_(problem) {}

    bool readDocument(MapJson& out) {
        skipSpace();
        if (!readValue(out, 0)) {
            return false;
        }
        skipSpace();
        return isAtEnd() || fail("expected the end of the text, found " + here());
    }

private:
    [[nodiscard]] bool isAtEnd() const { return next_ >= text_.size(); }
    [[nodiscard]] char peek() const { return isAtEnd() ? '\0' : text_[next_]; }

    void advance() {
        const auto byte = static_cast<unsigned char>(text_[next_++]);
        if (byte == '\n') {
            ++at_.line;
            at_.column = 1;
        } else if ((byte & 0xc0U) != 0x80U) {
            ++at_.column;
        }
    }

    void skipSpace() {
        while (!isAtEnd() &&
               (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) {
            advance();
        }
    }

    [[nodiscard]] std::string here() const {
        if (isAtEnd()) {
            return "the end of the text";
        }
        const size_t length = utf8Length(text_, next_);
        return length == 0 ? "a byte that is not UTF-8" : inQuotes(text_.substr(next_, length));
    }

    bool fail(std::string message) { return failAt(std::move(message), at_); }
    bool failAt(std::string message, MapPosition at) {
        problem_.message = std::move(message);
        problem_.at = at;
        return false;
    }

    bool readWord(std::string_view word) {
        if (text_.substr(next_, word.size()) != word) {
            return fail("expected a value, found " + here());
        }
        for (size_t i = 0; i < word.size(); ++i) {
            advance();
        }
        return true;
    }

    bool readValue(MapJson& out, int depth) {
        out.at = at_;
        switch (peek()) {
        case '{':
            return readObject(out, depth);
        case '[':
            return readArray(out, depth);
        case '"':
            out.kind = MapJson::Kind::String;
            return readString(out.text);
        case 't':
            out.kind = MapJson::Kind::Bool;
            out.boolean = true;
            return readWord("true");
        case 'f':
            out.kind = MapJson::Kind::Bool;
            return readWord("false");
        case 'n':
            out.kind = MapJson::Kind::Null;
            return readWord("null");
        default:
            out.kind = MapJson::Kind::Number;
            return readNumber(out.text);
        }
    }

    bool readObject(MapJson& out, int depth) {
        out.kind = MapJson::Kind::Object;
        if (depth >= kMaxDepth) {
            return fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
        }
        advance();
        skipSpace();
        if (peek() == '}') {
            advance();
            return true;
        }
        std::unordered_set<std::string> seen;
        while (true) {
            skipSpace();
            if (peek() != '"') {
                return fail("expected a member name in double quotes, found " + here());
            }
            MapJsonMember member;
            member.key_at = at_;
            if (!readString(member.key)) {
                return false;
            }
            if (!seen.insert(member.key).second) {
                problem_.key = member.key;
                return failAt("the key " + inQuotes(member.key) + " stands twice in one object",
                              member.key_at);
            }
            skipSpace();
            if (peek() != ':') {
                return fail("expected ':' after " + inQuotes(member.key) + ", found " + here());
            }
            advance();
            skipSpace();
            if (!readValue(member.value, depth + 1)) {
                return false;
            }
            out.members.push_back(std::move(member));
            skipSpace();
            if (peek() == '}') {
                advance();
                return true;
            }
            if (peek() != ',') {
                return fail("expected ',' or '}', found " + here());
            }
            advance();
        }
    }

    bool readArray(MapJson& out, int depth) {
        out.kind = MapJson::Kind::Array;
        if (depth >= kMaxDepth) {
            return fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
        }
        advance();
        skipSpace();
        if (peek() == ']') {
            advance();
            return true;
        }
        while (true) {
            skipSpace();
            out.items.emplace_back();
            if (!readValue(out.items.back(), depth + 1)) {
                return false;
            }
            skipSpace();
            if (peek() == ']') {
                advance();
                return true;
            }
            if (peek() != ',') {
                return fail("expected ',' or ']', found " + here());
            }
            advance();
        }
    }

    bool readHex4(uint32_t& code) {
        code = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = peek();
            uint32_t digit = 0;
            if (isDigit(c)) {
                digit = static_cast<uint32_t>(c - '0');
            } else if (c >= 'a' && c <= 'f') {
                digit = static_cast<uint32_t>(c - 'a') + 10U;
            } else if (c >= 'A' && c <= 'F') {
                digit = static_cast<uint32_t>(c - 'A') + 10U;
            } else {
                return fail("expected four hexadecimal digits after \\u, found " + here());
            }
            code = code * 16U + digit;
            advance();
        }
        return true;
    }

    bool readEscape(std::string& out) {
        const MapPosition begin = at_;
        advance();
        const char c = peek();
        switch (c) {
        case '"':
            out += '"';
            break;
        case '\\':
            out += '\\';
            break;
        case '/':
            out += '/';
            break;
        case 'b':
            out += '\b';
            break;
        case 'f':
            out += '\f';
            break;
        case 'n':
            out += '\n';
            break;
        case 'r':
            out += '\r';
            break;
        case 't':
            out += '\t';
            break;
        case 'u': {
            advance();
            uint32_t code = 0;
            if (!readHex4(code)) {
                return false;
            }
            if (code >= 0xd800U && code <= 0xdbffU && text_.substr(next_, 2) == "\\u") {
                advance();
                advance();
                uint32_t low = 0;
                if (!readHex4(low)) {
                    return false;
                }
                if (low < 0xdc00U || low > 0xdfffU) {
                    return failAt("half of a surrogate pair", begin);
                }
                code = 0x10000U + ((code - 0xd800U) << 10U) + (low - 0xdc00U);
            } else if (code >= 0xd800U && code <= 0xdfffU) {
                return failAt("half of a surrogate pair", begin);
            }
            appendUtf8(out, code);
            return true;
        }
        default:
            return fail("unknown escape: " + here() + " after \\");
        }
        advance();
        return true;
    }

    bool readString(std::string& out) {
        advance();
        while (true) {
            if (isAtEnd()) {
                return fail("the text ends inside a string");
            }
            const char c = peek();
            if (c == '"') {
                advance();
                return true;
            }
            if (c == '\\') {
                if (!readEscape(out)) {
                    return false;
                }
                continue;
            }
            if (static_cast<unsigned char>(c) < 0x20U) {
                return fail("a control character or line break inside a string");
            }
            const size_t length = utf8Length(text_, next_);
            if (length == 0) {
                return fail("a byte that is not UTF-8");
            }
            out.append(text_.substr(next_, length));
            for (size_t i = 0; i < length; ++i) {
                advance();
            }
        }
    }

    bool readDigits() {
        if (!isDigit(peek())) {
            return fail("expected a digit, found " + here());
        }
        while (isDigit(peek())) {
            advance();
        }
        return true;
    }

    bool readNumber(std::string& out) {
        const size_t begin = next_;
        if (peek() != '-' && !isDigit(peek())) {
            return fail("expected a value, found " + here());
        }
        if (peek() == '-') {
            advance();
        }
        if (peek() == '0') {
            advance();
            if (isDigit(peek())) {
                return fail("a number must not start with 0");
            }
        } else if (!readDigits()) {
            return false;
        }
        if (peek() == '.') {
            advance();
            if (!readDigits()) {
                return false;
            }
        }
        if (peek() == 'e' || peek() == 'E') {
            advance();
            if (peek() == '+' || peek() == '-') {
                advance();
            }
            if (!readDigits()) {
                return false;
            }
        }
        out = std::string(text_.substr(begin, next_ - begin));
        return true;
    }

    std::string_view text_;
    MapJsonProblem& problem_;
    size_t next_ = 0;
    MapPosition at_{1, 1};
};

} // namespace

const MapJsonMember* MapJson::find(std::string_view key) const {
    for (const MapJsonMember& member : members) {
        if (member.key == key) {
            return &member;
        }
    }
    return nullptr;
}

std::optional<MapJson> readMapJson(std::string_view text, MapJsonProblem& problem) {
    if (text.size() > kMaxDeviceMapBytes) {
        problem.message = "the text has " + std::to_string(text.size()) +
                          " bytes; a device map has at most " + std::to_string(kMaxDeviceMapBytes);
        problem.at = {1, 1};
        return std::nullopt;
    }
    MapJson out;
    if (!Reader(text, problem).readDocument(out)) {
        return std::nullopt;
    }
    return out;
}

std::string inQuotes(std::string_view text) {
    constexpr size_t kLongest = 60;
    std::string out = "\"";
    size_t count = 0;
    for (size_t i = 0; i < text.size(); ++count) {
        if (count == kLongest) {
            return out + "...\"";
        }
        const size_t length = utf8Length(text, i);
        if (length == 0 || static_cast<unsigned char>(text[i]) < 0x20U || text[i] == '\x7f') {
            out += '?';
            ++i;
        } else {
            out.append(text.substr(i, length));
            i += length;
        }
    }
    return out + "\"";
}

std::string describeJson(const MapJson& value) {
    switch (value.kind) {
    case MapJson::Kind::Null:
        return "null";
    case MapJson::Kind::Bool:
        return value.boolean ? "true" : "false";
    case MapJson::Kind::Number:
        return "the number " + value.text.substr(0, 40);
    case MapJson::Kind::String:
        return inQuotes(value.text);
    case MapJson::Kind::Object:
        return "an object";
    case MapJson::Kind::Array:
        return "an array";
    }
    return "a value";
}

std::string jsonString(std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (byte < 0x20U) {
            out += "\\u00";
            out += kHex[byte >> 4U];
            out += kHex[byte & 0xfU];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

} // namespace engine
