// SPDX-License-Identifier: Apache-2.0
// bench: measured, then printed.
#include "app/cli/bench_measure.h"
#include "app/cli/bench_output.h"
#include "app/cli/commands.h"
#include "app/cli/console.h"

namespace cli {

engine::Result<void> runBench(engine::Engine& engine, const Arguments& arguments) {
    ENGINE_ASSIGN(const BenchReport report, measureBench(engine, arguments));
    if (arguments.is_json) {
        printJson(benchJson(report));
    } else {
        printBench(report);
    }
    return {};
}

} // namespace cli
