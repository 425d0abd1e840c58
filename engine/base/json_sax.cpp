// SPDX-License-Identifier: Apache-2.0
// The strict JSON reader: one loop over the text and a stack of open containers. Strings without
// escapes are handed on as views into the text; only strings with escapes are copied.
#include "engine/base/json_sax.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace engine {

namespace {

/// Length of the well-formed UTF-8 sequence at text[at], 0 when it is malformed (Unicode 15,
/// table 3-7).
size_t utf8SequenceLength(std::string_view text, size_t at) {
    const auto byte = [&](size_t i) {
        return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
    };
    const auto follows = [&](size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const uint8_t lead = byte(at);
    if (lead < 0x80U) {
        return 1;
    }
    if (lead >= 0xc2U && lead <= 0xdfU) {
        return follows(at + 1) ? 2 : 0;
    }
    if (lead >= 0xe0U && lead <= 0xefU) {
        const uint8_t second = byte(at + 1);
        const bool is_second_valid = follows(at + 1) && !(lead == 0xe0U && second < 0xa0U) &&
                                     !(lead == 0xedU && second > 0x9fU);
        return is_second_valid && follows(at + 2) ? 3 : 0;
    }
    if (lead >= 0xf0U && lead <= 0xf4U) {
        const uint8_t second = byte(at + 1);
        const bool is_second_valid = follows(at + 1) && !(lead == 0xf0U && second < 0x90U) &&
                                     !(lead == 0xf4U && second > 0x8fU);
        return is_second_valid && follows(at + 2) && follows(at + 3) ? 4 : 0;
    }
    return 0;
}

void appendUtf8(std::string& out, uint32_t code_point) {
    if (code_point < 0x80U) {
        out += static_cast<char>(code_point);
    } else if (code_point < 0x800U) {
        out += static_cast<char>(0xc0U | (code_point >> 6));
        out += static_cast<char>(0x80U | (code_point & 0x3fU));
    } else if (code_point < 0x10000U) {
        out += static_cast<char>(0xe0U | (code_point >> 12));
        out += static_cast<char>(0x80U | ((code_point >> 6) & 0x3fU));
        out += static_cast<char>(0x80U | (code_point & 0x3fU));
    } else {
        out += static_cast<char>(0xf0U | (code_point >> 18));
        out += static_cast<char>(0x80U | ((code_point >> 12) & 0x3fU));
        out += static_cast<char>(0x80U | ((code_point >> 6) & 0x3fU));
        out += static_cast<char>(0x80U | (code_point & 0x3fU));
    }
}

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

class Reader {
public:
    Reader(std::string_view text, const JsonLimits& limits, JsonHandler& handler)
        : text_(text), limits_(limits), handler_(handler) {}

    JsonOutcome run() {
        bool is_running = true;
        while (is_running) {
            skipSpace();
            is_running = step();
        }
        return outcome_;
    }

private:
    enum class Expect { Value = 1, FirstKey, Key, Colon, FirstElement, CommaOrEnd, End };

    void skipSpace() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                      text_[at_] == '\r' || text_[at_] == '\t')) {
            ++at_;
        }
    }

    bool fail(JsonStop stop, std::string detail) {
        outcome_ = JsonOutcome{stop, at_, std::move(detail)};
        return false;
    }

    bool accept(bool is_wanted) {
        if (!is_wanted) {
            return fail(JsonStop::Handler, {});
        }
        return true;
    }

    /// One token. False when reading is over, for better or worse.
    bool step() {
        if (expect_ == Expect::End) {
            if (at_ == text_.size()) {
                outcome_ = JsonOutcome{JsonStop::Done, at_, {}};
                return false;
            }
            return fail(JsonStop::Syntax, "text after the end of the JSON value");
        }
        if (at_ >= text_.size()) {
            return fail(JsonStop::Syntax, "the text ends in the middle of a JSON value");
        }
        const char c = text_[at_];
        switch (expect_) {
        case Expect::FirstKey:
        case Expect::Key:
            if (c == '}' && expect_ == Expect::FirstKey) {
                return close('}');
            }
            if (c != '"') {
                return fail(JsonStop::Syntax, expect_ == Expect::FirstKey
                                                  ? "expected a member name or '}'"
                                                  : "expected a member name");
            }
            if (!readString()) {
                return false;
            }
            expect_ = Expect::Colon;
            return accept(handler_.onKey(string_));
        case Expect::Colon:
            if (c != ':') {
                return fail(JsonStop::Syntax, "expected ':'");
            }
            ++at_;
            expect_ = Expect::Value;
            return true;
        case Expect::CommaOrEnd:
            return separator(c);
        case Expect::FirstElement:
            if (c == ']') {
                return close(']');
            }
            return value(c);
        default:
            return value(c);
        }
    }

    bool separator(char c) {
        const bool is_object = open_.back() == '}';
        if (c == ',') {
            ++at_;
            expect_ = is_object ? Expect::Key : Expect::Value;
            return true;
        }
        if (c == open_.back()) {
            return close(c);
        }
        return fail(JsonStop::Syntax, is_object ? "expected ',' or '}'" : "expected ',' or ']'");
    }

    bool open(char closer) {
        if (open_.size() >= static_cast<size_t>(std::max(limits_.max_depth, 0))) {
            return fail(JsonStop::TooDeep,
                        "nested deeper than " + std::to_string(limits_.max_depth) + " levels");
        }
        open_.push_back(closer);
        ++at_;
        expect_ = closer == '}' ? Expect::FirstKey : Expect::FirstElement;
        return accept(closer == '}' ? handler_.onObjectBegin() : handler_.onArrayBegin());
    }

    bool close(char closer) {
        open_.pop_back();
        ++at_;
        afterValue();
        return accept(closer == '}' ? handler_.onObjectEnd() : handler_.onArrayEnd());
    }

    void afterValue() { expect_ = open_.empty() ? Expect::End : Expect::CommaOrEnd; }

    bool value(char c) {
        if (c == '{') {
            return open('}');
        }
        if (c == '[') {
            return open(']');
        }
        if (c == '"') {
            if (!readString()) {
                return false;
            }
            afterValue();
            return accept(handler_.onString(string_));
        }
        if (c == '-' || isDigit(c)) {
            return number();
        }
        if (takeWord("true")) {
            return accept(handler_.onBool(true));
        }
        if (takeWord("false")) {
            return accept(handler_.onBool(false));
        }
        if (takeWord("null")) {
            return accept(handler_.onNull());
        }
        if (static_cast<uint8_t>(c) >= 0x80U && utf8SequenceLength(text_, at_) == 0) {
            return fail(JsonStop::InvalidUtf8, "not UTF-8");
        }
        return fail(JsonStop::Syntax, "expected a value");
    }

    bool takeWord(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) {
            return false;
        }
        at_ += word.size();
        afterValue();
        return true;
    }

    size_t skipDigits() {
        const size_t begin = at_;
        while (at_ < text_.size() && isDigit(text_[at_])) {
            ++at_;
        }
        return at_ - begin;
    }

    bool number() {
        const size_t begin = at_;
        if (text_[at_] == '-') {
            ++at_;
        }
        const bool has_leading_zero = at_ < text_.size() && text_[at_] == '0';
        const size_t num_digits = skipDigits();
        if (num_digits == 0 || (has_leading_zero && num_digits > 1)) {
            return fail(JsonStop::Syntax, "malformed number");
        }
        if (at_ < text_.size() && text_[at_] == '.') {
            ++at_;
            if (skipDigits() == 0) {
                return fail(JsonStop::Syntax, "malformed number");
            }
        }
        if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            ++at_;
            if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
                ++at_;
            }
            if (skipDigits() == 0) {
                return fail(JsonStop::Syntax, "malformed number");
            }
        }
        afterValue();
        return accept(handler_.onNumber(text_.substr(begin, at_ - begin)));
    }

    /// Leaves the text of the string at at_ (which is a quote) in string_.
    bool readString() {
        ++at_;
        const size_t begin = at_;
        bool is_copied = false;
        copy_.clear();
        while (at_ < text_.size() && text_[at_] != '"') {
            const auto c = static_cast<uint8_t>(text_[at_]);
            const size_t length = is_copied ? copy_.size() : at_ - begin;
            if (length > limits_.max_string_bytes) {
                break;
            }
            if (c < 0x20U) {
                return fail(JsonStop::Syntax, "control character in a string");
            }
            if (c == '\\') {
                if (!is_copied) {
                    copy_.assign(text_.substr(begin, at_ - begin));
                    is_copied = true;
                }
                if (!readEscape()) {
                    return false;
                }
                continue;
            }
            const size_t num_bytes = c < 0x80U ? 1 : utf8SequenceLength(text_, at_);
            if (num_bytes == 0) {
                return fail(JsonStop::InvalidUtf8, "not UTF-8");
            }
            if (is_copied) {
                copy_.append(text_.substr(at_, num_bytes));
            }
            at_ += num_bytes;
        }
        string_ = is_copied ? std::string_view(copy_) : text_.substr(begin, at_ - begin);
        if (string_.size() > limits_.max_string_bytes) {
            return fail(JsonStop::StringTooLong, "string longer than " +
                                                     std::to_string(limits_.max_string_bytes) +
                                                     " bytes");
        }
        if (at_ >= text_.size()) {
            return fail(JsonStop::Syntax, "the text ends inside a string");
        }
        ++at_;
        return true;
    }

    /// Four hexadecimal digits at at_; -1 when there are none.
    int32_t readHex4() {
        if (text_.size() - at_ < 4) {
            return -1;
        }
        int32_t code = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = text_[at_ + static_cast<size_t>(i)];
            int32_t digit = 0;
            if (isDigit(c)) {
                digit = c - '0';
            } else if (c >= 'a' && c <= 'f') {
                digit = c - 'a' + 10;
            } else if (c >= 'A' && c <= 'F') {
                digit = c - 'A' + 10;
            } else {
                return -1;
            }
            code = code * 16 + digit;
        }
        at_ += 4;
        return code;
    }

    bool readEscape() {
        ++at_;
        const char c = at_ < text_.size() ? text_[at_] : '\0';
        switch (c) {
        case '"':
        case '\\':
        case '/':
            copy_ += c;
            break;
        case 'b':
            copy_ += '\b';
            break;
        case 'f':
            copy_ += '\f';
            break;
        case 'n':
            copy_ += '\n';
            break;
        case 'r':
            copy_ += '\r';
            break;
        case 't':
            copy_ += '\t';
            break;
        case 'u':
            ++at_;
            return readUnicodeEscape();
        default:
            return fail(JsonStop::Syntax, "unknown escape in a string");
        }
        ++at_;
        return true;
    }

    bool readUnicodeEscape() {
        const int32_t first = readHex4();
        if (first < 0) {
            return fail(JsonStop::Syntax, "malformed \\u escape");
        }
        auto code_point = static_cast<uint32_t>(first);
        if (code_point >= 0xd800U && code_point <= 0xdbffU) {
            int32_t second = -1;
            if (text_.substr(at_, 2) == "\\u") {
                at_ += 2;
                second = readHex4();
            }
            if (second < 0xdc00 || second > 0xdfff) {
                return fail(JsonStop::Syntax, "lone surrogate in a \\u escape");
            }
            code_point = 0x10000U + ((code_point - 0xd800U) << 10) +
                         (static_cast<uint32_t>(second) - 0xdc00U);
        } else if (code_point >= 0xdc00U && code_point <= 0xdfffU) {
            return fail(JsonStop::Syntax, "lone surrogate in a \\u escape");
        }
        appendUtf8(copy_, code_point);
        return true;
    }

    std::string_view text_;
    const JsonLimits& limits_;
    JsonHandler& handler_;
    size_t at_ = 0;
    Expect expect_ = Expect::Value;
    std::vector<char> open_;  ///< Closing characters of the open containers.
    std::string_view string_; ///< Last string read: into text_ or copy_.
    std::string copy_;
    JsonOutcome outcome_;
};

/// Collects the member names of every open object; an object with a repeated name stops it.
class DuplicateFinder : public JsonHandler {
public:
    [[nodiscard]] const std::string& duplicate() const { return duplicate_; }

    bool onObjectBegin() override {
        first_key_.push_back(keys_.size());
        return true;
    }
    bool onObjectEnd() override {
        const auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(first_key_.back());
        std::sort(begin, keys_.end());
        const auto twin = std::adjacent_find(begin, keys_.end());
        if (twin != keys_.end()) {
            duplicate_ = *twin;
            return false;
        }
        keys_.resize(first_key_.back());
        first_key_.pop_back();
        return true;
    }
    bool onArrayBegin() override { return true; }
    bool onArrayEnd() override { return true; }
    bool onKey(std::string_view key) override {
        keys_.emplace_back(key);
        return true;
    }
    bool onString(std::string_view /*value*/) override { return true; }
    bool onNumber(std::string_view /*literal*/) override { return true; }
    bool onBool(bool /*value*/) override { return true; }
    bool onNull() override { return true; }

private:
    std::vector<std::string> keys_; ///< Of all open objects, outermost first.
    std::vector<size_t> first_key_; ///< Where each open object's names begin in keys_.
    std::string duplicate_;
};

} // namespace

JsonOutcome readJson(std::string_view text, const JsonLimits& limits, JsonHandler& handler) {
    return Reader(text, limits, handler).run();
}

Result<void>
checkJson(std::string_view text, std::string_view file_name, const JsonLimits& limits) {
    DuplicateFinder finder;
    const JsonOutcome outcome = readJson(text, limits, finder);
    if (outcome.stop == JsonStop::Done) {
        return {};
    }
    const auto fail = [&](std::string_view rule, const std::string& what) {
        return Error{ErrorCode::InvalidFile,
                     std::string(file_name) + ": " + what,
                     {{"rule", std::string(rule)}, {"file", std::string(file_name)}}};
    };
    const std::string where = " (at byte " + std::to_string(outcome.offset) + ")";
    switch (outcome.stop) {
    case JsonStop::Handler:
        return fail("JsonDuplicate", "the member \"" + finder.duplicate() +
                                         "\" occurs twice in one object; keep one");
    case JsonStop::InvalidUtf8:
        return fail("JsonUtf8", "the text is not UTF-8" + where);
    case JsonStop::TooDeep:
        return fail("JsonDepth", outcome.detail + where);
    case JsonStop::StringTooLong:
        return fail("JsonString", outcome.detail + where);
    default:
        return fail("JsonSyntax", "not valid JSON: " + outcome.detail + where);
    }
}

bool isValidUtf8(std::string_view text) {
    size_t at = 0;
    while (at < text.size()) {
        const size_t length = utf8SequenceLength(text, at);
        if (length == 0) {
            return false;
        }
        at += length;
    }
    return true;
}

} // namespace engine
