// SPDX-License-Identifier: Apache-2.0
// The graphics cards that a driver shows, without opening any of them: for lists of devices and
// plans. A card that cannot be used stays in the list with the reason.
#pragma once

#include "kernels/cuda/driver.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernels::cuda {

/// Oldest compute capability that we build for (a T4).
inline constexpr int kOldestCapability = 75;

struct Card {
    int ordinal = 0;
    std::string name; ///< "NVIDIA H200"
    std::string uuid; ///< "GPU-..."; empty when the driver does not tell.
    uint64_t total_bytes = 0;
    uint64_t free_bytes = 0;    ///< Now, over all programs; 0 = unknown before it is opened.
    int compute_capability = 0; ///< 10 * major + minor.
    std::string unusable;       ///< One sentence; empty = usable.
};

std::vector<Card> listCards(const Driver& driver);

} // namespace kernels::cuda
