// SPDX-License-Identifier: Apache-2.0
// Fused steps of many rows (kernels/ops.h: product, norm_rows, head_rows): products of linear
// layers with what stands around them, plain low-rank updates inside them. Where a table, a weight
// or an adapter does not allow them, the same results come from single functions; that is found out
// when a model is bound.
#pragma once

#include "engine/forward/memory/compute_context.h"
#include "engine/model/layer_recipe.h"

#include <initializer_list>
#include <span>

namespace engine {

/// Recipes that the fused steps (of many rows here, of one in layer_steps.h) can compute: those of
/// decoder layers, whatever norms and activations they have.
/// has_experts: experts beside the MLP are no obstacle.
[[nodiscard]] bool isFusible(const LayerRecipe& recipe, bool has_experts = false);

/// True when `home` computes this layer by itself, and what is active there of adapters is plain
/// low-rank updates of which a product takes that many.
[[nodiscard]] bool
isFusible(const Linear& linear, const DeviceScratch& home, const ComputeContext& context);
[[nodiscard]] bool areFusible(std::initializer_list<const Linear*> linears,
                              const DeviceScratch& home,
                              const ComputeContext& context);

/// One product of up to three linear layers on the same bf16 rows.
struct RowProduct {
    struct Part {
        const Linear* linear = nullptr;
        void* y = nullptr; ///< As of kernels::ProductArgs::y.
    };
    const void* x = nullptr; ///< [rows, in] bf16
    int64_t rows = 0;
    kernels::ProductArgs::Output output = kernels::ProductArgs::Output::Store;
    Activation activation = kernels::kDefaultActivation; ///< As of kernels::ProductArgs.
    kernels::MatF32 multiply;
    int parts = 1; ///< As of kernels::ProductArgs::parts: room for so many.
};

/// Enqueues it on `home`, bounds of clipped layers and updates included; the layers must be
/// fusible, and the device must take such rows (OpTable::takes_rows). Returns in how many parts the
/// results are. Errors: those of devices.
Result<int> runProducts(ComputeContext& context,
                        DeviceScratch& home,
                        const RowProduct& product,
                        std::span<const RowProduct::Part> parts);
inline Result<int> runProduct(ComputeContext& context,
                              DeviceScratch& home,
                              const RowProduct& product,
                              std::initializer_list<RowProduct::Part> parts) {
    return runProducts(context, home, product, {parts.begin(), parts.size()});
}

} // namespace engine
