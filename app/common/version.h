// SPDX-License-Identifier: Apache-2.0
// Which Belfry this is: the number of CMakeLists.txt, and the commit that it was built from.
#pragma once

#include <string>

namespace app {

/// "0.2.0".
std::string version();

/// First twelve digits of the commit, with "+" behind them where files were changed since; empty in
/// a build that knows none (sources without git's folder, BELFRY_COMMIT not given).
std::string commit();

/// "Belfry 0.2.0 (commit 45fa47b0c1de)", as --version tells it.
std::string versionLine();

} // namespace app
