// SPDX-License-Identifier: Apache-2.0
// Names of servers and of pages, in the one spelling in which they are compared: what a Host field
// says, what --allow-host and --allow-origin say.
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>

namespace serve {

/// "localhost" of "LOCALHOST.:8642", "127.0.0.1", "::1" of "[0:0::1]:80" or "::1%lo"; IPv4 within
/// IPv6 as IPv4. Empty where this is no host with or without a port.
std::string hostName(std::string_view host);

/// The address is one of this computer alone.
bool isLoopback(std::string_view name);

/// A word of --allow-host as hostName(): an address "https://name/" counts as its name. Errors:
/// InvalidRequest, for what no Host field can say.
engine::Result<std::string> allowedHost(std::string_view word);

/// A word of --allow-origin as browsers write it in Origin: a slash at the end, the port that the
/// scheme has anyway and capitals are taken off. Errors: InvalidRequest, for what no browser sends
/// ("*", a path, no scheme).
engine::Result<std::string> allowedOrigin(std::string_view word);

} // namespace serve
