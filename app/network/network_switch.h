// SPDX-License-Identifier: Apache-2.0
// The switch that forbids the network, for both programs: HF_HUB_OFFLINE in the environment, or a
// file of the configuration folder that the window's setting makes and removes. qtHttp() asks it
// before every request and opens nothing while it is on.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <string>

namespace app {

enum class NetworkBan : uint8_t {
    None = 1,
    Environment, ///< HF_HUB_OFFLINE: not to be lifted from inside.
    Setting,
};

/// What forbids the network now; asks the disk each time, because the other program may have
/// changed it.
NetworkBan networkBan();
/// What lifts it, for messages: "HF_HUB_OFFLINE", or the path of the setting's file. Empty: None.
std::string networkBanName();
/// The setting, kept for both programs. Errors: InvalidFile (the file cannot be made or removed).
engine::Result<void> setNetworkForbidden(bool is_forbidden);

} // namespace app
