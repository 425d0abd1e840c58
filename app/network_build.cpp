// SPDX-License-Identifier: Apache-2.0
#include "app/network_part.h"
#include "app/version.h"

namespace app {

std::string networkBuild() {
    return versionLine() + " " + __VERSION__;
}

} // namespace app
