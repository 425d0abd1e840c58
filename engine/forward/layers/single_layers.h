// SPDX-License-Identifier: Apache-2.0
// Decoder layers by single functions, the model's or its assistant's: every recipe, any placement,
// any number of rows. What the other executors must reproduce.
#pragma once

#include "engine/forward/layers/layer_executor.h"

namespace engine {

class SingleLayers final : public LayerExecutor {
public:
    explicit SingleLayers(BoundModel& model) : model_(&model) {}

    Result<void> storeKeys(const LayerCall& call, int layer, kernels::MutF32 x) override;
    Result<void>
    runLayer(const LayerCall& call, int layer, kernels::MutF32 x, bool are_keys_stored) override;

private:
    /// Keys and values of normed rows to the cache and its mirrors.
    Result<void> storeNormed(const LayerCall& call, int index, kernels::MatF32 normed);
    Result<void>
    attend(const LayerCall& call, int index, kernels::MatF32 normed, kernels::MutF32 t);
    /// As ComputeContext::linear(), on a card where that pays.
    Result<void>
    product(const Linear& linear, DeviceScratch& home, kernels::MatF32 x, kernels::MutF32 y);
    Result<void> gatedMlp(const LayerCall& call, int index, kernels::MatF32 h, kernels::MutF32 t);
    Result<void>
    perLayerInput(const LayerCall& call, int index, kernels::MatF32 x, kernels::MutF32 t);

    BoundModel* model_;
};

/// The queries [rows * heads, head_dim] of what q made with gates.
Result<void> takeQueries(DeviceScratch& home,
                         kernels::MutF32 made,
                         kernels::MutF32 queries,
                         const std::string& name);
/// Attention's output [rows * heads, head_dim] times the sigmoid of the gates that q made.
Result<void>
gateOutput(DeviceScratch& home, kernels::MutF32 out, kernels::MutF32 made, const std::string& name);

/// A layer's slice of the per-layer inputs for the last `rows` rows of a call, on `home`: a strided
/// view where they were computed there, else a copy in Buffer::PleSlice.
Result<kernels::MatF32> perLayerSlice(
    const BoundModel& model, DeviceScratch& home, int layer, int64_t first_row, int64_t rows);

} // namespace engine
