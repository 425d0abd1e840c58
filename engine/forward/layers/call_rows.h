// SPDX-License-Identifier: Apache-2.0
// The rows of one call and their place among the cached ones: positions, image blocks, the slots of
// the caches that they go to, and the stage where a call that is longer than the sliding ring
// attends (workspace.h, stageRows). Host side of the buffers that attention reads.
#pragma once

#include "engine/forward/bound_model.h"
#include "engine/forward/memory/kv_cache.h"

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

class CallRows {
public:
    /// Before the cache takes rows that begin at position kv.size(). block: image block per row or
    /// -1; may be empty. logits_rows: the last rows, which go through all layers.
    /// Errors: Internal (more logits than a long call can have).
    Result<void> open(const BoundModel& model,
                      const KvCache& kv,
                      int64_t rows,
                      std::span<const int32_t> block,
                      int64_t logits_rows);

    [[nodiscard]] int64_t count() const { return static_cast<int64_t>(block_.size()); }
    [[nodiscard]] int64_t logitsRows() const { return logits_rows_; }
    /// Image blocks see themselves whole.
    [[nodiscard]] bool hasBlocks() const { return has_blocks_; }
    [[nodiscard]] const std::vector<int32_t>& blocks() const { return block_; }
    /// First row of this call that `rows` rows begin with: always the last ones.
    [[nodiscard]] int64_t firstOf(int64_t rows) const { return count() - rows; }

    /// True when the call has more rows than the sliding ring has room for: its keys and values are
    /// staged while it attends to them.
    [[nodiscard]] bool isStaged() const { return is_staged_; }
    [[nodiscard]] int64_t heldSlots() const { return held_; } ///< Copied from the ring.
    [[nodiscard]] int64_t stageRows() const {
        return static_cast<int64_t>(stage_positions_.size());
    }

    /// Positions, blocks and slots to `where`, once a call and device; behind kv.append().
    Result<void> uploadTo(DeviceScratch& where, const KvCache& kv);

    /// Keys, values and mask of a layer's attention for the last `rows` rows; q and out are the
    /// caller's. On the device where the layer attends.
    [[nodiscard]] kernels::AttentionArgs
    attention(const LayerStack& stack, int layer, const KvCache& kv, int64_t rows) const;

private:
    std::vector<int32_t> position_, block_;
    std::vector<int32_t> stage_slots_, stage_positions_, stage_blocks_;
    std::vector<const DeviceScratch*> uploaded_;
    int64_t logits_rows_ = 0, held_ = 0;
    bool has_blocks_ = false, is_staged_ = false;
};

/// The rows of the last append() that layer `owner` has stored to the mirrors of its cache, in runs
/// of consecutive slots.
Result<void> updateMirrors(const BoundModel& model, int owner, const KvCache& kv);

} // namespace engine
