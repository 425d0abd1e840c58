// SPDX-License-Identifier: Apache-2.0
// The body of a request, as OpenAI's clients write it, as a checked value. What a request may ask
// is honoured, ignored or refused by name; nothing that it names is fetched or opened.
#pragma once

#include "engine/api/chat.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace serve {

/// A refusal in OpenAI's shape.
struct ApiError {
    int status = 400;
    std::string type = "invalid_request_error";
    std::string code;  ///< Empty: null.
    std::string param; ///< The member that is wrong: "messages[0].content"; empty: null.
    std::string message;
};

/// A picture or a sound that came with a request.
struct Medium {
    std::string label; ///< Where it stands: "messages[0].content[1]".
    std::string bytes;
};

struct ApiRequest {
    enum class Kind { Chat = 1, Completion };
    Kind kind = Kind::Chat;
    std::string model;
    bool is_streamed = false;
    bool includes_usage = false; ///< At the end of a stream.
    /// The text of a medium's part is its label.
    engine::GenerateRequest generate;
    std::vector<std::string> stops;
    std::vector<Medium> media;
    bool is_one_call = false; ///< Only the first of several tool calls is wanted.
};

inline constexpr size_t kMostStops = 16;
inline constexpr size_t kMostMedia = 64;
inline constexpr int64_t kMostLogprobs = 20;
inline constexpr size_t kMostTools = 128;

/// Errors: 400 with the member that is wrong.
std::optional<ApiError> readChatRequest(std::string_view body, ApiRequest& out);
std::optional<ApiError> readCompletionRequest(std::string_view body, ApiRequest& out);

} // namespace serve
