// SPDX-License-Identifier: Apache-2.0
// A card's memory as Windows shares it out (DXGI, loaded at run time from system32): what this
// program has of the card, what it may have, and what of its own lies in main memory for the card.
// Past the budget the system moves pages there in silence. Other systems let an allocation fail
// instead and have nothing to tell.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace kernels::cuda {

/// An adapter's number while the machine runs, as the driver and DXGI both have it.
using Luid = std::array<unsigned char, 8>;

/// Bytes, of this program alone.
struct VideoMemory {
    uint64_t local_used = 0;   ///< On the card.
    uint64_t local_budget = 0; ///< That it may have there; changes with what others do.
    uint64_t shared_used = 0;  ///< In main memory: page-locked for the card, and what was moved.
};

/// Nothing where the system does not share cards out, or does not know this one. Cheap; from any
/// thread.
std::optional<VideoMemory> videoMemory(const Luid& adapter);

} // namespace kernels::cuda
