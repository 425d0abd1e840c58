// SPDX-License-Identifier: Apache-2.0
// Where run-time adapters enter the forward pass. The adapter set (engine/lora) stands behind it;
// without one the model runs its base weights. Look-ups by name happen once, when the model is
// bound; the hot path carries handles.
#pragma once

#include "engine/api/device_id.h"
#include "engine/base/result.h"
#include "kernels/device.h"
#include "kernels/ops.h"
#include "kernels/views.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace engine {

class AdapterHook {
public:
    using Handle = int;
    static constexpr Handle kNone = -1;

    AdapterHook() = default;
    AdapterHook(const AdapterHook&) = delete;
    AdapterHook& operator=(const AdapterHook&) = delete;
    virtual ~AdapterHook() = default;

    /// Handle for a base tensor that some adapter touches now, else kNone.
    [[nodiscard]] virtual Handle find(std::string_view base_tensor) const = 0;
    /// Adds every active adapter's update: y += sum of strength * update(x); x is the (clamped)
    /// input of the inner linear, y its output before the output clamp. Same device as the base
    /// tensor's compute device.
    virtual Result<void>
    apply(Handle handle, kernels::Queue queue, kernels::MatF32 x, kernels::MutF32 y) = 0;
    /// What is active at a linear layer as low-rank updates of a fused step, their factors in
    /// memory of the layer's device, where strengths change them (weight is left 0). False: there
    /// is more than that (DoRA, a bias, a replaced weight): only apply() does it. Valid until the
    /// set of active adapters changes.
    virtual bool stepUpdates(Handle /*handle*/,
                             std::vector<kernels::ProjectLora>& /*updates*/) const {
        return false;
    }
    /// The same for one matrix of a 3-D expert tensor; x are the rows routed to `expert`.
    virtual Result<void> applyExpert(Handle /*handle*/,
                                     int64_t /*expert*/,
                                     kernels::Queue /*queue*/,
                                     kernels::MatF32 /*x*/,
                                     kernels::MutF32 /*y*/) {
        return {};
    }
    /// Embedding LoRA and replaced rows: corrects rows gathered from the base table. rows [ids,
    /// cols] host memory holding scale * base row, columns from col_offset.
    virtual Result<void> applyRows(Handle handle,
                                   std::span<const int32_t> ids,
                                   int64_t col_offset,
                                   float scale,
                                   kernels::MutF32 rows) = 0;
    /// Replacement of a small dense tensor (modules_to_save, trained norm weights), fp32 host
    /// values, or empty when none.
    [[nodiscard]] virtual std::span<const float>
    replacement(std::string_view base_tensor) const = 0;
    /// The same values in memory of `device`, when the set keeps them there; else nullptr.
    [[nodiscard]] virtual const float* replacementOn(std::string_view /*base_tensor*/,
                                                     const kernels::Device& /*device*/) const {
        return nullptr;
    }
    /// Changes whenever the result of a forward pass would change (set, strength, on/off).
    [[nodiscard]] virtual uint64_t generation() const = 0;
};

} // namespace engine
