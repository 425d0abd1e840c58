// SPDX-License-Identifier: Apache-2.0
// When does a card's memory spill over into main memory? Windows says how much of a card this
// program has and may have, and how much main memory it has for it, never that it moved something.
// Told apart by growth: what is in main memory while the card is full and was not before.
#pragma once

#include "engine/api/snapshot.h"
#include "kernels/cuda/video_memory.h"

#include <cstdint>
#include <optional>

namespace engine {

using kernels::cuda::VideoMemory;

/// Watches one card. Looks several times a second, also while nothing is loaded: what is in main
/// memory then is nothing that was moved.
class SpillWatch {
public:
    /// `page_locked`: main memory that this program itself asked for, which counts there as well.
    /// Fills everything of the answer but the advice.
    MemoryBudget look(const VideoMemory& now, uint64_t page_locked);

    /// Less than this share of the budget is left: Near.
    static constexpr uint64_t kNearShare = 16;

private:
    std::optional<uint64_t> usual_; ///< In main memory while the card had room.
};

} // namespace engine
