// SPDX-License-Identifier: Apache-2.0
// One request to a server. The network runs in a thread of its own, so that the engine's thread,
// which asks, meets no event loop; what comes is handed to the thread that asks.
#pragma once

#include <functional>
#include <stop_token>

#include "models/hub/http.h"

namespace remote {

/// Blocks until the answer's end; `sink` is called in this thread. `has_time` is asked at least
/// four times a second: false ends the request (HttpEnd::Kind::TooLong). A stop ends it within
/// milliseconds, whatever the network does, and closes the connection.
models::hub::HttpEnd exchange(const models::hub::HttpClientFactory& make_http,
                              const models::hub::HttpRequest& request,
                              models::hub::HttpSink& sink,
                              const std::stop_token& stop,
                              const std::function<bool()>& has_time = {});

} // namespace remote
