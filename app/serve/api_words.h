// SPDX-License-Identifier: Apache-2.0
// What goes back to OpenAI's clients, as the texts of bodies and of events: the member names and
// shapes of their API (chat.completion, chat.completion.chunk, text_completion, list), thinking as
// reasoning_content.
#pragma once

#include "app/serve/api_request.h"
#include "app/serve/exchange.h"
#include "engine/api/chat.h"
#include "engine/api/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace serve {

struct ModelCard {
    std::string id;
    std::string parent; ///< For an adapter: the model it is for; empty: a model.
};

/// What every answer to one request repeats.
struct ReplyFrame {
    std::string id; ///< "chatcmpl-..."
    std::string model;
    int64_t created = 0; ///< Seconds since 1970.
    ApiRequest::Kind kind = ApiRequest::Kind::Chat;
};

/// A piece of a reply.
struct ReplyPiece {
    std::string text, thinking;
    std::vector<engine::TokenLogprob> logprobs;
    std::vector<engine::ToolCall> calls = {}; ///< Whole ones.
    [[nodiscard]] bool isEmpty() const {
        return text.empty() && thinking.empty() && logprobs.empty() && calls.empty();
    }
};

struct Usage {
    int64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
};

/// {"error": {...}} with its status; Retry-After for 429 and 503.
HttpAnswer errorAnswer(const ApiError& error);
std::string errorJson(const ApiError& error);
/// An error of the engine in OpenAI's shape; its message as it is. 503 where its process ended and
/// comes back.
ApiError engineError(const engine::Error& error);

std::string modelJson(const ModelCard& card, int64_t context, int64_t created);
std::string modelsJson(const std::vector<ModelCard>& cards, int64_t context, int64_t created);

/// A whole answer. `finish_reason`: "stop", "length" or "tool_calls". `has_logprobs`: they were
/// asked for.
std::string replyJson(const ReplyFrame& frame,
                      const ReplyPiece& whole,
                      bool has_logprobs,
                      std::string_view finish_reason,
                      const Usage& usage);

/// One event of a stream, "data: " and the empty line included.
std::string firstEvent(const ReplyFrame& frame); ///< The role; empty for completions.
std::string pieceEvent(const ReplyFrame& frame, const ReplyPiece& piece, bool has_logprobs);
std::string lastEvent(const ReplyFrame& frame, std::string_view finish_reason);
std::string usageEvent(const ReplyFrame& frame, const Usage& usage);
std::string errorEvent(const ApiError& error);
inline constexpr std::string_view kDoneEvent = "data: [DONE]\n\n";
/// Keeps a connection alive that has nothing to say yet; readers skip it.
inline constexpr std::string_view kCommentEvent = ": keep-alive\n\n";

} // namespace serve
