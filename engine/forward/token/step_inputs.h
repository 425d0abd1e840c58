// SPDX-License-Identifier: Apache-2.0
// What stands before the fused steps of a token's layers: the input block (numbers, the ring's
// positions, the embedding row, the per-layer row), and where the two tables are read: by the
// device itself, in its own memory or page-locked in the host's, or by the host, which sends the
// row.
#pragma once

#include "engine/forward/layers/layer_steps.h"

#include <optional>

namespace engine {

/// A table that a device reads itself, in its own memory or the host's.
struct DeviceTable {
    std::optional<kernels::WeightView> there;
    bool is_locking = false; ///< In the host's memory; will be there.
    bool is_remote = false;  ///< There, in the host's memory.
};
/// A table of the vocabulary as `home` reads it; it begins to be page-locked where that is wanted.
DeviceTable findTable(const BoundModel& model,
                      const DeviceScratch& home,
                      WeightSource::Handle table,
                      AdapterHook::Handle adapter);

class StepInputs {
public:
    explicit StepInputs(BoundModel& model) : model_(&model) {}

    /// Finds the tables as `home` reads them; those in the host's memory begin to be page-locked.
    void prepare(DeviceScratch& home);
    /// A table has been locked since the last look: prepare() again, and record anew.
    [[nodiscard]] bool hasNewTable() const;
    /// Nothing but numbers has to be sent.
    [[nodiscard]] bool areTablesThere() const;

    /// Bytes of the whole block, and of what has to be sent of it.
    [[nodiscard]] size_t blockBytes() const { return static_cast<size_t>(floats_) * sizeof(float); }
    [[nodiscard]] size_t sentBytes() const;
    /// Where the embedding row begins in it, in floats.
    [[nodiscard]] int64_t rowAt() const { return row_; }
    /// The block of token `id`, the last in the cache, as far as it is sent.
    Result<void> fill(int32_t id, const KvCache& kv, std::byte* host);
    /// Where one token's inputs go, all on the device.
    struct Place {
        const int32_t* token = nullptr; ///< [1]
        float* x = nullptr;             ///< [hidden]
        float* t = nullptr;             ///< [layers * ple_size], the token's part, or room for it
        float* per_layer = nullptr;     ///< [layers * ple_size]
    };
    /// Behind sending: embedding row to steps.x(), per-layer inputs to Buffer::Ple. In one launch
    /// where the table has it and takes these operands.
    Result<void> enqueue(LayerSteps& steps);
    /// The same elsewhere. With areTablesThere() of any token.
    Result<void> enqueueAt(const Place& place, LayerSteps& steps);

private:
    /// False: not with this table and these operands, nothing was enqueued.
    Result<bool> enqueueFused(const Place& place);
    Result<void> enqueuePerLayer(const Place& place, LayerSteps& steps);
    [[nodiscard]] bool hasPerLayer() const;

    BoundModel* model_;
    DeviceScratch* home_ = nullptr;
    DeviceTable embedding_, per_layer_;
    int64_t row_ = 0, floats_ = 0;
};

} // namespace engine
