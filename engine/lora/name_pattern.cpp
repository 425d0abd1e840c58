// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/name_pattern.h"

#include <algorithm>
#include <new>
#include <vector>

namespace engine {

namespace {

constexpr std::string_view kMatchedFile = "adapter_config.json";

/// The work allowed for one name, all patterns of a file together: about the bytes that PCRE2
/// touches at most.
constexpr size_t kWorkPerName = 200'000'000;
/// Every pattern may take these many steps: an alternation of dozens of names, tried everywhere.
constexpr size_t kLeastSteps = 10'000;
constexpr uint32_t kMaxDepth = 50'000;
constexpr uint32_t kMaxHeapKib = uint32_t{16} << 10;

bool isDecimal(char c) {
    return c >= '0' && c <= '9';
}
bool isHexDigit(char c) {
    return isDecimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool isAsciiLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Rewrites Python's syntax into PCRE2's: a whitelist of what starts with a backslash or with "(?".
/// What is wrong in both alike is left for PCRE2 to find.
class PythonSyntax {
public:
    explicit PythonSyntax(std::string_view pattern) : in_(pattern) {}

    Result<std::string> translate() {
        while (at_ < in_.size()) {
            ENGINE_TRY(item());
        }
        if (ignores_case_ && !is_ascii_) {
            return unsupported(said("letters outside of ASCII together with (?i)"));
        }
        return std::move(out_);
    }

private:
    static Error invalid(const Sentence& what) { return Error{ErrorCode::InvalidFile, what}; }
    static Error unsupported(const Sentence& what) { return Error{ErrorCode::Unsupported, what}; }

    [[nodiscard]] char peek(size_t ahead) const {
        return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0';
    }
    void emit(std::string_view text, size_t consumed) {
        out_ += text;
        at_ = std::min(at_ + consumed, in_.size());
    }
    void copy(size_t count) { emit(in_.substr(at_, count), count); }

    Result<void> item() {
        switch (in_[at_]) {
        case '\\':
            return escape(false);
        case '[':
            return characterClass();
        case '(':
            return openGroup();
        case ')':
            emit(ends_.empty() ? ")" : ends_.back(), 1);
            if (!ends_.empty()) {
                ends_.pop_back();
            }
            return {};
        case '{':
            brace();
            return {};
        default:
            is_ascii_ = is_ascii_ && static_cast<unsigned char>(in_[at_]) < 0x80;
            copy(1);
            return {};
        }
    }

    /// {,n} counts from 0 in Python alone; a brace that begins no count is a literal.
    void brace() {
        const size_t end = in_.find_first_not_of("0123456789", at_ + 1);
        const bool has_comma = end < in_.size() && in_[end] == ',';
        const size_t close = has_comma ? in_.find_first_not_of("0123456789", end + 1) : end;
        const bool is_count = close < in_.size() && in_[close] == '}' && close > at_ + 1;
        emit(!is_count ? "\\{" : end == at_ + 1 ? "{0" : "{", 1);
    }

    Result<void> escape(bool is_in_class) {
        constexpr std::string_view kAlike = "dDwWsSnrtfab";
        constexpr std::string_view kPlaces = "ABZz";
        const char c = peek(1);
        const std::string letter(1, c);
        if (c == 'x') {
            if (!isHexDigit(peek(2)) || !isHexDigit(peek(3))) {
                return invalid(said("an incomplete \\x escape"));
            }
            copy(4);
        } else if (c == 'v') {
            emit("\\x0b", 2);
        } else if (c == 'u' || c == 'U' || c == 'N') {
            return unsupported(said("a Unicode escape (\\%1)", letter));
        } else if (isDecimal(c) && c != '0' && isDecimal(peek(2))) {
            return unsupported(said("an escape of several digits (\\%1)", letter + peek(2)));
        } else if (kPlaces.find(c) != std::string_view::npos) {
            if (is_in_class) {
                return invalid(said("the escape \\%1 inside a class", letter));
            }
            emit(c == 'Z' ? "\\z" : in_.substr(at_, 2), 2);
        } else if (isAsciiLetter(c) && kAlike.find(c) == std::string_view::npos) {
            return invalid(said("the unknown escape \\%1", letter));
        } else {
            copy(2);
        }
        return {};
    }

    /// PCRE2 would take "[:" inside of a class for the beginning of a POSIX class.
    Result<void> characterClass() {
        copy(peek(1) == '^' ? 2 : 1);
        for (bool is_first = true; at_ < in_.size(); is_first = false) {
            const char c = in_[at_];
            if (c == '\\') {
                ENGINE_TRY(escape(true));
                continue;
            }
            is_ascii_ = is_ascii_ && static_cast<unsigned char>(c) < 0x80;
            emit(c == '[' ? "\\[" : in_.substr(at_, 1), 1);
            if (c == ']' && !is_first) {
                break;
            }
        }
        return {};
    }

    Result<void> openGroup() {
        struct Opening {
            std::string_view python, pcre2, end = ")";
        };
        static constexpr Opening kOpenings[] = {
            {"(?:", "(?:"},
            {"(?=", "(?="},
            {"(?!", "(?!"},
            {"(?>", "(?>"},
            {"(?P<", "(?P<"},
            {"(?P=", "(?P="},
            {"(?(", "(?("},
            // Python wants alternatives of one width, PCRE2 only those of a group inside.
            {"(?<=", "(?<=(?:", "))"},
            {"(?<!", "(?<!(?:", "))"},
        };
        const std::string_view rest = in_.substr(at_);
        if (rest.starts_with("(?#")) {
            copy(std::min(rest.find(')'), rest.size()) + 1);
            return {};
        }
        if (rest.starts_with("(?(")) {
            if (!isAsciiLetter(peek(3)) && !isDecimal(peek(3)) && peek(3) != '_') {
                return invalid(said("an unknown group type"));
            }
            ends_.emplace_back(")"); // the group's; that of its condition follows
        }
        if (rest.starts_with("(*")) {
            return invalid(said("nothing to repeat"));
        }
        for (const Opening& opening : kOpenings) {
            if (rest.starts_with(opening.python)) {
                emit(opening.pcre2, opening.python.size());
                ends_.push_back(opening.end);
                return {};
            }
        }
        if (rest.starts_with("(?")) {
            return flags();
        }
        copy(1);
        ends_.emplace_back(")");
        return {};
    }

    /// (?i) at the very start, (?i:...) and (?-i:...) anywhere. The flags `a` and `u` mean nothing
    /// for names in ASCII.
    Result<void> flags() {
        std::string kept;
        size_t i = at_ + 2;
        for (; i < in_.size() && in_[i] != ')' && in_[i] != ':'; ++i) {
            const char c = in_[i];
            if (c == 'x') {
                return unsupported(said("verbose mode ((?x))"));
            }
            if (std::string_view("aimsu-").find(c) == std::string_view::npos) {
                return invalid(said("an unknown group type"));
            }
            kept += c == 'a' || c == 'u' ? "" : std::string(1, c);
            ignores_case_ = ignores_case_ || c == 'i';
        }
        if (i == in_.size()) {
            return invalid(said("a group is not closed"));
        }
        const bool is_group = in_[i] == ':';
        if (!is_group && (at_ != 0 || kept.find('-') != std::string::npos)) {
            return invalid(said("global flags that do not stand at the start"));
        }
        emit("(?" + kept + (is_group ? ":" : ")"), i + 1 - at_);
        if (is_group) {
            ends_.emplace_back(")");
        }
        return {};
    }

    std::string_view in_;
    size_t at_ = 0;
    std::string out_;
    std::vector<std::string_view> ends_; ///< What closes each open group.
    bool is_ascii_ = true;
    bool ignores_case_ = false;
};

/// Whether Python would take a pattern for which PCRE2 reports `problem`.
bool isLimit(int problem) {
    return problem == PCRE2_ERROR_QUANTIFIER_TOO_BIG ||
           problem == PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP ||
           problem == PCRE2_ERROR_PATTERN_TOO_LARGE || problem == PCRE2_ERROR_LOOKBEHIND_TOO_LONG ||
           problem == PCRE2_ERROR_SUBPATTERN_NAME_TOO_LONG;
}

std::string libraryMessage(int problem) {
    PCRE2_UCHAR text[256] = {};
    pcre2_get_error_message(problem, text, sizeof text);
    return reinterpret_cast<const char*>(text);
}

/// Number `what` of the compiled pattern.
size_t sizeIn(const pcre2_code* code, uint32_t what) {
    size_t value = 0;
    pcre2_pattern_info(code, what, &value);
    return value;
}

} // namespace

Error patternError(ErrorCode code, std::string_view member, const Sentence& what) {
    return Error{code,
                 said("%1: %2: %3", kMatchedFile, member, what),
                 {{"file", std::string(kMatchedFile)}, {"member", std::string(member)}}};
}

Result<NamePattern> NamePattern::compile(const PatternText& text, size_t share) {
    if (text.pattern.size() > kMaxPatternBytes) {
        return patternError(ErrorCode::InvalidFile, text.member,
                            said("the pattern has %1 bytes, at most %2 are read",
                                 text.pattern.size(), kMaxPatternBytes));
    }
    NamePattern made;
    made.member_ = text.member;
    made.shown_ = text.pattern.substr(0, 80);
    const auto refusal = [&](bool is_limit, const Sentence& what) {
        return patternError(
            is_limit ? ErrorCode::Unsupported : ErrorCode::InvalidFile, text.member,
            is_limit ? said("the pattern \"%1\" uses what is not implemented: %2; write it without "
                            "that, or name the modules in a list",
                            made.shown_, what)
                     : said("not a valid pattern: \"%1\" (%2)", made.shown_, what));
    };
    std::string python(text.before);
    python.append(text.pattern).append(text.after);
    const auto translated = PythonSyntax(python).translate();
    if (!translated) {
        return refusal(translated.error().code == ErrorCode::Unsupported,
                       translated.error().told());
    }
    int problem = 0;
    size_t offset = 0;
    made.code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated->data()),
                                   translated->size(), PCRE2_UTF, &problem, &offset, nullptr));
    if (made.code_ == nullptr) {
        return refusal(isLimit(problem), asItIs(libraryMessage(problem)));
    }
    made.work_ = kWorkPerName / std::max<size_t>(share, 1);
    return made;
}

size_t NamePattern::sizeBytes() const {
    return sizeIn(code_.get(), PCRE2_INFO_SIZE);
}

Result<bool> NamePattern::matchesWhole(std::string_view name) const {
    return match(name, PCRE2_ANCHORED | PCRE2_ENDANCHORED, nullptr);
}

Result<bool> NamePattern::matchesStart(std::string_view name, std::string_view* index) const {
    return match(name, PCRE2_ANCHORED, index);
}

Result<bool>
NamePattern::match(std::string_view name, uint32_t options, std::string_view* index) const {
    const std::unique_ptr<pcre2_match_data, Free> found(
        pcre2_match_data_create_from_pattern(code_.get(), nullptr));
    const std::unique_ptr<pcre2_match_context, Free> limits(pcre2_match_context_create(nullptr));
    if (found == nullptr || limits == nullptr) {
        throw std::bad_alloc();
    }
    // A step may copy a frame, walk the rest of the pattern and the rest of the name.
    const size_t step = sizeIn(code_.get(), PCRE2_INFO_FRAMESIZE) + sizeBytes() + name.size();
    pcre2_set_match_limit(limits.get(), static_cast<uint32_t>(std::max(work_ / step, kLeastSteps)));
    pcre2_set_depth_limit(limits.get(), kMaxDepth);
    pcre2_set_heap_limit(limits.get(), kMaxHeapKib);
    const int count = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(name.data()),
                                  name.size(), 0, options, found.get(), limits.get());
    if (count == PCRE2_ERROR_NOMATCH) {
        return false;
    }
    if (count < 0) {
        return patternError(ErrorCode::Unsupported, member_,
                            said("the pattern \"%1\" takes too much work on the module %2 (%3); "
                                 "write it with fewer repeats, or name the modules in a list",
                                 shown_, name.substr(0, 80), libraryMessage(count)));
    }
    if (index != nullptr) {
        *index = {};
        const int group =
            pcre2_substring_number_from_name(code_.get(), reinterpret_cast<PCRE2_SPTR>("idx"));
        const size_t* ends =
            pcre2_get_ovector_pointer(found.get()) + ptrdiff_t{2} * std::max(group, 0);
        if (group > 0 && ends[0] != PCRE2_UNSET) {
            *index = name.substr(ends[0], ends[1] - ends[0]);
        }
    }
    return true;
}

std::string patternLibraryVersion() {
    char text[64] = {}; // as much as PCRE2 asks for at least
    pcre2_config(PCRE2_CONFIG_VERSION, text);
    const std::string version(text);
    return version.substr(0, version.find(' '));
}

const void* patternLibrarySymbol() {
    return reinterpret_cast<const void*>(&pcre2_match_8);
}

} // namespace engine
