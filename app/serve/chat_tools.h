// SPDX-License-Identifier: Apache-2.0
// Tools in the body of a request: what the model may ask for, and what it has asked for before.
// Belfry runs none of them: the client does, and sends what came of it.
#pragma once

#include "app/serve/api_request.h"
#include "engine/base/json/tree.h"

#include <optional>
#include <string>

namespace serve {

/// "tools", "tool_choice" and "parallel_tool_calls". Errors: 400 with the member that is wrong.
std::optional<ApiError> readTools(const engine::Json& body, ApiRequest& out);

/// "tool_calls" of a message of the assistant. `label`: "messages[2]". Errors: as above.
std::optional<ApiError>
readCalls(const engine::Json& message, const std::string& label, engine::Message& out);

} // namespace serve
