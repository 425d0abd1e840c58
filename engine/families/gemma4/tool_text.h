// SPDX-License-Identifier: Apache-2.0
// Tools in Gemma 4's spelling: what a model is told of them, its calls, and their results. Follows
// the July 2026 revision of Google's templates. Names and values are people's text: no control
// token counts in them.
#pragma once

#include "engine/api/chat.h"
#include "engine/base/result.h"
#include "engine/text/segment_writer.h"

#include <span>
#include <string>
#include <string_view>

namespace engine {

/// `<|tool>declaration:NAME{...}<tool|>`. Of the parameters' schema the format has descriptions,
/// types, enumerations of strings, items, properties and what is required; references within the
/// schema are followed, of alternatives the first is taken, the rest is left out.
/// A schema within itself has no properties there.
/// Errors: InvalidRequest (parameters that are no JSON object, or are too large).
Result<void> writeToolDeclaration(const Tool& tool, SegmentWriter& out);

/// `<|tool_call>call:NAME{...}<tool_call|>`. Arguments that are no JSON object stand there as one
/// quoted value, as the model said them; empty ones count as {}.
void writeToolCall(const ToolCall& call, SegmentWriter& out);

/// `<|tool_response>response:NAME{value:...}<tool_response|>`.
void writeToolResult(std::string_view name, std::string_view text, SegmentWriter& out);

/// What a model wrote between `<|tool_call>` and `<tool_call|>`: "call:NAME{key:value,...}", with
/// kToolQuote for the token `<|"|>`. What
/// is cut short or odd is read as far as it goes; `arguments` is always a JSON object. Bare words
/// are numbers, true, false or null where they read as such and the schema of that tool does not
/// want a string, else strings. The id stays empty.
ToolCall readToolCall(std::string_view written, std::span<const Tool> tools);

} // namespace engine
