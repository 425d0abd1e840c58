// SPDX-License-Identifier: Apache-2.0
// The vision tower in fused steps of many rows: the recipe and formulas of vision_tower.h with bf16
// rows between the products, as the products round them anyway.
#pragma once

#include "engine/forward/bound_model.h"
#include "engine/forward/towers/vision_tower.h"

namespace engine {

/// Sets VisionWeights::takes_rows: the device has the steps and their buffers, computes every
/// linear of the layers itself, and what is active of adapters runs inside products.
void chooseVisionRows(BoundModel& model);

/// VisionX = the embedded patches. table: the position table as the device reads it.
Result<void>
embedPatchRows(BoundModel& model, const ImageInput& image, const kernels::WeightView& table);

/// Layer `index` for all patches; the first one norms its own input.
Result<void> runVisionRows(BoundModel& model, size_t index, int64_t patches);

} // namespace engine
