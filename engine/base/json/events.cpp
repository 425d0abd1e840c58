// SPDX-License-Identifier: Apache-2.0
// One loop over the text and a stack of open containers. Strings without escapes are handed on as
// views into the text; only strings with escapes are copied.
#include "engine/base/json/events.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace engine {

namespace {

/// What the reader stopped at.
struct JsonFault {
    enum class Kind : uint8_t {
        None = 1,
        // Something else is expected than `found`:
        NoEnd,         ///< The end of the text.
        NoName,        ///< A member's name in double quotes.
        NoColon,       ///< ':' after `name`.
        NoObjectComma, ///< ',' or '}'.
        NoListComma,   ///< ',' or ']'.
        NoValue,
        NoDigit,
        NoHexDigits, ///< Four of them, after \u.
        // What stands there may not:
        LeadingZero,
        ControlCharacter, ///< Or a line break, inside a string.
        NotUtf8,
        OpenString,    ///< The text ends inside it.
        UnknownEscape, ///< `found` after a backslash.
        HalfSurrogate,
        RepeatedName, ///< `name` twice in one object.
        // More than `most`:
        TooDeep,
        TooManyValues,
        StringTooLong, ///< Bytes.
    };
    /// What stands there.
    enum class Found : uint8_t { End = 1, NotUtf8, Character };

    Kind kind = Kind::None;
    Found found = Found::End;
    std::string character = {}; ///< UTF-8.
    std::string name = {};
    uint64_t most = 0;
};

using Fault = JsonFault::Kind;

/// "x" as the message of a fault has it.
Sentence wordsOf(const JsonFault& fault) {
    const Sentence here = fault.found == JsonFault::Found::End ? phrase("the end of the text")
                          : fault.found == JsonFault::Found::NotUtf8
                              ? phrase("a byte that is not UTF-8")
                              : asItIs(inQuotes(fault.character));
    const auto expected = [&here](const Sentence& what) {
        return said("expected %1, found %2", what, here);
    };
    switch (fault.kind) {
    case Fault::None:
        return {};
    case Fault::NoEnd:
        return expected(phrase("the end of the text"));
    case Fault::NoName:
        return expected(phrase("a member name in double quotes"));
    case Fault::NoColon:
        return expected(said("':' after %1", inQuotes(fault.name)));
    case Fault::NoObjectComma:
        return expected(phrase("',' or '}'"));
    case Fault::NoListComma:
        return expected(phrase("',' or ']'"));
    case Fault::NoValue:
        return expected(phrase("a value"));
    case Fault::NoDigit:
        return expected(phrase("a digit"));
    case Fault::NoHexDigits:
        return expected(phrase("four hexadecimal digits after \\u"));
    case Fault::LeadingZero:
        return phrase("a number must not start with 0");
    case Fault::ControlCharacter:
        return phrase("a control character or line break inside a string");
    case Fault::NotUtf8:
        return phrase("a byte that is not UTF-8");
    case Fault::OpenString:
        return phrase("the text ends inside a string");
    case Fault::UnknownEscape:
        return said("unknown escape: %1 after \\", here);
    case Fault::HalfSurrogate:
        return phrase("half of a surrogate pair");
    case Fault::RepeatedName:
        return said("the key %1 stands twice in one object", inQuotes(fault.name));
    case Fault::TooDeep:
        return said("nested deeper than %1 levels", fault.most);
    case Fault::TooManyValues:
        return said("more than %1 values", fault.most);
    case Fault::StringTooLong:
        return said("string longer than %1 bytes", fault.most);
    }
    return {};
}

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

/// Member names of the open objects, so that an object with a repeated one can be refused.
class OpenNames {
public:
    void begin() { first_.push_back(names_.size()); }
    void add(std::string_view name, size_t offset) {
        names_.push_back({std::string(name), offset});
    }

    struct Name {
        std::string text;
        size_t offset = 0;
    };
    /// The object ends. The repetition that comes first in the text, if there is one.
    std::optional<Name> end() {
        const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(first_.back());
        std::sort(begin, names_.end(), [](const Name& a, const Name& b) {
            return a.text != b.text ? a.text < b.text : a.offset < b.offset;
        });
        std::optional<Name> repeated;
        for (auto it = begin; it != names_.end() && it + 1 != names_.end(); ++it) {
            const Name& next = *(it + 1);
            if (it->text == next.text && (!repeated || next.offset < repeated->offset)) {
                repeated = next;
            }
        }
        names_.resize(first_.back());
        first_.pop_back();
        return repeated;
    }

private:
    std::vector<Name> names_;   ///< Names in all open objects, outermost first.
    std::vector<size_t> first_; ///< Where each open object's names begin in names_.
};

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
        return std::move(outcome_);
    }

private:
    enum class Expect { Value = 1, FirstKey, Key, Colon, FirstElement, CommaOrEnd, End };

    [[nodiscard]] bool isAtEnd() const { return at_ >= text_.size(); }

    void skipSpace() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                      text_[at_] == '\r' || text_[at_] == '\t')) {
            ++at_;
        }
    }

    /// A fault at at_, with what stands there.
    [[nodiscard]] JsonFault faultHere(Fault kind) const {
        JsonFault fault{kind};
        if (!isAtEnd()) {
            const size_t length = utf8SequenceLength(text_, at_);
            fault.found = length == 0 ? JsonFault::Found::NotUtf8 : JsonFault::Found::Character;
            fault.character = text_.substr(at_, length);
        }
        return fault;
    }

    // Texts are put together in these functions only: the loops stay small.
    bool failAt(size_t offset, JsonStop stop, Sentence detail, const JsonFault& fault) {
        outcome_ = {stop, offset, std::move(detail), {}, wordsOf(fault)};
        return false;
    }
    bool fail(JsonStop stop, Phrase detail, Fault kind) {
        return failAt(at_, stop, detail, faultHere(kind));
    }
    /// A token that cannot stand here.
    bool unexpected(Phrase detail, Fault kind) {
        return fail(JsonStop::Syntax,
                    isAtEnd() ? phrase("the text ends in the middle of a JSON value") : detail,
                    kind);
    }
    bool unexpectedColon() {
        (void)unexpected(phrase("expected ':'"), Fault::NoColon);
        JsonFault fault = faultHere(Fault::NoColon);
        fault.name = string_;
        outcome_.seen = wordsOf(fault);
        return false;
    }
    bool malformedNumber() {
        return fail(JsonStop::Syntax, phrase("malformed number"), Fault::NoDigit);
    }
    bool beyondLimit(JsonStop stop, Fault kind, size_t limit) {
        JsonFault fault{kind};
        fault.most = limit;
        Sentence text = kind == Fault::TooDeep         ? said("nested deeper than %1 levels", limit)
                        : kind == Fault::TooManyValues ? said("more than %1 values", limit)
                                                       : said("string longer than %1 bytes", limit);
        return failAt(at_, stop, std::move(text), fault);
    }
    /// The names of an object that ends.
    bool endNames() {
        const std::optional<OpenNames::Name> repeated = names_.end();
        if (!repeated) {
            return true;
        }
        JsonFault fault{Fault::RepeatedName};
        fault.name = repeated->text;
        failAt(repeated->offset, JsonStop::Duplicate,
               said("the member \"%1\" occurs twice in one object", repeated->text), fault);
        outcome_.name = repeated->text;
        return false;
    }

    /// What the handler said to an event.
    bool accept(bool is_wanted) {
        if (!is_wanted) {
            return failAt(at_, JsonStop::Handler, {}, {});
        }
        return true;
    }

    /// One token. False when reading is over, for better or worse.
    bool step() {
        handler_.offset = at_;
        const char c = isAtEnd() ? '\0' : text_[at_];
        switch (expect_) {
        case Expect::End:
            if (isAtEnd()) {
                outcome_ = {JsonStop::Done, at_, {}, {}, {}};
                return false;
            }
            return unexpected(phrase("text after the end of the JSON value"), Fault::NoEnd);
        case Expect::FirstKey:
            return c == '}' ? close('}') : key(c, phrase("expected a member name or '}'"));
        case Expect::Key:
            return key(c, phrase("expected a member name"));
        case Expect::Colon:
            if (c != ':') {
                return unexpectedColon();
            }
            ++at_;
            expect_ = Expect::Value;
            return true;
        case Expect::CommaOrEnd:
            return separator(c);
        case Expect::FirstElement:
            return c == ']' ? close(']') : value(c);
        default:
            return value(c);
        }
    }

    bool key(char c, Phrase expected) {
        if (c != '"') {
            return unexpected(expected, Fault::NoName);
        }
        const size_t begin = at_;
        if (!readString()) {
            return false;
        }
        if (limits_.are_names_unique) {
            names_.add(string_, begin);
        }
        expect_ = Expect::Colon;
        return accept(handler_.onKey(string_));
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
        return is_object ? unexpected(phrase("expected ',' or '}'"), Fault::NoObjectComma)
                         : unexpected(phrase("expected ',' or ']'"), Fault::NoListComma);
    }

    bool open(char closer) {
        if (open_.size() >= static_cast<size_t>(std::max(limits_.max_depth, 0))) {
            return beyondLimit(JsonStop::TooDeep, Fault::TooDeep,
                               static_cast<size_t>(std::max(limits_.max_depth, 0)));
        }
        open_.push_back(closer);
        ++at_;
        if (closer == '}' && limits_.are_names_unique) {
            names_.begin();
        }
        expect_ = closer == '}' ? Expect::FirstKey : Expect::FirstElement;
        return accept(closer == '}' ? handler_.onObjectBegin() : handler_.onArrayBegin());
    }

    bool close(char closer) {
        open_.pop_back();
        ++at_;
        afterValue();
        if (closer == '}' && limits_.are_names_unique && !endNames()) {
            return false;
        }
        return accept(closer == '}' ? handler_.onObjectEnd() : handler_.onArrayEnd());
    }

    void afterValue() { expect_ = open_.empty() ? Expect::End : Expect::CommaOrEnd; }

    bool value(char c) {
        if (num_values_++ >= limits_.max_values) {
            return beyondLimit(JsonStop::TooManyValues, Fault::TooManyValues, limits_.max_values);
        }
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
        if (limits_.takes_nan &&
            (takeWord("NaN") || takeWord("Infinity") || takeWord("-Infinity"))) {
            return accept(handler_.onNull());
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
            return fail(JsonStop::InvalidUtf8, phrase("not UTF-8"), Fault::NoValue);
        }
        return unexpected(phrase("expected a value"), Fault::NoValue);
    }

    bool takeWord(std::string_view word) {
        if (text_.substr(at_, word.size()) != word) {
            return false;
        }
        at_ += word.size();
        afterValue();
        return true;
    }

    bool skipDigits() {
        if (isAtEnd() || !isDigit(text_[at_])) {
            return malformedNumber();
        }
        while (at_ < text_.size() && isDigit(text_[at_])) {
            ++at_;
        }
        return true;
    }

    bool number() {
        const size_t begin = at_;
        if (text_[at_] == '-') {
            ++at_;
        }
        if (at_ < text_.size() && text_[at_] == '0') {
            ++at_;
            if (at_ < text_.size() && isDigit(text_[at_])) {
                return fail(JsonStop::Syntax, phrase("malformed number"), Fault::LeadingZero);
            }
        } else if (!skipDigits()) {
            return false;
        }
        if (at_ < text_.size() && text_[at_] == '.') {
            ++at_;
            if (!skipDigits()) {
                return false;
            }
        }
        if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            ++at_;
            if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
                ++at_;
            }
            if (!skipDigits()) {
                return false;
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
                return fail(JsonStop::Syntax, phrase("control character in a string"),
                            Fault::ControlCharacter);
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
                return fail(JsonStop::InvalidUtf8, phrase("not UTF-8"), Fault::NotUtf8);
            }
            if (is_copied) {
                copy_.append(text_.substr(at_, num_bytes));
            }
            at_ += num_bytes;
        }
        string_ = is_copied ? std::string_view(copy_) : text_.substr(begin, at_ - begin);
        if (string_.size() > limits_.max_string_bytes) {
            return beyondLimit(JsonStop::StringTooLong, Fault::StringTooLong,
                               limits_.max_string_bytes);
        }
        if (isAtEnd()) {
            return fail(JsonStop::Syntax, phrase("the text ends inside a string"),
                        Fault::OpenString);
        }
        ++at_;
        return true;
    }

    /// Four hexadecimal digits at at_.
    bool readHex4(uint32_t& code) {
        code = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = isAtEnd() ? '\0' : text_[at_];
            uint32_t digit = 0;
            if (isDigit(c)) {
                digit = static_cast<uint32_t>(c - '0');
            } else if (c >= 'a' && c <= 'f') {
                digit = static_cast<uint32_t>(c - 'a') + 10U;
            } else if (c >= 'A' && c <= 'F') {
                digit = static_cast<uint32_t>(c - 'A') + 10U;
            } else {
                return fail(JsonStop::Syntax, phrase("malformed \\u escape"), Fault::NoHexDigits);
            }
            code = code * 16U + digit;
            ++at_;
        }
        return true;
    }

    bool readEscape() {
        const size_t begin = at_++;
        const char c = isAtEnd() ? '\0' : text_[at_];
        constexpr std::string_view kLetters = "\"\\/bfnrt";
        constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
        if (c == 'u') {
            ++at_;
            return readUnicodeEscape(begin);
        }
        const size_t which = kLetters.find(c);
        if (which == std::string_view::npos) {
            return fail(JsonStop::Syntax, phrase("unknown escape in a string"),
                        Fault::UnknownEscape);
        }
        copy_ += kMeant[which];
        ++at_;
        return true;
    }

    bool loneSurrogate(size_t begin) {
        if (limits_.replaces_surrogates) {
            appendUtf8(copy_, 0xfffdU);
            return true;
        }
        return failAt(begin, JsonStop::Syntax, phrase("lone surrogate in a \\u escape"),
                      JsonFault{Fault::HalfSurrogate});
    }

    /// The escape begins at `begin`, its digits at at_.
    bool readUnicodeEscape(size_t begin) {
        uint32_t code_point = 0;
        if (!readHex4(code_point)) {
            return false;
        }
        if (code_point >= 0xd800U && code_point <= 0xdbffU && text_.substr(at_, 2) == "\\u") {
            at_ += 2;
            uint32_t low = 0;
            if (!readHex4(low)) {
                return false;
            }
            if (low < 0xdc00U || low > 0xdfffU) {
                at_ -= 6; // the second escape stands for itself
                return loneSurrogate(begin);
            }
            code_point = 0x10000U + ((code_point - 0xd800U) << 10) + (low - 0xdc00U);
        } else if (code_point >= 0xd800U && code_point <= 0xdfffU) {
            return loneSurrogate(begin);
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
    OpenNames names_;
    size_t num_values_ = 0;
    JsonOutcome outcome_;
};

/// For who wants the outcome only.
class NoHandler final : public JsonHandler {
public:
    bool onObjectBegin() override { return true; }
    bool onObjectEnd() override { return true; }
    bool onArrayBegin() override { return true; }
    bool onArrayEnd() override { return true; }
    bool onKey(std::string_view /*key*/) override { return true; }
    bool onString(std::string_view /*value*/) override { return true; }
    bool onNumber(std::string_view /*literal*/) override { return true; }
    bool onBool(bool /*value*/) override { return true; }
    bool onNull() override { return true; }
};

} // namespace

JsonOutcome readJson(std::string_view text, const JsonLimits& limits, JsonHandler& handler) {
    return Reader(text, limits, handler).run();
}

Result<void>
checkJson(std::string_view text, std::string_view file_name, const JsonLimits& limits) {
    NoHandler handler;
    JsonLimits with_names = limits;
    with_names.are_names_unique = true;
    const JsonOutcome outcome = readJson(text, with_names, handler);
    if (outcome.stop != JsonStop::Done) {
        return jsonError(outcome, file_name);
    }
    return {};
}

Error jsonError(const JsonOutcome& outcome, std::string_view file_name) {
    const auto fail = [&](std::string_view rule, const Sentence& what) {
        return Error{ErrorCode::InvalidFile,
                     said("%1: %2", file_name, what),
                     {{"rule", std::string(rule)}, {"file", std::string(file_name)}}};
    };
    const auto at = [&outcome](const Sentence& what) {
        return said("%1 (at byte %2)", what, outcome.offset);
    };
    switch (outcome.stop) {
    case JsonStop::Duplicate:
        return fail("JsonDuplicate", said("%1; keep one", outcome.detail));
    case JsonStop::InvalidUtf8:
        return fail("JsonUtf8", at(said("the text is not UTF-8")));
    case JsonStop::TooDeep:
        return fail("JsonDepth", at(outcome.detail));
    case JsonStop::StringTooLong:
        return fail("JsonString", at(outcome.detail));
    case JsonStop::TooManyValues:
        return fail("JsonValues", said("holds %1", outcome.detail));
    default:
        return fail("JsonSyntax", at(said("not valid JSON: %1", outcome.detail)));
    }
}

} // namespace engine
