// SPDX-License-Identifier: Apache-2.0
#include "app/common/version.h"

#include "belfry_commit.h"

namespace app {

std::string version() {
    return BELFRY_VERSION;
}

std::string commit() {
    return BELFRY_COMMIT;
}

std::string versionLine() {
    const std::string known = commit();
    return "Belfry " + version() + (known.empty() ? "" : " (commit " + known + ")");
}

} // namespace app
