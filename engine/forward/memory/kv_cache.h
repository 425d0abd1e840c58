// SPDX-License-Identifier: Apache-2.0
// Keys and values of the layers that own them, after norm and RoPE. Full-attention layers hold one
// slot per position of the context; sliding layers hold a ring of window - 1 + ringRows slots. A
// call of more rows than the ring has room for attends in a stage (workspace.h) and leaves its last
// rows in the ring.
// KV-shared layers own nothing: the model's layer table points at their owner's buffers, fixed at
// bind time, so no look-up can miss. A reader on another device reads a mirror there that is
// updated row by row, never copied whole.
#pragma once

#include "engine/forward/memory/compute_context.h"
#include "engine/forward/memory/workspace.h"
#include "engine/model/model_config.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace engine {

class KvCache {
public:
    /// K and V of one owner on one device: [capacity] rows (kernels/kv_rows.h).
    struct Buffer {
        DeviceId device;
        void* k = nullptr;
        void* v = nullptr;
    };
    struct LayerKv {
        Buffer primary;
        std::vector<Buffer> mirrors;
        int64_t capacity = 0;
        int64_t row_bytes = 0; ///< Size of K (and of V) per token.
    };

    /// Allocates everything or nothing. Errors: OutOfMemory.
    static Result<std::unique_ptr<KvCache>>
    create(const ModelConfig& config, const PlacementPlan& plan, const DeviceMapping& devices);
    ~KvCache();
    KvCache(const KvCache&) = delete;
    KvCache& operator=(const KvCache&) = delete;

    [[nodiscard]] kernels::KvType type() const { return type_; }
    [[nodiscard]] const LayerKv& owner(int layer) const {
        return layers_[static_cast<size_t>(layer)];
    }
    /// Buffer of an owner on the device where attention runs.
    [[nodiscard]] const Buffer& bufferOn(int owner_layer, DeviceId device) const;

    [[nodiscard]] int64_t size() const { return size_; } ///< Tokens held.
    [[nodiscard]] int64_t context() const { return context_; }

    /// Makes room for rows at positions [size, size + count): fills slots and ring positions; the
    /// caller then stores K and V. block[i] = image block of row i or -1.
    void append(std::span<const int32_t> block);
    /// Forgets positions >= tokens. False (and nothing changed) when sliding layers no longer hold
    /// the window before that point: the caller must start over.
    bool truncate(int64_t tokens);
    void clear();
    /// Undoes the last append(), whose rows may not all have been stored: slots that held nothing
    /// before it are out of use again, as the memory behind them is as it was allocated. Returns
    /// as truncate() does.
    bool takeBack();

    /// True when appending so many rows overwrites ring slots that the first of them still see.
    [[nodiscard]] bool needsStage(int64_t rows) const {
        return ring_ < context_ && rows > ring_ - window_ + 1;
    }

    /// Slots of the rows of the last append(); of the sliding ring's only the last rows that it has
    /// slots for.
    [[nodiscard]] const std::vector<int32_t>& slidingSlots() const { return sliding_slots_; }
    [[nodiscard]] const std::vector<int32_t>& fullSlots() const { return full_slots_; }
    /// Position (or -1) and image block (or -1) per slot of the sliding ring; slots in use.
    [[nodiscard]] const std::vector<int32_t>& slidingPositions() const { return sliding_position_; }
    [[nodiscard]] const std::vector<int32_t>& slidingBlocks() const { return sliding_block_; }
    [[nodiscard]] int64_t slidingSlotsInUse() const;

    /// Moves the buffers of the layers whose device differs in the new plan; the tokens stay.
    /// All-or-nothing. Errors: OutOfMemory, InvalidRequest (other context or precision).
    Result<void>
    moveTo(const ModelConfig& config, const PlacementPlan& plan, const DeviceMapping& devices);

private:
    KvCache() = default;
    static Result<Buffer>
    allocateBuffer(DeviceId id, const DeviceMapping& devices, uint64_t bytes, int layer);
    void freeBuffer(const Buffer& buffer) const;

    DeviceMapping devices_;
    kernels::KvType type_ = kernels::KvType::BF16;
    std::vector<LayerKv> layers_;
    int64_t context_ = 0, window_ = 0, ring_ = 0;
    int64_t size_ = 0;
    int64_t highest_ = 0; ///< One past the highest position ever held since clear().
    int64_t size_before_ = 0, highest_before_ = 0; ///< The last append().
    int64_t overwritten_ = 0; ///< One past the highest position written, taken back or not.
    std::vector<int32_t> sliding_slots_, full_slots_;
    std::vector<int32_t> sliding_position_, sliding_block_;
};

} // namespace engine
