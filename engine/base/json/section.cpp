// SPDX-License-Identifier: Apache-2.0
// Checked access to one JSON object of a configuration file.
#include "engine/base/json/section.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace engine {

namespace {

constexpr size_t kMaxShownBytes = 60;
/// More entries than any list in these files has.
constexpr size_t kMaxListItems = 65536;

} // namespace

std::string shownNumber(double value) {
    return nlohmann::json(value).dump();
}

Sentence shownJson(const Json& value) {
    std::string text;
    switch (value.kind) {
    case Json::Kind::Object:
    case Json::Kind::Array:
    case Json::Kind::Null:
        return value.kindName();
    case Json::Kind::Bool:
        return asItIs(value.boolean ? "true" : "false");
    case Json::Kind::Number:
        text = value.text;
        break;
    case Json::Kind::String:
        text = nlohmann::json(value.text).dump(-1, ' ', /*ensure_ascii=*/true);
        break;
    }
    if (text.size() > kMaxShownBytes) {
        text.resize(kMaxShownBytes);
        text += "...";
    }
    return asItIs(std::move(text));
}

JsonSection::JsonSection(const Json* object,
                         std::string file,
                         std::string path,
                         JsonProblems& problems)
    : object_(object), file_(std::move(file)), path_(std::move(path)), problems_(&problems) {}

std::string JsonSection::fullName(std::string_view key) const {
    return file_ + ": " + memberName(key);
}

std::string JsonSection::memberName(std::string_view key) const {
    std::string name = path_;
    if (!path_.empty()) {
        name += key.empty() ? "" : ".";
    }
    return name.append(key);
}

void JsonSection::invalid(std::string_view rule, std::string_view key, const Sentence& what) const {
    if (!problems_->error) {
        problems_->error =
            Error{ErrorCode::InvalidFile,
                  said("%1 %2", fullName(key), what),
                  {{"rule", std::string(rule)}, {"file", file_}, {"key", std::string(key)}}};
    }
}

void JsonSection::unsupported(std::string_view key, const Sentence& what) const {
    unsupportedAs(key, said("%1 %2", fullName(key), what));
}

void JsonSection::unsupportedAs(std::string_view key, Sentence whole) const {
    if (!problems_->error) {
        problems_->error =
            Error{ErrorCode::Unsupported,
                  std::move(whole),
                  {{"rule", "ConfigUnsupported"}, {"file", file_}, {"key", std::string(key)}}};
    }
}

void JsonSection::warn(std::string_view key, const Sentence& what) const {
    problems_->warnings.push_back(said("%1 %2", fullName(key), what));
}

const Json* JsonSection::find(std::string_view key) const {
    const Json* value = object_ == nullptr ? nullptr : object_->find(key);
    return value == nullptr || value->is(Json::Kind::Null) ? nullptr : value;
}

bool JsonSection::has(std::string_view key) const {
    return find(key) != nullptr;
}

JsonSection JsonSection::section(std::string_view key) const {
    const Json* value = find(key);
    if (value != nullptr && !value->is(Json::Kind::Object)) {
        invalid("ConfigType", key, said("is %1, expected an object", shownJson(*value)));
        value = nullptr;
    }
    const std::string shown(key.substr(0, kMaxShownBytes)); // it may be a name of the file
    const std::string path = path_.empty() ? shown : path_ + "." + shown;
    return {value, file_, path, *problems_};
}

std::optional<int64_t> JsonSection::checkedInteger(const Json& value,
                                                   std::string_view key,
                                                   int64_t min,
                                                   int64_t max) const {
    const auto expected = [&] {
        return said("is %1, expected a whole number from %2 to %3", shownJson(value), min, max);
    };
    const bool is_whole =
        value.is(Json::Kind::Number) && value.text.find_first_of(".eE") == std::string::npos;
    if (!is_whole) {
        invalid("ConfigType", key, expected());
        return std::nullopt;
    }
    const std::optional<int64_t> number = value.integer();
    if (!number || *number < min || *number > max) {
        invalid("ConfigRange", key, expected());
        return std::nullopt;
    }
    return number;
}

int64_t JsonSection::integer(std::string_view key,
                             int64_t min,
                             int64_t max,
                             std::optional<int64_t> fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        if (!fallback) {
            invalid("ConfigMissing", key,
                    said("is missing, expected a whole number from %1 to %2", min, max));
        }
        return fallback.value_or(min);
    }
    return checkedInteger(*value, key, min, max).value_or(fallback.value_or(min));
}

double JsonSection::number(std::string_view key, double min, double max, double fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    const auto expected = [&] {
        return said("is %1, expected a number from %2 to %3", shownJson(*value), shownNumber(min),
                    shownNumber(max));
    };
    if (!value->is(Json::Kind::Number)) {
        invalid("ConfigType", key, expected());
        return fallback;
    }
    const std::optional<double> number = value->number();
    if (!number || *number < min || *number > max) {
        invalid("ConfigRange", key, expected());
        return fallback;
    }
    return *number;
}

bool JsonSection::boolean(std::string_view key, bool fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is(Json::Kind::Bool)) {
        invalid("ConfigType", key, said("is %1, expected true or false", shownJson(*value)));
        return fallback;
    }
    return value->boolean;
}

std::string JsonSection::text(std::string_view key, std::string_view fallback) const {
    const Json* value = find(key);
    if (value == nullptr) {
        return std::string(fallback);
    }
    if (!value->is(Json::Kind::String)) {
        invalid("ConfigType", key, said("is %1, expected a text", shownJson(*value)));
        return std::string(fallback);
    }
    return value->text;
}

std::vector<int64_t> JsonSection::integers(std::string_view key, int64_t min, int64_t max) const {
    const Json* value = find(key);
    std::vector<int64_t> numbers;
    if (value == nullptr) {
        return numbers;
    }
    if (!value->is(Json::Kind::Array)) {
        if (const auto number = checkedInteger(*value, key, min, max)) {
            numbers.push_back(*number);
        }
        return numbers;
    }
    if (value->items.size() > kMaxListItems) {
        invalid("ConfigRange", key, said("is a list of more than 65536 entries"));
        return numbers;
    }
    for (const Json& item : value->items) {
        const auto number = checkedInteger(item, key, min, max);
        if (!number) {
            return {};
        }
        numbers.push_back(*number);
    }
    return numbers;
}

std::vector<std::string> JsonSection::texts(std::string_view key, size_t max_items) const {
    const Json* value = find(key);
    std::vector<std::string> found;
    if (value == nullptr) {
        return found;
    }
    if (!value->is(Json::Kind::Array)) {
        invalid("ConfigType", key, said("is %1, expected a list of texts", shownJson(*value)));
        return found;
    }
    if (value->items.size() > max_items) {
        invalid(
            "ConfigRange", key,
            said("is a list of %1 entries, expected at most %2", value->items.size(), max_items));
        return found;
    }
    for (const Json& item : value->items) {
        if (!item.is(Json::Kind::String)) {
            invalid("ConfigType", key, said("holds %1, expected only texts", shownJson(item)));
            return {};
        }
        found.push_back(item.text);
    }
    return found;
}

} // namespace engine
