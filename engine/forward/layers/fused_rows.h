// SPDX-License-Identifier: Apache-2.0
// Decoder layers in fused steps of many rows (row_steps.h): the recipe of single_layers.h with bf16
// rows between the products, as the products round them anyway. Buffers are those of single
// functions; H, O, Gate and PleGate hold bf16 here. Which layers run so is chosen when a model is
// bound: chooseFusedRows().
#pragma once

#include "engine/forward/layers/layer_executor.h"
#include "engine/forward/layers/row_steps.h"

namespace engine {

/// Sets DecoderLayer::takes_rows: the device of a layer has the steps for its sizes, the layer
/// attends there and computes every linear there, its recipe is one that the steps know, and what
/// is active of adapters runs inside products.
void chooseFusedRows(BoundModel& model);

class FusedRows final : public LayerExecutor {
public:
    explicit FusedRows(BoundModel& model) : model_(&model) {}

    /// Before the first layer of a call.
    void begin() { normed_layer_ = -1; }

    Result<void> storeKeys(const LayerCall& call, int layer, kernels::MutF32 x) override;
    Result<void>
    runLayer(const LayerCall& call, int layer, kernels::MutF32 x, bool are_keys_stored) override;

private:
    static constexpr int64_t kAllParts = int64_t{1} << 20;
    enum class Heads : uint8_t { All = 1, Queries, Keys };
    /// What a branch leaves to its norm step.
    struct Sums {
        float* t = nullptr; ///< [parts, rows, hidden]
        int parts = 1;
    };

    /// H = the layer's input norm of x, unless the layer before has made it. Returns the rows of H
    /// that belong to the last `rows` rows.
    Result<const uint16_t*> normInput(const LayerCall& call, int index, kernels::MutF32 x);
    /// Queries to O, keys and values to the cache.
    Result<void> projectHeads(
        const LayerCall& call, int index, const uint16_t* normed, int64_t rows, Heads wanted);
    [[nodiscard]] static kernels::HeadRowsArgs::Target cacheTarget(const LayerCall& call,
                                                                   int index);
    Result<void> openStage(const LayerCall& call, int index, kernels::HeadRowsArgs::Target& target);
    Result<Sums> attend(const LayerCall& call,
                        int index,
                        const uint16_t* normed,
                        int64_t rows,
                        bool are_keys_stored);
    /// is_whole: the sums in one part, in T.
    Result<Sums> gatedMlp(const LayerCall& call, int index, int64_t rows, bool is_whole);
    Result<Sums> perLayerInput(const LayerCall& call, int index, int64_t rows);
    /// The sums of `linear` go to `to`, in as many parts as it has room for, at most `most_parts`.
    Result<Sums> project(DeviceScratch& home,
                         const Linear& linear,
                         const void* from,
                         int64_t rows,
                         Buffer to,
                         int64_t most_parts = kAllParts);

    BoundModel* model_;
    int normed_layer_ = -1;   ///< Whose input norm H holds,
    int64_t normed_rows_ = 0; ///< for the last so many rows of the call.
};

} // namespace engine
