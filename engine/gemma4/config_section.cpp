// SPDX-License-Identifier: Apache-2.0
// Checked access to one JSON object of a configuration file.
#include "engine/gemma4/config_section.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace engine {

using nlohmann::json;

namespace {

constexpr size_t kMaxShownBytes = 60;
/// More entries than any list in these files has.
constexpr size_t kMaxListItems = 65536;

std::string shownNumber(double value) {
    return json(value).dump();
}

} // namespace

std::string shownJson(const json& value) {
    if (value.is_object()) {
        return "an object";
    }
    if (value.is_array()) {
        return "a list";
    }
    // Replaces what is not UTF-8 instead of throwing; scalars do not recurse.
    std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    if (text.size() > kMaxShownBytes) {
        text.resize(kMaxShownBytes);
        text += "...";
    }
    return text;
}

ConfigSection::ConfigSection(const json* object,
                             std::string file,
                             std::string path,
                             ConfigProblems& problems)
    : object_(object), file_(std::move(file)), path_(std::move(path)), problems_(&problems) {}

std::string ConfigSection::fullName(std::string_view key) const {
    std::string name = file_ + ": ";
    if (!path_.empty()) {
        name += path_;
        name += key.empty() ? "" : ".";
    }
    return name.append(key);
}

void ConfigSection::invalid(std::string_view rule,
                            std::string_view key,
                            const std::string& what) const {
    if (!problems_->error) {
        problems_->error =
            Error{ErrorCode::InvalidFile,
                  fullName(key) + " " + what,
                  {{"rule", std::string(rule)}, {"file", file_}, {"key", std::string(key)}}};
    }
}

void ConfigSection::unsupported(std::string_view key,
                                const std::string& what,
                                std::vector<std::pair<std::string, std::string>> details) const {
    if (!problems_->error) {
        problems_->error =
            Error{ErrorCode::Unsupported,
                  fullName(key) + " " + what,
                  {{"rule", "ConfigUnsupported"}, {"file", file_}, {"key", std::string(key)}}};
        std::move(details.begin(), details.end(), std::back_inserter(problems_->error->details));
    }
}

void ConfigSection::warn(std::string_view key, const std::string& what) const {
    problems_->warnings.push_back(fullName(key) + " " + what);
}

const json* ConfigSection::find(std::string_view key) const {
    if (object_ == nullptr || !object_->is_object()) {
        return nullptr;
    }
    const auto it = object_->find(std::string(key));
    return it == object_->end() || it->is_null() ? nullptr : &*it;
}

bool ConfigSection::has(std::string_view key) const {
    return find(key) != nullptr;
}

ConfigSection ConfigSection::section(std::string_view key) const {
    const json* value = find(key);
    if (value != nullptr && !value->is_object()) {
        invalid("ConfigType", key, "is " + shownJson(*value) + ", expected an object");
        value = nullptr;
    }
    const std::string path = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
    return {value, file_, path, *problems_};
}

std::optional<int64_t> ConfigSection::checkedInteger(const json& value,
                                                     std::string_view key,
                                                     int64_t min,
                                                     int64_t max) const {
    const std::string expected =
        ", expected a whole number from " + std::to_string(min) + " to " + std::to_string(max);
    if (!value.is_number_integer()) {
        invalid("ConfigType", key, "is " + shownJson(value) + expected);
        return std::nullopt;
    }
    const bool is_above_int64 =
        value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    const int64_t number = is_above_int64 ? 0 : value.get<int64_t>();
    if (is_above_int64 || number < min || number > max) {
        invalid("ConfigRange", key, "is " + shownJson(value) + expected);
        return std::nullopt;
    }
    return number;
}

int64_t ConfigSection::integer(std::string_view key,
                               int64_t min,
                               int64_t max,
                               std::optional<int64_t> fallback) const {
    const json* value = find(key);
    if (value == nullptr) {
        if (!fallback) {
            invalid("ConfigMissing", key,
                    "is missing, expected a whole number from " + std::to_string(min) + " to " +
                        std::to_string(max));
        }
        return fallback.value_or(min);
    }
    return checkedInteger(*value, key, min, max).value_or(fallback.value_or(min));
}

double ConfigSection::number(std::string_view key, double min, double max, double fallback) const {
    const json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    const std::string expected =
        ", expected a number from " + shownNumber(min) + " to " + shownNumber(max);
    if (!value->is_number()) {
        invalid("ConfigType", key, "is " + shownJson(*value) + expected);
        return fallback;
    }
    const auto number = value->get<double>();
    if (!std::isfinite(number) || number < min || number > max) {
        invalid("ConfigRange", key, "is " + shownJson(*value) + expected);
        return fallback;
    }
    return number;
}

bool ConfigSection::boolean(std::string_view key, bool fallback) const {
    const json* value = find(key);
    if (value == nullptr) {
        return fallback;
    }
    if (!value->is_boolean()) {
        invalid("ConfigType", key, "is " + shownJson(*value) + ", expected true or false");
        return fallback;
    }
    return value->get<bool>();
}

std::string ConfigSection::text(std::string_view key, std::string_view fallback) const {
    const json* value = find(key);
    if (value == nullptr) {
        return std::string(fallback);
    }
    if (!value->is_string()) {
        invalid("ConfigType", key, "is " + shownJson(*value) + ", expected a text");
        return std::string(fallback);
    }
    return value->get<std::string>();
}

std::vector<int64_t> ConfigSection::integers(std::string_view key, int64_t min, int64_t max) const {
    const json* value = find(key);
    std::vector<int64_t> numbers;
    if (value == nullptr) {
        return numbers;
    }
    if (!value->is_array()) {
        if (const auto number = checkedInteger(*value, key, min, max)) {
            numbers.push_back(*number);
        }
        return numbers;
    }
    if (value->size() > kMaxListItems) {
        invalid("ConfigRange", key, "is a list of more than 65536 entries");
        return numbers;
    }
    for (const json& item : *value) {
        const auto number = checkedInteger(item, key, min, max);
        if (!number) {
            return {};
        }
        numbers.push_back(*number);
    }
    return numbers;
}

std::vector<std::string> ConfigSection::texts(std::string_view key, size_t max_items) const {
    const json* value = find(key);
    std::vector<std::string> found;
    if (value == nullptr) {
        return found;
    }
    if (!value->is_array()) {
        invalid("ConfigType", key, "is " + shownJson(*value) + ", expected a list of texts");
        return found;
    }
    if (value->size() > max_items) {
        invalid("ConfigRange", key,
                "is a list of " + std::to_string(value->size()) + " entries, expected at most " +
                    std::to_string(max_items));
        return found;
    }
    for (const json& item : *value) {
        if (!item.is_string()) {
            invalid("ConfigType", key, "holds " + shownJson(item) + ", expected only texts");
            return {};
        }
        found.push_back(item.get<std::string>());
    }
    return found;
}

} // namespace engine
