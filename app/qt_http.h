// SPDX-License-Identifier: Apache-2.0
// The network, by Qt: the one place that opens connections to other computers, and only when it is
// called. Requests carry what they are given and no cookie, cache or password besides.
#pragma once

#include <memory>

#include "library/hub/http.h"

namespace app {

/// A QCoreApplication must exist. What it makes is used in the thread that called it. The system's
/// proxies are followed.
library::hub::HttpClientFactory qtHttp();

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
