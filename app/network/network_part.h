// SPDX-License-Identifier: Apache-2.0
// Qt Network for a program that starts without it: a module of its own, opened when the network is
// wanted and not before, because loading Qt takes as long as all else that most commands do. It is
// looked for in one place alone, lib/belfry/ beside the program's own folder, on Windows the
// program's own folder (where it was built, the build folder), and must be of the same build.
#pragma once

#include "app/network/qt_http.h"
#include "engine/base/result.h"

#include <memory>
#include <string>

#include "models/hub/token_store.h"

namespace app {

/// What the module makes. Lives as long as the process: code that is in use is not unloaded.
class NetworkPart {
public:
    NetworkPart() = default;
    NetworkPart(const NetworkPart&) = delete;
    NetworkPart& operator=(const NetworkPart&) = delete;
    virtual ~NetworkPart() = default;

    /// As qtHttp(); a Qt application is there from the first call on.
    virtual models::hub::HttpClientFactory http(ForbiddenBy forbidden_by) = 0;
    /// As serverHttp().
    virtual models::hub::HttpClientFactory serverHttp(ForbiddenBy forbidden_by) = 0;
    /// As tokenStore().
    virtual std::unique_ptr<models::hub::TokenStore> tokens() = 0;
};

/// The module's one symbol: returns nullptr to a program of another build.
using OpenNetworkPart = NetworkPart* (*)(const char* build);
inline constexpr const char* kNetworkSymbol = "belfryNetworkPart";

/// Which build this is, for both sides.
std::string networkBuild();

/// Opened once. Errors: Unsupported (not installed, of another build, Qt is missing), with what to
/// install.
engine::Result<NetworkPart*> networkPart();

} // namespace app
