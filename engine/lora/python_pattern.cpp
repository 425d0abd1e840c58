// SPDX-License-Identifier: Apache-2.0
// Rewrites Python's regular-expression syntax into RE2's. A whitelist: what is not known to mean
// the same in both is refused, and what Python itself refuses is an error here too, so that a
// pattern never quietly matches other modules than PEFT would.
#include "engine/lora/target_matching.h"

#include <optional>

namespace engine {

namespace {

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}
bool isOctal(char c) {
    return c >= '0' && c <= '7';
}
bool isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool isHex(char c) {
    return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// RE2's largest repeat count.
constexpr int kMaxRepeat = 1000;
constexpr int kMaxDepth = 64;

class Translator {
public:
    Translator(std::string_view pattern, bool allow_global_flags)
        : in_(pattern), allow_global_flags_(allow_global_flags) {}

    Result<TranslatedPattern> run() {
        if (in_.size() > kMaxPatternBytes) {
            return Error{ErrorCode::InvalidFile,
                         said("the pattern has %1 bytes, at most %2 are read", in_.size(),
                              kMaxPatternBytes)};
        }
        while (at_ < in_.size()) {
            ENGINE_TRY(step());
        }
        if (depth_ != 0) {
            return invalid(said("a group is not closed"));
        }
        return TranslatedPattern{std::move(out_), has_look_around_};
    }

private:
    /// What stood before, for quantifiers.
    enum class Last { Nothing = 1, Item, Repeat };

    [[nodiscard]] Error invalid(const Sentence& what) const {
        return Error{ErrorCode::InvalidFile,
                     said("not a valid pattern: %1 at byte %2 of \"%3\"", what, at_, shown())};
    }
    [[nodiscard]] Error unsupported(const Sentence& what) const {
        return Error{ErrorCode::Unsupported,
                     said("the pattern uses %1 at byte %2 of \"%3\", which is not implemented",
                          what, at_, shown())};
    }
    [[nodiscard]] std::string shown() const {
        return in_.size() <= 80 ? std::string(in_) : std::string(in_.substr(0, 77)) + "...";
    }
    [[nodiscard]] char peek(size_t ahead) const {
        return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0';
    }
    [[nodiscard]] bool has(std::string_view text) const {
        return in_.substr(at_).starts_with(text);
    }
    void emit(std::string_view text, size_t consumed, Last last) {
        out_ += text;
        at_ += consumed;
        last_ = last;
    }

    Result<void> step() {
        switch (const char c = in_[at_]) {
        case '\\':
            return escape(false);
        case '[':
            return characterClass();
        case '(':
            return openGroup();
        case ')':
            if (depth_ == 0) {
                return invalid(said("a closing bracket without an opening one"));
            }
            --depth_;
            emit(")", 1, Last::Item);
            return {};
        case '|':
        case '^':
        case '$':
            emit(std::string_view(&c, 1), 1, Last::Nothing);
            return {};
        case '*':
        case '+':
        case '?':
            return repeat(std::string(1, c), 1);
        case '{':
            return brace();
        case '}':
            emit("\\}", 1, Last::Item);
            return {};
        case '\0':
            return invalid(said("a zero byte"));
        default:
            emit(in_.substr(at_, 1), 1, Last::Item);
            return {};
        }
    }

    Result<void> repeat(const std::string& text, size_t consumed) {
        if (last_ == Last::Nothing) {
            return invalid(said("nothing to repeat"));
        }
        if (last_ == Last::Repeat) {
            return invalid(said("multiple repeat"));
        }
        emit(text, consumed, Last::Repeat);
        if (peek(0) == '+') {
            return unsupported(said("a possessive quantifier"));
        }
        if (peek(0) == '?') {
            emit("?", 1, Last::Repeat);
        }
        return {};
    }

    /// {m}, {m,}, {,n}, {m,n}; any other use of a brace is a literal brace.
    Result<void> brace() {
        size_t i = at_ + 1;
        std::string low;
        std::string high;
        while (i < in_.size() && isDigit(in_[i])) {
            low += in_[i++];
        }
        bool has_comma = false;
        if (i < in_.size() && in_[i] == ',') {
            has_comma = true;
            ++i;
            while (i < in_.size() && isDigit(in_[i])) {
                high += in_[i++];
            }
        }
        const bool is_repeat = i < in_.size() && in_[i] == '}' && (has_comma || !low.empty());
        if (!is_repeat) {
            emit("\\{", 1, Last::Item);
            return {};
        }
        const auto isTooLarge = [](const std::string& digits) {
            return digits.size() > 4 || (!digits.empty() && std::stoi(digits) > kMaxRepeat);
        };
        if (isTooLarge(low) || isTooLarge(high)) {
            return unsupported(said("a repeat count above %1", kMaxRepeat));
        }
        if (low.empty()) {
            low = "0";
        }
        std::string text = "{" + low;
        if (has_comma) {
            text += "," + high;
        }
        return repeat(text + "}", i + 1 - at_);
    }

    Result<void> escape(bool is_in_class) {
        const char c = peek(1);
        if (c == '\0') {
            return invalid(said("a backslash without a character after it"));
        }
        if (c >= '1' && c <= '9') {
            return unsupported(said("a back-reference (\\%1)", std::string(1, c)));
        }
        switch (c) {
        case 'd':
        case 'D':
        case 'w':
        case 'W':
        case 's':
        case 'S':
        case 'n':
        case 'r':
        case 't':
        case 'f':
        case 'v':
        case 'a':
            emit(in_.substr(at_, 2), 2, Last::Item);
            return {};
        case '0':
            return octal();
        case 'x':
            if (!isHex(peek(2)) || !isHex(peek(3))) {
                return invalid(said("an incomplete \\x escape"));
            }
            emit(in_.substr(at_, 4), 4, Last::Item);
            return {};
        case 'u':
        case 'U':
        case 'N':
            return unsupported(said("a Unicode escape (\\%1)", std::string(1, c)));
        case 'b':
            emit(is_in_class ? "\\x08" : "\\b", 2, is_in_class ? Last::Item : Last::Nothing);
            return {};
        case 'B':
        case 'A':
        case 'Z':
        case 'z':
            if (is_in_class) {
                return invalid(said("the escape \\%1 inside a class", std::string(1, c)));
            }
            emit(c == 'Z' || c == 'z' ? std::string("\\z") : std::string("\\") + c, 2,
                 Last::Nothing);
            return {};
        default:
            break;
        }
        if (isLetter(c)) {
            return invalid(said("the unknown escape \\%1", std::string(1, c)));
        }
        // RE2 escapes ASCII punctuation only.
        const bool is_plain = c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0;
        emit(is_plain ? in_.substr(at_ + 1, 1) : in_.substr(at_, 2), 2, Last::Item);
        return {};
    }

    Result<void> octal() {
        size_t count = 1;
        int value = 0;
        while (count < 3 && isOctal(peek(1 + count))) {
            value = value * 8 + (peek(1 + count) - '0');
            ++count;
        }
        constexpr std::string_view kHex = "0123456789abcdef";
        const auto byte = static_cast<unsigned>(value);
        const std::string text = std::string("\\x") + kHex[byte >> 4U] + kHex[byte & 15U];
        emit(text, 1 + count, Last::Item);
        return {};
    }

    Result<void> characterClass() {
        emit("[", 1, Last::Item);
        if (peek(0) == '^') {
            emit("^", 1, Last::Item);
        }
        bool is_first = true;
        while (true) {
            const char c = peek(0);
            if (at_ >= in_.size() || c == '\0') {
                return invalid(said("a character class is not closed"));
            }
            if (c == ']' && !is_first) {
                emit("]", 1, Last::Item);
                return {};
            }
            if (c == '\\') {
                ENGINE_TRY(escape(true));
            } else if (c == '[') {
                // In RE2 "[:" would open a POSIX class, which Python does not have.
                emit("\\[", 1, Last::Item);
            } else if (c == ']') {
                emit("\\]", 1, Last::Item);
            } else {
                emit(in_.substr(at_, 1), 1, Last::Item);
            }
            is_first = false;
        }
    }

    Result<void> openGroup() {
        if (depth_ >= kMaxDepth) {
            return unsupported(said("groups nested deeper than %1", kMaxDepth));
        }
        if (peek(1) != '?') {
            // Nothing reads the groups of a pattern; without captures matching is cheaper.
            ++depth_;
            emit("(?:", 1, Last::Nothing);
            return {};
        }
        struct Refused {
            std::string_view text;
            Phrase name;
        };
        static constexpr Refused kRefused[] = {
            {"(?P=", phrase("a back-reference ((?P=name))")},
            {"(?>", phrase("an atomic group")},
            {"(?(", phrase("a conditional group")},
        };
        for (const Refused& refused : kRefused) {
            if (has(refused.text)) {
                return unsupported(refused.name);
            }
        }
        for (const std::string_view look : {"(?=", "(?!", "(?<=", "(?<!"}) {
            if (has(look)) {
                ++depth_;
                has_look_around_ = true;
                emit(look, look.size(), Last::Nothing);
                return {};
            }
        }
        if (has("(?:")) {
            ++depth_;
            emit("(?:", 3, Last::Nothing);
            return {};
        }
        if (has("(?#")) {
            const size_t end = in_.find(')', at_);
            if (end == std::string_view::npos) {
                return invalid(said("a comment is not closed"));
            }
            at_ = end + 1;
            return {};
        }
        if (has("(?P<")) {
            return namedGroup();
        }
        return flags();
    }

    Result<void> namedGroup() {
        size_t i = at_ + 4;
        const size_t begin = i;
        while (i < in_.size() && (isLetter(in_[i]) || isDigit(in_[i]) || in_[i] == '_')) {
            ++i;
        }
        if (i == begin || isDigit(in_[begin]) || i >= in_.size() || in_[i] != '>') {
            return invalid(said("a bad group name"));
        }
        ++depth_;
        emit("(?:", i + 1 - at_, Last::Nothing);
        return {};
    }

    /// (?i) at the very start, (?i:...) and (?-i:...) anywhere.
    Result<void> flags() {
        size_t i = at_ + 2;
        std::string kept;
        bool is_off = false;
        while (i < in_.size() && in_[i] != ')' && in_[i] != ':') {
            const char c = in_[i++];
            if (c == 'i' || c == 'm' || c == 's' || (c == '-' && !is_off)) {
                is_off = is_off || c == '-';
                kept += c;
            } else if (c == 'x') {
                return unsupported(said("verbose mode ((?x))"));
            } else if (c != 'a' && c != 'u') {
                return invalid(said("an unknown group type"));
            }
        }
        if (i >= in_.size()) {
            return invalid(said("a group is not closed"));
        }
        if (!kept.empty() && kept.back() == '-') {
            return invalid(said("a missing flag"));
        }
        if (in_[i] == ':') {
            ++depth_;
            emit("(?" + kept + ":", i + 1 - at_, Last::Nothing);
            return {};
        }
        if (at_ != 0 || is_off || !allow_global_flags_) {
            return invalid(said("global flags that do not stand at the start"));
        }
        if (kept.empty()) {
            at_ = i + 1;
            return {};
        }
        emit("(?" + kept + ")", i + 1 - at_, Last::Nothing);
        return {};
    }

    std::string_view in_;
    bool allow_global_flags_ = false;
    std::string out_;
    size_t at_ = 0;
    int depth_ = 0;
    bool has_look_around_ = false;
    Last last_ = Last::Nothing;
};

} // namespace

Result<TranslatedPattern> translatePythonPattern(std::string_view pattern,
                                                 bool allow_global_flags) {
    return Translator(pattern, allow_global_flags).run();
}

} // namespace engine
