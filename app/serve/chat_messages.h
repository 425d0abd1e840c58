// SPDX-License-Identifier: Apache-2.0
// The messages of a chat request: roles, texts, pictures and sounds.
#pragma once

#include "app/serve/api_request.h"
#include "engine/base/json/tree.h"

#include <optional>

namespace serve {

/// Fills the messages and media of `out` from the member "messages". Errors: 400.
std::optional<ApiError> readMessages(const engine::Json& body, ApiRequest& out);

} // namespace serve
