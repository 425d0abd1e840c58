// SPDX-License-Identifier: Apache-2.0
// Builds the tree with an explicit stack; depth is bounded by the reader.
#include "engine/lora/json_tree.h"

#include "engine/base/json/events.h"

namespace engine {

namespace {

class TreeBuilder final : public JsonHandler {
public:
    JsonNode root;

    bool onObjectBegin() override { return open(JsonNode::Kind::Object); }
    bool onObjectEnd() override { return close(); }
    bool onArrayBegin() override { return open(JsonNode::Kind::Array); }
    bool onArrayEnd() override { return close(); }
    bool onKey(std::string_view key) override {
        path_.back()->names.emplace_back(key);
        return true;
    }
    bool onString(std::string_view value) override {
        JsonNode* node = add(JsonNode::Kind::String);
        if (node == nullptr) {
            return false;
        }
        node->text = value;
        return true;
    }
    bool onNumber(std::string_view literal) override {
        JsonNode* node = add(JsonNode::Kind::Number);
        if (node == nullptr) {
            return false;
        }
        node->text = literal;
        return true;
    }
    bool onBool(bool value) override {
        JsonNode* node = add(JsonNode::Kind::Bool);
        if (node == nullptr) {
            return false;
        }
        node->boolean = value;
        return true;
    }
    bool onNull() override { return add(JsonNode::Kind::Null) != nullptr; }

private:
    JsonNode* add(JsonNode::Kind kind) {
        if (++count_ > kMaxJsonNodes) {
            return nullptr;
        }
        JsonNode* node = &root;
        if (!path_.empty()) {
            node = &path_.back()->items.emplace_back();
        }
        node->kind = kind;
        return node;
    }
    bool open(JsonNode::Kind kind) {
        JsonNode* node = add(kind);
        if (node == nullptr) {
            return false;
        }
        // Only the last element of a container is ever open, so these addresses stay valid.
        path_.push_back(node);
        return true;
    }
    bool close() {
        path_.pop_back();
        return true;
    }

    std::vector<JsonNode*> path_;
    size_t count_ = 0;
};

} // namespace

std::string_view JsonNode::kindName() const {
    switch (kind) {
    case Kind::Null:
        return "null";
    case Kind::Bool:
        return "a boolean";
    case Kind::Number:
        return "a number";
    case Kind::String:
        return "a string";
    case Kind::Array:
        return "a list";
    case Kind::Object:
        return "an object";
    }
    return "a value";
}

Result<JsonNode> parseJsonTree(std::string_view text, std::string_view file_name) {
    ENGINE_TRY(checkJson(text, file_name));
    TreeBuilder builder;
    const JsonOutcome outcome = readJson(text, JsonLimits{}, builder);
    if (outcome.stop != JsonStop::Done) {
        return Error{ErrorCode::InvalidFile,
                     std::string(file_name) + ": holds more than " + std::to_string(kMaxJsonNodes) +
                         " values; adapter configurations are far smaller",
                     {{"file", std::string(file_name)}}};
    }
    return std::move(builder.root);
}

} // namespace engine
