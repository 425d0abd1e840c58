// SPDX-License-Identifier: Apache-2.0
#include "app/serve/api_fields.h"

#include "engine/base/sentence_english.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace serve {

using engine::Json;

namespace {

/// "0.95", "2".
std::string plain(double value) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.12g", value);
    return text.data();
}

/// What was found, for a message: a number as written where it is short.
std::string found(const Json& value) {
    constexpr size_t kLongest = 32;
    if (value.is(Json::Kind::Number) && value.text.size() <= kLongest) {
        return value.text;
    }
    return engine::inEnglish(engine::Sentence(value.kindName()));
}

} // namespace

ApiError wrongMember(std::string param, const std::string& message) {
    ApiError refusal;
    refusal.message = param + ": " + message;
    refusal.param = std::move(param);
    return refusal;
}

const Json* given(const Json& object, std::string_view key) {
    const Json* value = object.find(key);
    return value == nullptr || value->is(Json::Kind::Null) ? nullptr : value;
}

const Json* Fields::find(std::string_view key) const {
    return isWrong() ? nullptr : given(object_, key);
}

void Fields::refuse(std::string param, const std::string& message) {
    if (!isWrong()) {
        error_ = wrongMember(std::move(param), message);
    }
}

std::optional<bool> Fields::boolean(std::string_view key) {
    const Json* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is(Json::Kind::Bool)) {
        refuse(std::string(key), "expected true or false, found " + found(*value));
        return std::nullopt;
    }
    return value->boolean;
}

std::optional<std::string> Fields::string(std::string_view key) {
    const Json* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is(Json::Kind::String)) {
        refuse(std::string(key), "expected a string, found " + found(*value));
        return std::nullopt;
    }
    return value->text;
}

std::optional<double> Fields::number(std::string_view key, double least, double most) {
    const Json* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const std::optional<double> number = value->number();
    // Written so that NaN fails.
    if (!(number.has_value() && *number >= least && *number <= most)) {
        refuse(std::string(key), "expected a number from " + plain(least) + " to " + plain(most) +
                                     ", found " + found(*value));
        return std::nullopt;
    }
    return number;
}

std::optional<int64_t> Fields::integer(std::string_view key, int64_t least, int64_t most) {
    const Json* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    std::optional<int64_t> number = value->integer();
    if (!number.has_value()) { // some clients write 16.0
        const std::optional<double> real = value->number();
        constexpr double kExact = 9007199254740992.0; // 2^53
        if (real.has_value() && std::abs(*real) <= kExact && *real == std::floor(*real)) {
            number = static_cast<int64_t>(*real);
        }
    }
    if (!number.has_value() || *number < least || *number > most) {
        refuse(std::string(key), "expected a whole number from " + std::to_string(least) + " to " +
                                     std::to_string(most) + ", found " + found(*value));
        return std::nullopt;
    }
    return number;
}

} // namespace serve
