// SPDX-License-Identifier: Apache-2.0
// The network, by Qt: the one place that opens connections to other computers, and only when it is
// called. Requests carry what they are given and no cookie, cache or password besides.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "models/hub/http.h"

namespace app {

/// What forbids the network, for the message; empty: nothing. networkBanName() of
/// app/network/network_switch.h, or a test's. Asked before every request, in its thread.
using ForbiddenBy = std::function<std::string()>;

/// A QCoreApplication must exist. What it makes is used in the thread that called it. The system's
/// proxies are followed. While `forbidden_by` names something no socket is opened: each request
/// ends with HttpEnd::Kind::Forbidden.
models::hub::HttpClientFactory qtHttp(ForbiddenBy forbidden_by);

/// The same for servers with models: one on this computer is asked whatever forbids the network,
/// because no word leaves the computer on the way there.
models::hub::HttpClientFactory serverHttp(ForbiddenBy forbidden_by);

/// For a program that has no Qt application: one lives as long as this, so that qtHttp() works.
/// Numbers stay written with a point.
class NetworkUse {
public:
    NetworkUse();
    ~NetworkUse();
    NetworkUse(const NetworkUse&) = delete;
    NetworkUse& operator=(const NetworkUse&) = delete;

private:
    struct Application;
    std::unique_ptr<Application> application_;
};

} // namespace app
