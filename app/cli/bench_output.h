// SPDX-License-Identifier: Apache-2.0
// bench, the printing half: a report as one JSON object or as lines for people.
#pragma once

#include "app/cli/bench_values.h"

#include <nlohmann/json.hpp>

namespace cli {

nlohmann::ordered_json benchJson(const BenchReport& report);
/// Lines on stdout.
void printBench(const BenchReport& report);

} // namespace cli
