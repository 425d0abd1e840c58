// SPDX-License-Identifier: Apache-2.0
// What OpTable::top_logits finds in a row behind its cap, by sorting the whole row.
#pragma once

#include "kernels/ops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace support {

inline kernels::TopLogits
topLogits(const float* logits, int64_t count, const uint32_t* suppressed, int32_t wanted) {
    kernels::TopLogits top{};
    std::vector<kernels::TokenLogit> kept;
    for (int64_t i = 0; i < count; ++i) {
        if (std::isnan(logits[i]) || logits[i] == INFINITY) {
            top.count = kernels::TopLogits::kSeeRow;
            return top;
        }
        const bool is_out = suppressed != nullptr && ((suppressed[i / 32] >> (i % 32)) & 1U) != 0;
        if (!is_out && logits[i] != -INFINITY) {
            kept.push_back({static_cast<int32_t>(i), logits[i]});
        }
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const auto& a, const auto& b) { return a.logit > b.logit; });
    size_t most = std::min(kept.size(), static_cast<size_t>(wanted));
    while (most > 0 && most < kept.size() && kept[most].logit == kept[most - 1].logit) {
        ++most;
    }
    if (most > static_cast<size_t>(kernels::TopLogits::kMost)) {
        top.count = kernels::TopLogits::kSeeRow;
        return top;
    }
    top.count = static_cast<int32_t>(most);
    std::copy_n(kept.begin(), most, top.entry);
    return top;
}

} // namespace support
