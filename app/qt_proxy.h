// SPDX-License-Identifier: Apache-2.0
// The way out to the network, where a person names one. After qtHttp(), which follows the system.
#pragma once

#include <string>

namespace app {

/// "http://host:port", "socks5://user:password@host:port" for all connections from now on. Empty,
/// or none of these: as the system says (http_proxy and its like, or the desktop's settings).
void useProxy(const std::string& address);

} // namespace app
