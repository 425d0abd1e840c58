// SPDX-License-Identifier: Apache-2.0
// A question to a server whose answer is short: its models, its health.
#pragma once

#include <stop_token>
#include <string>

#include "models/hub/http.h"
#include "remote/connection.h"

namespace remote {

/// A request with what every one of a connection carries: the key, and whose word counts.
models::hub::HttpRequest
requestTo(const Connection& connection, const std::string& url, const std::string& user_agent);

struct ShortAnswer {
    models::hub::HttpEnd end; ///< Kind::Sink: more than 8 MiB came.
    models::hub::HttpHead head;
    std::string body;
};

/// A GET, all of it within TimeLimits::list.
ShortAnswer askShortly(const models::hub::HttpClientFactory& make_http,
                       const Connection& connection,
                       const std::string& url,
                       const std::string& user_agent,
                       const std::stop_token& stop);

} // namespace remote
