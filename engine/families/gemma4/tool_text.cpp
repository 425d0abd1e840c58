// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gemma4/tool_text.h"

#include "engine/base/json/text.h"
#include "engine/base/json/tree.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace engine {

namespace {

constexpr std::string_view kQuote = "<|\"|>";
constexpr int kMostReferences = 16;   ///< In a schema, one after the other.
constexpr size_t kMostMembers = 4096; ///< In a tool's parameters, references followed.

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
}

void quoted(std::string_view text, SegmentWriter& out) {
    out.control(kQuote);
    out.message(text);
    out.control(kQuote);
}

/// As Jinja's dictsort: whatever the case of the letters.
std::vector<const JsonMember*> sorted(const Json& object) {
    std::vector<const JsonMember*> members;
    for (const JsonMember& member : object.members) {
        members.push_back(&member);
    }
    std::stable_sort(members.begin(), members.end(),
                     [](const auto* a, const auto* b) { return upper(a->key) < upper(b->key); });
    return members;
}

/// Whole numbers as they were written, others as Python writes what it read.
std::string numberText(const Json& number) {
    const bool is_whole = number.text.find_first_of(".eE") == std::string::npos;
    const std::optional<double> value = is_whole ? std::nullopt : number.number();
    return value.has_value() ? fractionText(*value) : number.text;
}

/// A value as the template writes it. `has_quoted_keys`: in declarations, not in calls.
void writeValue(const Json& value, bool has_quoted_keys, SegmentWriter& out) {
    switch (value.kind) {
    case Json::Kind::Null:
        out.control("null");
        return;
    case Json::Kind::Bool:
        out.control(value.boolean ? "true" : "false");
        return;
    case Json::Kind::Number:
        out.control(numberText(value));
        return;
    case Json::Kind::String:
        quoted(value.text, out);
        return;
    case Json::Kind::Array:
        out.control("[");
        for (size_t i = 0; i < value.items.size(); ++i) {
            out.control(i > 0 ? "," : "");
            writeValue(value.items[i], has_quoted_keys, out);
        }
        out.control("]");
        return;
    case Json::Kind::Object:
        break;
    }
    out.control("{");
    const char* between = "";
    for (const JsonMember* member : sorted(value)) {
        out.control(std::exchange(between, ","));
        if (has_quoted_keys) {
            quoted(member->key, out);
        } else {
            out.message(member->key);
        }
        out.control(":");
        writeValue(member->value, has_quoted_keys, out);
    }
    out.control("}");
}

/// Writes the schema of a tool's parameters, member by member.
class SchemaWriter {
public:
    SchemaWriter(const Json& root, SegmentWriter& out) : root_(root), out_(out) {}

    void properties(const Json& object, int depth);
    void required(const Json& names);
    /// Not all was written: references may grow a small schema without end.
    [[nodiscard]] bool isTooLarge() const { return members_ > kMostMembers; }

private:
    void property(const JsonMember& member, int depth);
    void items(const Json& schema, int depth);
    /// `schema`, or what it refers to, or its first alternative that is not null.
    const Json& followed(const Json& schema) const;
    const Json* reference(std::string_view path) const;

    const Json& root_;
    SegmentWriter& out_;
    size_t members_ = 0;
    std::vector<const Json*> open_; ///< Schemas that are being written, one in the other.
};

const Json* SchemaWriter::reference(std::string_view path) const {
    const Json* at = &root_;
    if (!path.starts_with("#/")) {
        return nullptr;
    }
    path.remove_prefix(2);
    while (at != nullptr && !path.empty()) {
        const size_t end = std::min(path.find('/'), path.size());
        at = at->find(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return at;
}

bool isNull(const Json& schema) {
    const Json* type = schema.find("type");
    return type != nullptr && type->isString("null");
}

const Json* alternativesOf(const Json& schema) {
    for (const char* key : {"anyOf", "oneOf", "allOf"}) {
        if (const Json* list = schema.find(key); list != nullptr && !list->items.empty()) {
            return list;
        }
    }
    return nullptr;
}

const Json& SchemaWriter::followed(const Json& schema) const {
    const Json* at = &schema;
    for (int i = 0; i < kMostReferences; ++i) {
        const Json* next = nullptr;
        const Json* path = at->find("$ref");
        if (path != nullptr && path->is(Json::Kind::String)) {
            next = reference(path->text);
        } else if (const Json* list = alternativesOf(*at)) {
            const auto first = std::find_if(list->items.begin(), list->items.end(),
                                            [](const Json& one) { return !isNull(one); });
            next = first == list->items.end() ? nullptr : &*first;
        }
        if (next == nullptr) {
            break;
        }
        at = next;
    }
    return *at;
}

/// "string", "object"...; of several the first that is not null.
std::string typeOf(const Json& schema) {
    const Json* type = schema.find("type");
    if (type != nullptr && type->is(Json::Kind::Array)) {
        const auto first =
            std::find_if(type->items.begin(), type->items.end(), [](const Json& one) {
                return one.is(Json::Kind::String) && one.text != "null";
            });
        type = first == type->items.end() ? nullptr : &*first;
    }
    if (type != nullptr && type->is(Json::Kind::String)) {
        return type->text;
    }
    return schema.find("properties") != nullptr ? "object"
           : schema.find("items") != nullptr    ? "array"
                                                : "string";
}

bool mayBeNull(const Json& schema) {
    const Json* nullable = schema.find("nullable");
    if (nullable != nullptr && nullable->is(Json::Kind::Bool) && nullable->boolean) {
        return true;
    }
    const Json* type = schema.find("type");
    const Json* list = alternativesOf(schema);
    return (type != nullptr && type->is(Json::Kind::Array) &&
            std::any_of(type->items.begin(), type->items.end(),
                        [](const Json& one) { return one.isString("null"); })) ||
           (list != nullptr && std::any_of(list->items.begin(), list->items.end(), isNull));
}

/// Text that is not empty.
const std::string* filledTextOf(const Json& schema, std::string_view key) {
    const Json* text = schema.find(key);
    return text != nullptr && text->is(Json::Kind::String) && !text->text.empty() ? &text->text
                                                                                  : nullptr;
}

bool isFilledList(const Json* list) {
    return list != nullptr && list->is(Json::Kind::Array) && !list->items.empty();
}

void SchemaWriter::required(const Json& names) {
    out_.control("required:[");
    const char* between = "";
    for (const Json& name : names.items) {
        if (name.is(Json::Kind::String)) {
            out_.control(std::exchange(between, ","));
            quoted(name.text, out_);
        }
    }
    out_.control("]");
}

void SchemaWriter::properties(const Json& object, int depth) {
    members_ += object.members.size();
    const char* between = "";
    for (const JsonMember* member :
         isTooLarge() ? std::vector<const JsonMember*>() : sorted(object)) {
        if (member->value.is(Json::Kind::Object) && depth < kDeepestJsonTree && !isTooLarge()) {
            out_.control(std::exchange(between, ","));
            property(*member, depth + 1);
        }
    }
}

void SchemaWriter::items(const Json& schema, int depth) {
    out_.control("items:{");
    const char* between = "";
    for (const JsonMember* member : sorted(schema)) {
        const Json& value = member->value;
        if (value.is(Json::Kind::Null)) {
            continue;
        }
        out_.control(std::exchange(between, ","));
        if (member->key == "properties") {
            out_.control("properties:{");
            properties(value, depth + 1);
            out_.control("}");
        } else if (member->key == "required") {
            required(value);
        } else if (member->key == "type") {
            out_.control("type:");
            quoted(upper(typeOf(schema)), out_);
        } else {
            out_.message(member->key);
            out_.control(":");
            writeValue(value, true, out_);
        }
    }
    out_.control("}");
}

void SchemaWriter::property(const JsonMember& member, int depth) {
    const Json& schema = followed(member.value);
    const std::string type = upper(typeOf(schema));
    const char* between = "";
    const auto next = [&] { out_.control(std::exchange(between, ",")); };
    out_.message(member.key);
    out_.control(":{");
    const std::string* description = filledTextOf(member.value, "description");
    description = description != nullptr ? description : filledTextOf(schema, "description");
    if (description != nullptr) {
        next();
        out_.control("description:");
        quoted(*description, out_);
    }
    if (const Json* values = schema.find("enum"); type == "STRING" && isFilledList(values)) {
        next();
        out_.control("enum:");
        writeValue(*values, true, out_);
    }
    const Json* inner = schema.find("items");
    if (type == "ARRAY" && inner != nullptr && !inner->members.empty()) {
        next();
        items(followed(*inner), depth);
    }
    if (mayBeNull(member.value) || mayBeNull(schema)) {
        next();
        out_.control("nullable:true");
    }
    if (type == "OBJECT") {
        next();
        out_.control("properties:{");
        const bool is_open = std::find(open_.begin(), open_.end(), &schema) != open_.end();
        if (const Json* own = schema.find("properties"); own != nullptr && !is_open) {
            open_.push_back(&schema);
            properties(*own, depth);
            open_.pop_back();
        }
        out_.control("}");
        if (const Json* names = schema.find("required"); isFilledList(names)) {
            next();
            required(*names);
        }
    }
    next();
    out_.control("type:");
    quoted(type, out_);
    out_.control("}");
}

/// nullopt where the text is no JSON object.
std::optional<Json> objectOf(const std::string& text) {
    Json tree;
    JsonLimits limits;
    limits.max_depth = kDeepestJsonTree;
    limits.max_string_bytes = text.size();
    limits.max_values = kMostJsonTreeValues;
    limits.replaces_surrogates = true;
    const JsonOutcome outcome = readJsonTree(text, limits, tree);
    if (outcome.stop != JsonStop::Done || !tree.is(Json::Kind::Object)) {
        return std::nullopt;
    }
    return tree;
}

} // namespace

Result<void> writeToolDeclaration(const Tool& tool, SegmentWriter& out) {
    out.control("<|tool>declaration:");
    out.message(tool.name);
    out.control("{description:");
    quoted(tool.description, out);
    if (!tool.parameters.empty()) {
        const std::optional<Json> object = objectOf(tool.parameters);
        if (!object.has_value()) {
            return Error{ErrorCode::InvalidRequest,
                         said("%1 are no JSON object; expected one such as {\"city\": \"Paris\"}",
                              said("the parameters of the tool %1", tool.name))};
        }
        const Json& schema = *object;
        SchemaWriter writer(schema, out);
        out.control(",parameters:{");
        if (const Json* own = schema.find("properties"); own != nullptr && !own->members.empty()) {
            out.control("properties:{");
            writer.properties(*own, 0);
            out.control("},");
        }
        if (const Json* names = schema.find("required"); isFilledList(names)) {
            writer.required(*names);
            out.control(",");
        }
        // Without it the template leaves a brace open.
        out.control("type:");
        quoted("OBJECT", out);
        out.control("}");
        if (writer.isTooLarge()) {
            return Error{ErrorCode::InvalidRequest,
                         said("the parameters of the tool %1 have more than %2 members with all "
                              "references followed; describe fewer",
                              tool.name, kMostMembers)};
        }
    }
    out.control("}<tool|>");
    return {};
}

void writeToolCall(const ToolCall& call, SegmentWriter& out) {
    out.control("<|tool_call>call:");
    out.message(call.name);
    const std::optional<Json> arguments = objectOf(call.arguments);
    if (arguments.has_value() || call.arguments.empty()) {
        Json none;
        none.kind = Json::Kind::Object;
        writeValue(arguments.value_or(std::move(none)), false, out);
    } else {
        out.control("{");
        quoted(call.arguments, out);
        out.control("}");
    }
    out.control("<tool_call|>");
}

void writeToolResult(std::string_view name, std::string_view text, SegmentWriter& out) {
    out.control("<|tool_response>response:");
    out.message(name);
    out.control("{value:");
    quoted(text, out);
    out.control("}<tool_response|>");
}

} // namespace engine
