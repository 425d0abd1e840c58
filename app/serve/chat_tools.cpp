// SPDX-License-Identifier: Apache-2.0
#include "app/serve/chat_tools.h"

#include "app/serve/api_fields.h"
#include "engine/base/json/text.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace serve {

using engine::Json;

namespace {

using ToolOutcome = std::optional<ApiError>;

constexpr size_t kLongestName = 64;

std::string itemOf(std::string_view list, size_t index) {
    return std::string(list) + "[" + std::to_string(index) + "]";
}

bool isName(const Json* name) {
    constexpr std::string_view kSigns = "_-.";
    return name != nullptr && name->is(Json::Kind::String) && !name->text.empty() &&
           name->text.size() <= kLongestName &&
           std::all_of(name->text.begin(), name->text.end(), [&](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      kSigns.find(c) != std::string_view::npos;
           });
}

ToolOutcome nameError(const std::string& label) {
    return wrongMember(label + ".function.name", "expected a name of 1 to " +
                                                     std::to_string(kLongestName) +
                                                     " letters, digits, '_', '-' and '.'");
}

/// The object "function" of {"type": "function", "function": {...}}; nullptr with `wrong` set.
const Json* functionIn(const Json& item, const std::string& label, ToolOutcome& wrong) {
    const Json* type = given(item, "type");
    const Json* function = given(item, "function");
    if ((type != nullptr && !type->isString("function")) || function == nullptr ||
        !function->is(Json::Kind::Object)) {
        wrong = wrongMember(label, "expected {\"type\": \"function\", \"function\": {...}}");
        return nullptr;
    }
    return function;
}

ToolOutcome readTool(const Json& item, const std::string& label, ApiRequest& out) {
    ToolOutcome wrong;
    const Json* function = functionIn(item, label, wrong);
    if (function == nullptr) {
        return wrong;
    }
    if (!isName(given(*function, "name"))) {
        return nameError(label);
    }
    engine::Tool tool;
    tool.name = given(*function, "name")->text;
    for (const engine::Tool& other : out.generate.tools) {
        if (other.name == tool.name) {
            return wrongMember(label + ".function.name",
                               "expected a name of its own: an earlier tool has it");
        }
    }
    if (const Json* description = given(*function, "description")) {
        if (!description->is(Json::Kind::String)) {
            return wrongMember(label + ".function.description", "expected a string");
        }
        tool.description = description->text;
    }
    if (const Json* parameters = given(*function, "parameters")) {
        if (!parameters->is(Json::Kind::Object)) {
            return wrongMember(label + ".function.parameters", "expected a JSON schema, an object");
        }
        tool.parameters = engine::jsonText(*parameters);
    }
    out.generate.tools.push_back(std::move(tool));
    return std::nullopt;
}

} // namespace

ToolOutcome readTools(const Json& body, ApiRequest& out) {
    const Json* choice = given(body, "tool_choice");
    if (choice != nullptr && !choice->isString("none") && !choice->isString("auto")) {
        return wrongMember("tool_choice", "expected \"auto\" or \"none\": the model decides "
                                          "whether it asks for a tool, and for which");
    }
    const Json* parallel = given(body, "parallel_tool_calls");
    if (parallel != nullptr && !parallel->is(Json::Kind::Bool)) {
        return wrongMember("parallel_tool_calls", "expected true or false");
    }
    out.is_one_call = parallel != nullptr && !parallel->boolean;
    const Json* tools = given(body, "tools");
    if (tools == nullptr || (choice != nullptr && choice->isString("none"))) {
        return std::nullopt;
    }
    if (!tools->is(Json::Kind::Array) || tools->items.size() > kMostTools) {
        return wrongMember("tools",
                           "expected a list of at most " + std::to_string(kMostTools) + " tools");
    }
    for (size_t i = 0; i < tools->items.size(); ++i) {
        if (ToolOutcome wrong = readTool(tools->items[i], itemOf("tools", i), out)) {
            return wrong;
        }
    }
    return std::nullopt;
}

ToolOutcome readCalls(const Json& message, const std::string& label, engine::Message& out) {
    const Json* calls = given(message, "tool_calls");
    if (calls == nullptr) {
        return std::nullopt;
    }
    const std::string list = label + ".tool_calls";
    if (!calls->is(Json::Kind::Array)) {
        return wrongMember(list, "expected a list of calls");
    }
    // What the model said stands there for good: names and arguments are taken as they are, also
    // where no tool could be called with them.
    for (size_t i = 0; i < calls->items.size(); ++i) {
        const std::string place = itemOf(list, i);
        ToolOutcome wrong;
        const Json* function = functionIn(calls->items[i], place, wrong);
        if (function == nullptr) {
            return wrong;
        }
        const Json* id = given(calls->items[i], "id");
        if (id == nullptr || !id->is(Json::Kind::String)) {
            return wrongMember(place + ".id", "expected a string");
        }
        const Json* name = given(*function, "name");
        if (name == nullptr || !name->is(Json::Kind::String)) {
            return nameError(place);
        }
        const Json* arguments = given(*function, "arguments");
        engine::ToolCall call{id->text, name->text, {}};
        if (arguments != nullptr) { // some clients send the object itself
            call.arguments =
                arguments->is(Json::Kind::String) ? arguments->text : engine::jsonText(*arguments);
        }
        out.calls.push_back(std::move(call));
    }
    return std::nullopt;
}

} // namespace serve
