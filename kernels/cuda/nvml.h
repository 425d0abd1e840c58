// SPDX-License-Identifier: Apache-2.0
// What the system says about a card's memory over all programs (NVIDIA's management library,
// loaded at run time where it is installed). Works before the first context exists and sees other
// programs' use, which the driver API does not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kernels::cuda {

struct CardMemory {
    uint64_t total = 0;
    uint64_t used = 0; ///< By all programs and the driver itself.
    uint64_t free = 0;
};

/// `uuid` as "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"; nothing without the library or the card.
std::optional<CardMemory> cardMemory(const std::string& uuid);

} // namespace kernels::cuda
