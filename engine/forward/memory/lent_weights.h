// SPDX-License-Identifier: Apache-2.0
// Weights of the host's memory for a card that multiplies many rows with them: a few MiB at a time
// through page-locked memory into one of two places on the card, while the card still computes with
// the other. The host copies, the link transfers and the card multiplies at the same time.
#pragma once

#include "engine/forward/memory/weight_parts.h"
#include "engine/forward/memory/workspace.h"
#include "kernels/device.h"

#include <cstddef>
#include <memory>

namespace engine {

class LentWeights {
public:
    /// host: the queue of the host's threads.
    LentWeights(kernels::Device& card, kernels::Queue host) : card_(&card), host_(host) {}
    ~LentWeights();
    LentWeights(const LentWeights&) = delete;
    LentWeights& operator=(const LentWeights&) = delete;

    /// Memory of the card, aligned to 64 bytes, where weights are lent from now on, once all that
    /// is enqueued has been computed.
    void lendIn(void* memory, size_t bytes);
    /// Weights like this one that have room in a place.
    [[nodiscard]] int64_t mostOf(const kernels::WeightView& weight) const {
        return static_cast<int64_t>(bytes_ / bytesOf(weight));
    }
    /// The weight, which has room, as kernels of the card read it that are enqueued before the call
    /// after the next. OutOfMemory: no page-locked memory.
    kernels::Status lend(const kernels::WeightView& weight, kernels::WeightView& there);

    /// Rows to and from the card, by all threads of the host. What was fetched is there.
    kernels::Status send(void* to, const void* from, size_t bytes);
    kernels::Status fetch(void* to, const void* from, size_t bytes);

private:
    static constexpr size_t kPieceBytes = size_t{8} << 20;
    static constexpr int kPieces = 4;
    static constexpr int kPlaces = 2;
    static constexpr int kFirstMark = 4; ///< The first of the card's marks that are used here.

    /// The next piece of page-locked memory, free again, and its mark.
    kernels::Status takePiece(std::byte*& piece, int& mark);
    void copy(void* to, const void* from, size_t bytes) const;

    kernels::Device* card_;
    kernels::Queue host_;
    std::byte* places_ = nullptr; ///< [kPlaces, bytes_]
    size_t bytes_ = 0;
    bool is_new_ = true;          ///< Nothing has been lent in this memory.
    std::byte* pieces_ = nullptr; ///< [kPieces, kPieceBytes], page-locked.
    int place_ = 0;               ///< Filled last.
    int piece_ = 0;               ///< Next one to be filled.
};

} // namespace engine
