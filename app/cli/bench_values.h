// SPDX-License-Identifier: Apache-2.0
// What the parts of the benchmark share.
#pragma once

#include <algorithm>
#include <vector>

namespace cli {

inline double medianOf(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0.0 : values[values.size() / 2];
}

} // namespace cli
