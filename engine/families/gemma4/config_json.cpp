// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gemma4/config_json.h"

#include "engine/base/json_sax.h"

#include <vector>

namespace engine {

using nlohmann::json;

namespace {

/// Takes a tree apart from its leaves: the destructor of an empty container allocates nothing.
void takeApart(json& value) { // NOLINT(misc-no-recursion): as deep as checkJson() allows
    if (auto* items = value.get_ptr<json::array_t*>(); items != nullptr) {
        for (json& item : *items) {
            takeApart(item);
        }
        items->clear();
    } else if (auto* members = value.get_ptr<json::object_t*>(); members != nullptr) {
        for (auto& member : *members) {
            takeApart(member.second);
        }
        members->clear();
    }
}

/// Puts events into a tree. Values are made in place, so that no part of the tree is ever owned by
/// a temporary.
class Builder : public JsonHandler {
public:
    explicit Builder(json& root) : root_(root) {}

    bool onObjectBegin() override {
        open_.push_back(&place());
        *open_.back() = json(json::value_t::object);
        return true;
    }
    bool onObjectEnd() override { return close(); }
    bool onArrayBegin() override {
        open_.push_back(&place());
        *open_.back() = json(json::value_t::array);
        return true;
    }
    bool onArrayEnd() override { return close(); }
    bool onKey(std::string_view key) override {
        key_ = key;
        return true;
    }
    bool onString(std::string_view value) override {
        place() = std::string(value);
        return true;
    }
    bool onNumber(std::string_view literal) override {
        json number = json::parse(literal, nullptr, /*allow_exceptions=*/false);
        const bool is_number = !number.is_discarded();
        place() = std::move(number);
        return is_number;
    }
    bool onBool(bool value) override {
        place() = value;
        return true;
    }
    bool onNull() override {
        place() = nullptr;
        return true;
    }

private:
    /// Where the next value goes.
    json& place() {
        if (open_.empty()) {
            return root_;
        }
        json& parent = *open_.back();
        if (auto* items = parent.get_ptr<json::array_t*>(); items != nullptr) {
            return items->emplace_back(nullptr);
        }
        return (*parent.get_ptr<json::object_t*>())[key_];
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    json& root_;
    /// An array grows only while it is the innermost open value, so these stay valid.
    std::vector<json*> open_;
    std::string key_;
};

} // namespace

ConfigJson::~ConfigJson() {
    takeApart(value_);
}

Result<ConfigJson> ConfigJson::parse(std::string_view text, const std::string& file) {
    ConfigJson tree;
    Builder builder(tree.value_);
    if (readJson(text, JsonLimits{.max_depth = 16, .max_string_bytes = 1 << 20}, builder).stop !=
        JsonStop::Done) {
        return Error{ErrorCode::InvalidFile,
                     file + ": holds a number that no double can hold",
                     {{"rule", "JsonNumber"}, {"file", file}}};
    }
    return tree;
}

ConfigJson ConfigJson::emptyObject() {
    ConfigJson tree;
    tree.value_ = json(json::value_t::object);
    return tree;
}

} // namespace engine
