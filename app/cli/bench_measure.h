// SPDX-License-Identifier: Apache-2.0
// bench, the measuring half: decode and prefill rates, media and a random adapter, each beside the
// ceiling that this machine was measured to have in the same run. Prints nothing.
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/bench_values.h"
#include "engine/run/engine.h"

namespace cli {

/// Loads the model of the arguments and measures. Errors: those of loading and generating.
engine::Result<BenchReport> measureBench(engine::Engine& engine, const Arguments& arguments);

} // namespace cli
