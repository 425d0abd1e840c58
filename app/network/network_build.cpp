// SPDX-License-Identifier: Apache-2.0
#include "app/common/version.h"
#include "app/network/network_part.h"

namespace app {

std::string networkBuild() {
    return versionLine() + " " + __VERSION__;
}

} // namespace app
