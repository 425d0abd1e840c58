// SPDX-License-Identifier: Apache-2.0
// Any bytes as a chat template with a conversation's variables: a text or an error that says
// something, within the budget of steps and bytes.
#include "engine/text/jinja_budget.h"
#include "tests/fuzz/require.h"

#include <limits>

using engine::jinja::Budget;
using engine::jinja::Value;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string kLong(size_t{1} << 16, 'a');
    const Value message = Value::map({{"role", Value::of(std::string("user"))},
                                      {"content", Value::of(std::string("H\xc3\xa4 <b> "))}});
    const std::map<std::string, Value> variables = {
        {"messages", Value::list({message, message})},
        {"add_generation_prompt", Value::of(true)},
        {"tools", Value::none()},
        {"x", Value::of(kLong)},
        {"low", Value::of(std::numeric_limits<int64_t>::min())},
        {"high", Value::of(std::numeric_limits<int64_t>::max())},
        {"bos_token", Value::of(std::string("<bos>"))}};
    engine::jinja::Cost cost;
    const auto written =
        engine::jinja::render({reinterpret_cast<const char*>(data), size}, variables, &cost);
    require(written.has_value() || !written.error().message.empty());
    require(cost.steps <= 2 * Budget::kMostSteps + 1 && cost.bytes <= Budget::kMostBytes);
    return 0;
}
