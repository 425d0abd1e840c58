// SPDX-License-Identifier: Apache-2.0
// What a card's memory is counted in: what its driver takes for a program beside all allocations,
// and what it and the arena round each of them up to. Loader and allocator count by these
// functions, so that memory reserved for a plan holds it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels {

/// Bytes. 0: not measured.
struct CardCosts {
    uint64_t context_bytes = 0; ///< The driver's context with the loaded kernels.
    uint64_t granularity = 0;   ///< The driver takes whole multiples of this.
    friend bool operator==(const CardCosts&, const CardCosts&) = default;
};

/// For a card that nobody has measured: more than drivers 550 to 580 take on any card known to us
/// (an H100 or H200: 540 MiB), so that what fits in a plan fits on the card.
inline constexpr CardCosts kUsualCosts = {uint64_t{640} << 20, uint64_t{2} << 20};

/// Every piece of the arena begins and ends at a multiple of this.
inline constexpr size_t kPieceAlignment = 256;

/// The next multiple of `step`; SIZE_MAX when that leaves the range.
constexpr size_t roundUp(size_t bytes, size_t step) {
    return bytes > SIZE_MAX - step ? SIZE_MAX : (bytes + step - 1) / step * step;
}

/// What an allocation of `bytes` takes of the arena.
constexpr size_t pieceBytes(size_t bytes) {
    return roundUp(bytes > 0 ? bytes : 1, kPieceAlignment);
}

} // namespace kernels
