// SPDX-License-Identifier: Apache-2.0
// The way out to the network: the system's, or one that a person names. After qtHttp(), which
// follows the system.
#pragma once

#include <string>

namespace app {

/// From now on as the system says: http_proxy, https_proxy, all_proxy and no_proxy where they are
/// set, else the desktop's settings (on Windows those of the system). On Windows the variables are
/// ours to read: Qt does so elsewhere alone.
void followSystemProxies();

/// "http://host:port", "socks5://user:password@host:port" for all connections from now on. Empty,
/// or none of these: followSystemProxies().
void useProxy(const std::string& address);

} // namespace app
