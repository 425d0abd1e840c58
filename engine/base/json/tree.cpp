// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/tree.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace engine {

namespace {

/// Decimal exponent of a literal's first digit that is not 0 ("0.05" -> -2, "12e3" -> 4): far from
/// the range of a double, its sign says on which side.
int64_t magnitude(std::string_view literal) {
    constexpr int64_t kFar = 1'000'000'000;
    const size_t exponent_at = std::min(literal.find_first_of("eE"), literal.size());
    const std::string_view digits = literal.substr(0, exponent_at);
    int64_t exponent = 0;
    if (exponent_at < literal.size()) {
        std::string_view written = literal.substr(exponent_at + 1);
        const bool is_negative = written.starts_with('-');
        written.remove_prefix(is_negative || written.starts_with('+') ? 1 : 0);
        const auto read =
            std::from_chars(written.data(), written.data() + written.size(), exponent);
        exponent = read.ec == std::errc() ? std::min(exponent, kFar) : kFar;
        exponent = is_negative ? -exponent : exponent;
    }
    const size_t first = std::min(digits.find_first_of("123456789"), digits.size());
    const size_t point = std::min(digits.find('.'), digits.size());
    const auto before = static_cast<int64_t>(point) - static_cast<int64_t>(first);
    return exponent + (first < point ? before - 1 : before);
}

} // namespace

const Json* Json::find(std::string_view key) const {
    for (const JsonMember& member : members) {
        if (member.key == key) {
            return &member.value;
        }
    }
    return nullptr;
}

std::string textOf(const Json* value) {
    return value != nullptr && value->is(Json::Kind::String) ? value->text : std::string();
}

std::string textOf(const Json& object, std::string_view key) {
    return textOf(object.find(key));
}

std::optional<int64_t> Json::integer() const {
    int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    const bool is_whole = kind == Kind::Number && read.ec == std::errc() && read.ptr == end;
    return is_whole ? std::optional<int64_t>(value) : std::nullopt;
}

std::optional<double> Json::number() const {
    if (kind != Kind::Number) {
        return std::nullopt;
    }
    double value = 0.0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec == std::errc::result_out_of_range) {
        return magnitude(text) < 0 ? std::optional<double>(0.0) : std::nullopt;
    }
    return read.ec == std::errc() && std::isfinite(value) ? std::optional<double>(value)
                                                          : std::nullopt;
}

Phrase Json::kindName() const {
    switch (kind) {
    case Kind::Null:
        return phrase("null");
    case Kind::Bool:
        return phrase("a boolean");
    case Kind::Number:
        return phrase("a number");
    case Kind::String:
        return phrase("a string");
    case Kind::Array:
        return phrase("a list");
    case Kind::Object:
        return phrase("an object");
    }
    return phrase("a value");
}

JsonPosition JsonTreeBuilder::position() {
    return has_positions_ ? cursor_.at(offset) : JsonPosition{};
}

Json& JsonTreeBuilder::add(Json::Kind kind) {
    Json* value = &root_;
    if (!open_.empty() && open_.back()->is(Json::Kind::Array)) {
        value = &open_.back()->items.emplace_back();
    } else if (!open_.empty()) {
        value = &open_.back()->members.emplace_back().value;
        open_.back()->members.back().key = key_;
        open_.back()->members.back().key_at = key_at_;
    }
    value->kind = kind;
    value->at = position();
    return *value;
}

bool JsonTreeBuilder::onObjectBegin() {
    open_.push_back(&add(Json::Kind::Object));
    return true;
}

bool JsonTreeBuilder::onObjectEnd() {
    open_.pop_back();
    return true;
}

bool JsonTreeBuilder::onArrayBegin() {
    open_.push_back(&add(Json::Kind::Array));
    return true;
}

bool JsonTreeBuilder::onArrayEnd() {
    open_.pop_back();
    return true;
}

bool JsonTreeBuilder::onKey(std::string_view key) {
    key_.assign(key);
    key_at_ = position();
    return true;
}

bool JsonTreeBuilder::onString(std::string_view value) {
    add(Json::Kind::String).text.assign(value);
    return true;
}

bool JsonTreeBuilder::onNumber(std::string_view literal) {
    add(Json::Kind::Number).text.assign(literal);
    return true;
}

bool JsonTreeBuilder::onBool(bool value) {
    add(Json::Kind::Bool).boolean = value;
    return true;
}

bool JsonTreeBuilder::onNull() {
    add(Json::Kind::Null);
    return true;
}

JsonOutcome readJsonTree(std::string_view text, const JsonLimits& limits, Json& out) {
    JsonLimits tree_limits = limits;
    tree_limits.max_depth = std::min(limits.max_depth, kDeepestJsonTree);
    tree_limits.max_values = std::min(limits.max_values, kMostJsonTreeValues);
    tree_limits.are_names_unique = true;
    JsonTreeBuilder builder(out, text);
    return readJson(text, tree_limits, builder);
}

Result<Json>
parseJson(std::string_view text, std::string_view file_name, const JsonLimits& limits) {
    Json tree;
    const JsonOutcome outcome = readJsonTree(text, limits, tree);
    if (outcome.stop != JsonStop::Done) {
        return jsonError(outcome, file_name);
    }
    return tree;
}

} // namespace engine
