// SPDX-License-Identifier: Apache-2.0
// What the engine of a command is made with: which of its ways it may take, and what it tells of
// its times. For benchmarks, comparisons and reports of mistakes.
#pragma once

#include "app/cli/arguments.h"
#include "engine/run/engine.h"

#include <string>
#include <vector>

namespace cli {

/// Names of what --without can leave out, in the order of the help.
std::vector<std::string> formNames();

/// Of a command line that parseArguments() took.
engine::EngineOptions engineOptions(const Arguments& arguments);

} // namespace cli
