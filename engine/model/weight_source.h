// SPDX-License-Identifier: Apache-2.0
// What the forward pass needs of loaded weights: a handle per tensor, its compute device, and a
// kernel view that is valid between acquire() and release(). The tensor store (engine/run) stands
// behind it; residency, staging and disk reads are its business.
#pragma once

#include "engine/api/device_id.h"
#include "engine/base/result.h"
#include "kernels/views.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace engine {

class WeightSource {
public:
    /// Index of a tensor in the store; kAbsent = not in the checkpoint.
    using Handle = int;
    static constexpr Handle kAbsent = -1;

    WeightSource() = default;
    WeightSource(const WeightSource&) = delete;
    WeightSource& operator=(const WeightSource&) = delete;
    virtual ~WeightSource() = default;

    /// Handle of a canonical tensor name. `lm_head.weight` resolves to the tied table when the
    /// head has no copy of its own.
    [[nodiscard]] virtual Handle handleOf(std::string_view tensor) const = 0;
    [[nodiscard]] virtual DeviceId computeDevice(Handle handle) const = 0;
    /// The weight on its compute device. Streamed tensors: valid until release() or until two more
    /// acquire() calls on the same device, whichever is first. Vectors are seen as [1, n] or with
    /// their leading dimensions folded into rows.
    /// Errors: InvalidFile (disk read), OutOfMemory, DeviceLost.
    virtual Result<kernels::WeightView> acquire(Handle handle) = 0;
    virtual void release(Handle handle) = 0;
    /// out[i, :] = scale * row ids[i], columns [col_offset, col_offset + out.cols), from wherever
    /// the table is stored; only those rows are read. `out` is host memory.
    virtual Result<void> gatherRows(Handle handle,
                                    std::span<const int32_t> ids,
                                    int64_t col_offset,
                                    float scale,
                                    kernels::MutF32 out) = 0;
    /// The tensor as kernels of `device` read it where it lies now, whole, without moving anything;
    /// nothing when it is not in that device's memory. Valid until weights move.
    [[nodiscard]] virtual std::optional<kernels::WeightView>
    residentOn(Handle /*handle*/, const DeviceId& /*device*/) const {
        return std::nullopt;
    }
    /// Begins to page-lock a tensor that is stored in the host's memory, for a few of its rows at a
    /// time to be read from there by kernels of `device`. False: that will not come (it is
    /// elsewhere, or its map says `"pin": false`).
    virtual bool lockFor(Handle /*handle*/, const DeviceId& /*device*/) { return false; }
    /// The tensor as kernels of `device` read it in the host's memory; nothing before it is locked.
    /// Valid until weights move.
    [[nodiscard]] virtual std::optional<kernels::WeightView>
    lockedFor(Handle /*handle*/, const DeviceId& /*device*/) const {
        return std::nullopt;
    }
};

} // namespace engine
