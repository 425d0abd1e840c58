// SPDX-License-Identifier: Apache-2.0
// What the engine says in prose, as a value: an English pattern with places %1 to %9 and what
// stands in them. The pattern is the code: engine/base/sentence_english.cpp fills it in English,
// ui/common/sentence_words.h in the languages of the window, by resources/translations/engine_*.ts.
// tests/house/tst_sentences.cpp collects the patterns from the sources and wants each translated.
#pragma once

#include "engine/api/device_id.h"
#include "engine/api/plan_part.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace engine {

/// Words without places that stand in a table: phrase("a PNG picture").
struct Phrase {
    const char* text = ""; ///< A literal.
};

consteval Phrase phrase(const char* literal) {
    return {literal};
}

struct Argument;

/// Empty, or a pattern with as many arguments as it has places. Made by said().
struct Sentence {
    Sentence() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a phrase is a sentence
    Sentence(Phrase words);

    [[nodiscard]] bool isEmpty() const { return pattern[0] == '\0'; }

    const char* pattern = ""; ///< A literal; "%1" stands for the first argument.
    std::vector<Argument> arguments;
};

/// An amount of memory: "4.38 GiB" in English.
struct ByteCount {
    uint64_t bytes = 0;
};
/// A time that was measured or estimated, in seconds: "3.1 ms", "1.2 s".
struct Duration {
    double seconds = 0;
};
/// A speed, in tokens or media per second, with as many digits as an estimate has.
struct Rate {
    double per_second = 0;
};
/// A weight format by its option, such as "nf4", which the window calls "4 bits (NF4)".
struct FormatName {
    std::string option;
};

/// What a place holds: a name or another text that is nobody's to translate, a number or a
/// quantity, a device, a format, a part of the plan, or words that are translated themselves.
struct Argument {
    // NOLINTBEGIN(google-explicit-constructor): said() takes them as they are
    Argument(std::string text) : value(std::move(text)) {}
    Argument(std::string_view text) : value(std::string(text)) {}
    Argument(const char* text) : value(std::string(text)) {}
    Argument(Phrase words) : value(Sentence(words)) {}
    Argument(Sentence words) : value(std::move(words)) {}
    Argument(double number) : value(number) {}
    Argument(ByteCount amount) : value(amount) {}
    Argument(Duration time) : value(time) {}
    Argument(Rate rate) : value(rate) {}
    Argument(DeviceId device) : value(device) {}
    Argument(FormatName format) : value(std::move(format)) {}
    Argument(PlanPart part) : value(std::move(part)) {}
    template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    Argument(T number)
        : value(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(number)) {}
    Argument(const Argument&);
    Argument(Argument&&) noexcept;
    Argument& operator=(const Argument&);
    Argument& operator=(Argument&&) noexcept;
    ~Argument();
    Argument(bool) = delete;
    Argument(char) = delete;
    // NOLINTEND(google-explicit-constructor)

    std::variant<std::string,
                 int64_t,
                 uint64_t,
                 double,
                 Sentence,
                 ByteCount,
                 Duration,
                 Rate,
                 DeviceId,
                 FormatName,
                 PlanPart>
        value;
};

inline Sentence::Sentence(Phrase words) : pattern(words.text) {}

/// A literal whose places are %1 to %Count, each of them at least once; others do not compile.
template <size_t Count>
struct SentencePattern {
    // NOLINTNEXTLINE(google-explicit-constructor): a literal is a pattern
    consteval SentencePattern(const char* literal) : text(literal) {
        bool is_used[10] = {};
        for (const char* at = literal; *at != '\0'; ++at) {
            if (at[0] == '%' && at[1] >= '1' && at[1] <= '9') {
                is_used[at[1] - '0'] = true;
            }
        }
        for (size_t i = 1; i < 10; ++i) {
            if (is_used[i] != (i <= Count)) {
                throw "the pattern has other places than there are arguments";
            }
        }
    }

    const char* text;
};

/// said("tensor %1 has %2 values, expected %3", name, found, expected).
template <typename... Args>
Sentence said(SentencePattern<sizeof...(Args)> pattern, Args&&... arguments) {
    Sentence sentence;
    sentence.pattern = pattern.text;
    sentence.arguments.reserve(sizeof...(Args));
    (sentence.arguments.emplace_back(std::forward<Args>(arguments)), ...);
    return sentence;
}

/// A text of the system, a library or a file, as it is.
inline Sentence asItIs(std::string text) {
    Sentence sentence;
    sentence.pattern = "%1";
    sentence.arguments.emplace_back(std::move(text));
    return sentence;
}

/// "a, b and 3 more": the first names of `count`.
inline Sentence listed(const std::vector<std::string>& names, size_t count) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return count > names.size() ? said("%1 and %2 more", std::move(text), count - names.size())
                                : asItIs(std::move(text));
}

} // namespace engine
