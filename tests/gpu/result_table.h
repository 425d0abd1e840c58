// SPDX-License-Identifier: Apache-2.0
// The JSON file of tests/gpu/run as a table.
#pragma once

namespace gpu {

/// Returns what the program ends with.
int printTable(const char* file);

} // namespace gpu
