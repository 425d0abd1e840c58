// SPDX-License-Identifier: Apache-2.0
#include "app/common/core_dumps.h"

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string_view>
#endif

namespace app {

void keepOutOfCoreDumps() {
// A leak check reads the memory of its own process the way a debugger does.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
    const char* const wanted = std::getenv("BELFRY_CORE_DUMPS");
    if (wanted != nullptr && std::string_view(wanted) == "1") {
        return;
    }
    (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    rlimit limit{};
    if (::getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = 0; // programs started from here may raise it again
        (void)::setrlimit(RLIMIT_CORE, &limit);
    }
#endif
}

} // namespace app
