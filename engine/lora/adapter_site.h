// SPDX-License-Identifier: Apache-2.0
// What the active adapters do at one base tensor, as the hot path sees it: plain lists, no names.
#pragma once

#include "engine/lora/placed_adapter.h"
#include "kernels/ops.h"

#include <span>
#include <string>
#include <vector>

namespace engine {

struct ActiveUpdate {
    PlacedUpdate* placed = nullptr;
    float scaling = 0.0F; ///< scaling * strength
};

/// Updates that are one sum and so one kernel call. DoRA scales what came before it, so it begins
/// a batch; plain updates after it join it.
struct UpdateBatch {
    const float* columns = nullptr; ///< DoRA's factors of y, applied first; nullptr = none.
    std::vector<kernels::LoraTerm> terms;
    std::vector<const PlacedUpdate*> placed; ///< Parallel to `terms`; for other experts' matrices.
    int64_t rank = 0;                        ///< Sum over the terms.
};

struct ActiveRows {
    const PlacedRows* placed = nullptr;
    float strength = 1.0F;
};

struct ActiveTensor {
    const PlacedTensor* placed = nullptr;
    float strength = 1.0F;
};

struct AdapterSite {
    std::string tensor;
    kernels::Device* device = nullptr; ///< Where it computes; nullptr while nothing is placed.
    AdapterHome home;                  ///< Home of its updates.
    float* scratch = nullptr;          ///< On that device.
    int64_t scratch_floats = 0;
    bool is_touched = false;           ///< Some entry, active or not, has something here.
    std::vector<ActiveTensor> tensors; ///< At most one is active.
    std::vector<ActiveRows> rows;
    std::vector<ActiveUpdate> updates; ///< In the order of the entries.
    std::vector<UpdateBatch> batches;  ///< The same as kernel calls; see makeBatches.

    [[nodiscard]] bool isIdle() const { return tensors.empty() && rows.empty() && updates.empty(); }
};

/// Fills `batches` from `updates`, with addresses as they are now: of what travels they are known
/// when it has come (Arrivals::bring). Embeddings have none: their updates gather rows one by one.
void makeBatches(AdapterSite& site);

/// y += updates at a linear layer (expert 0 and one matrix) or at one expert's matrix.
Result<void> applyAtLinear(const AdapterSite& site,
                           int64_t expert,
                           kernels::Queue queue,
                           kernels::MatF32 x,
                           kernels::MutF32 y);

/// Corrects rows gathered from an embedding; everything in host memory.
Result<void> applyAtEmbedding(const AdapterSite& site,
                              std::span<const int32_t> ids,
                              int64_t col_offset,
                              float scale,
                              kernels::MutF32 rows);

} // namespace engine
