// SPDX-License-Identifier: Apache-2.0
// Words on the window program's command line that are answered without a window.
#pragma once

#include <optional>

namespace app {

/// --help and --version print; --probe-display tells scripts/run.sh whether a window could be
/// shown: without a usable display Qt ends the process there. Returns the exit code, nothing when
/// the program should start.
std::optional<int> answerStartWords(int argc, char** argv);

} // namespace app
