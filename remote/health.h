// SPDX-License-Identifier: Apache-2.0
// Whether a server answers, by a question that costs it nothing: GET /health beside its API (vLLM,
// SGLang, llama-server, Belfry), and where it has no such route its list of models. Carries the key
// like any other request to this server, and no word of a chat.
#pragma once

#include "engine/api/error.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "models/hub/http.h"
#include "remote/connection.h"

namespace remote {

struct Health {
    enum class State : uint8_t {
        Reachable = 1,
        Loading,   ///< It is there and loads its model, or has no time (429, 503).
        Refused,   ///< It does not let this computer in, or has not this model: asking again is of
                   ///< no use.
        Gone,      ///< No connection, or no answer that makes sense.
        Forbidden, ///< By a switch of this computer: nobody was asked.
        Stopped,   ///< By the caller.
    };
    State state = State::Gone;
    std::optional<engine::Error> error; ///< With all but Reachable and Stopped.
};

/// `model`: of its list; asked for as well where it is not empty.
Health askHealth(const models::hub::HttpClientFactory& make_http,
                 const Connection& connection,
                 const std::string& model,
                 const std::string& user_agent,
                 const std::stop_token& stop);

/// "https://host/health" of "https://host/v1".
std::string healthUrl(const std::string& base);

} // namespace remote
