// SPDX-License-Identifier: Apache-2.0
// Weights of the host's memory for a card that multiplies many rows with them: a few MiB at a time
// through page-locked memory into one of two places on the card, while the card still computes with
// the other. The host copies, the link transfers and the card multiplies at the same time.
#pragma once

#include "engine/forward/memory/workspace.h"
#include "kernels/device.h"

#include <array>
#include <cstddef>
#include <memory>

namespace engine {

/// Leaves `rows` rows from `first` on of a weight. False: its blocks do not begin there.
[[nodiscard]] bool takeRows(kernels::WeightView& view, int64_t first, int64_t rows);
/// Bytes of all parts of a weight.
[[nodiscard]] size_t bytesOf(const kernels::WeightView& view);

class LentWeights {
public:
    /// places: [2, bytes] in the card's memory. host: the queue of the host's threads.
    LentWeights(kernels::Device& card, void* places, size_t bytes, kernels::Queue host);
    ~LentWeights();
    LentWeights(const LentWeights&) = delete;
    LentWeights& operator=(const LentWeights&) = delete;

    /// A weight in the host's memory fits.
    [[nodiscard]] bool fits(const kernels::WeightView& weight) const {
        return bytesOf(weight) <= bytes_;
    }
    /// Weights like this one that fit together.
    [[nodiscard]] int64_t mostOf(const kernels::WeightView& weight) const {
        return static_cast<int64_t>(bytes_ / bytesOf(weight));
    }
    /// The weight, which fits, as kernels of the card read it that are enqueued before the call
    /// after the next. OutOfMemory: no page-locked memory.
    kernels::Status lend(const kernels::WeightView& weight, kernels::WeightView& there);

private:
    static constexpr size_t kPieceBytes = size_t{8} << 20;
    static constexpr int kPieces = 4;
    static constexpr int kPlaces = 2;
    static constexpr int kFirstMark = 4; ///< Of the card's; of places, then of pieces.

    kernels::Device* card_;
    std::byte* places_;
    size_t bytes_;
    kernels::Queue host_;
    std::byte* pieces_ = nullptr; ///< [kPieces, kPieceBytes], page-locked.
    int place_ = -1;              ///< Filled last; -1: none.
    int piece_ = 0;               ///< Next one to be filled.
};

} // namespace engine
