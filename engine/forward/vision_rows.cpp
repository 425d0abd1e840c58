// SPDX-License-Identifier: Apache-2.0
// The layers of the vision tower in fused steps of many rows: the same formulas as visionLayer(),
// with bf16 rows between the products, as the products round them anyway.
#include "engine/forward/model.h"
#include "engine/forward/row_steps.h"

#include <algorithm>
#include <cmath>

namespace engine {

using kernels::MutF32;
using kernels::ProductArgs;

bool Model::canFuseVision(const DeviceScratch& home) const {
    const VisionConfig& vision = *config_.vision;
    if (!is_vision_fused_ || !home.has("vf_h") || home.ops().product == nullptr ||
        vision.hidden_size % 8 != 0 || vision.intermediate_size % 8 != 0 ||
        vision.num_heads * vision.head_dim % 8 != 0) {
        return false;
    }
    return std::all_of(vision_layers_.begin(), vision_layers_.end(), [&](const auto& layer) {
        return areFusible(
            {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down}, home,
            *context_);
    });
}

Result<void> Model::embedPatches(const ImageInput& image,
                                 DeviceScratch& home,
                                 const kernels::WeightView& table,
                                 const std::vector<int32_t>& rows_of_table) {
    const VisionConfig& vision = *config_.vision;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const std::string& name = patch_projection_.name;
    const int64_t values = 3 * vision.patch_size * vision.patch_size;
    const int64_t patches = image.grid_w * image.grid_h;
    const int64_t block_rows = home.size("vf_pixels") / values;
    // Rows of the table for the columns, then for the rows of patches.
    auto* const ids = reinterpret_cast<int32_t*>(home.buffer("patch_ids"));
    ENGINE_KERNEL(home.device().copyIn(ids, rows_of_table.data(), rows_of_table.size() * 4),
                  "copy in", name);
    const auto* const columns = reinterpret_cast<const int32_t*>(home.buffer("patch_x"));
    for (int64_t first = 0; first < patches; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        const MutF32 pixels = home.matrix("vf_pixels", rows, values);
        ENGINE_KERNEL(home.device().copyIn(pixels.data, image.patches.data() + first * values,
                                           static_cast<size_t>(rows * values) * 4),
                      "copy in", name);
        ENGINE_KERNEL(ops.scale_to_half(queue, pixels, -0.5F, 2.0F, home.buffer("vf_patch")),
                      "patches", name);
        MutF32 x = home.matrix("vx", patches, vision.hidden_size);
        x = {x.data + first * x.stride, rows, x.cols, x.stride};
        RowProduct product;
        product.x = home.buffer("vf_patch");
        product.rows = rows;
        ENGINE_TRY(runProduct(*context_, home, product, {{&patch_projection_, x.data}}));
        const MutF32 added = home.matrix("vf_t", rows, vision.hidden_size);
        for (const int32_t* const at : {columns, static_cast<const int32_t*>(ids)}) {
            ENGINE_KERNEL(ops.gather_rows(queue, table, at + first, rows, 0, 1.0F, added),
                          "gather rows", name);
            ENGINE_KERNEL(ops.add_scaled(queue, added, 1.0F, x), "add positions", name);
        }
    }
    return {};
}

Result<void> Model::visionLayerFused(const VisionLayer& layer,
                                     const VisionLayer* next,
                                     DeviceScratch& home,
                                     int64_t patches,
                                     bool is_first) {
    const VisionConfig& vision = *config_.vision;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(vision.rms_norm_eps);
    const std::string& name = layer.q.name;
    const int64_t hidden = vision.hidden_size;
    const int64_t heads = vision.num_heads * vision.head_dim;
    const int64_t block_rows = home.size("vf_t") / hidden;
    const auto* patch_x = reinterpret_cast<const int32_t*>(home.buffer("patch_x"));
    const auto* patch_y = reinterpret_cast<const int32_t*>(home.buffer("patch_y"));
    const auto halfRows = [&](const char* buffer, int64_t first, int64_t width) {
        return reinterpret_cast<uint16_t*>(home.buffer(buffer)) + first * width;
    };
    float* const x = home.buffer("vx");
    // One block: its rows are normed by the layer before (or here, in the first layer).
    const bool is_whole = patches <= block_rows;

    kernels::NormRowsArgs norm;
    norm.cols = hidden;
    norm.eps = eps;
    norm.h = home.buffer("vf_h");
    for (int64_t first = 0; first < patches; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        if (is_first || !is_whole) {
            norm.x = x + first * hidden;
            norm.rows = rows;
            norm.norm = layer.input_norm;
            ENGINE_KERNEL(ops.norm_rows(queue, norm), "norm", name);
        }
        RowProduct product;
        product.x = home.buffer("vf_h");
        product.rows = rows;
        product.parts = static_cast<int>(home.size("vf_q") / (rows * heads));
        ENGINE_ASSIGN(const int parts, runProduct(*context_, home, product,
                                                  {{&layer.q, home.buffer("vf_q")},
                                                   {&layer.k, home.buffer("vf_k")},
                                                   {&layer.v, home.buffer("vf_v")}}));
        kernels::HeadRowsArgs args;
        args.q = home.buffer("vf_q");
        args.k = home.buffer("vf_k");
        args.v = home.buffer("vf_v");
        args.parts = parts;
        args.q_norm = layer.q_norm;
        args.k_norm = layer.k_norm;
        args.position = patch_x + first;
        args.position_2 = patch_y + first;
        args.inv_freq = home.buffer("inv_freq_vision");
        args.q_to = halfRows("vf_q16", first, heads);
        args.to[0].k = halfRows("vf_k16", first, heads);
        args.to[0].v = halfRows("vf_v16", first, heads);
        args.to[0].capacity = rows;
        args.rows = rows;
        args.num_heads = args.num_kv_heads = vision.num_heads;
        args.head_dim = vision.head_dim;
        args.eps = eps;
        ENGINE_KERNEL(ops.head_rows(queue, args), "head norms and RoPE", name);
    }
    for (int64_t first = 0; first < patches; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        kernels::AttentionArgs args;
        args.q = reinterpret_cast<const float*>(halfRows("vf_q16", first, heads));
        args.k = home.buffer("vf_k16");
        args.v = home.buffer("vf_v16");
        args.kv_type = kernels::DType::BF16;
        args.is_half = true;
        args.queries = rows;
        args.keys = patches;
        args.num_heads = args.num_kv_heads = vision.num_heads;
        args.head_dim = vision.head_dim;
        args.mask.causal = false;
        args.out = home.buffer("vf_o");
        kernels::Status status = ops.attention(queue, args);
        if (status == kernels::Status::Unsupported) {
            // No key is empty: any non-negative numbers serve as positions.
            args.mask.query_position = patch_x;
            args.mask.key_position = patch_x;
            status = ops.attention(queue, args);
        }
        ENGINE_TRY(checkStatus(status, "attention", name));

        RowProduct product;
        product.rows = rows;
        product.parts = static_cast<int>(home.size("vf_t") / (rows * hidden));
        product.x = home.buffer("vf_o");
        norm.x = x + first * hidden;
        norm.rows = rows;
        norm.t = home.buffer("vf_t");
        ENGINE_ASSIGN(norm.parts,
                      runProduct(*context_, home, product, {{&layer.o, home.buffer("vf_t")}}));
        norm.t_norm = layer.post_attention_norm;
        norm.norm = layer.pre_mlp_norm;
        ENGINE_KERNEL(ops.norm_rows(queue, norm), "norm", name);

        RowProduct pair;
        pair.x = home.buffer("vf_h");
        pair.rows = rows;
        pair.output = ProductArgs::Output::GeluPair;
        ENGINE_TRY(runProduct(*context_, home, pair,
                              {{&layer.gate, home.buffer("vf_act")}, {&layer.up, nullptr}}));
        product.x = home.buffer("vf_act");
        ENGINE_ASSIGN(norm.parts,
                      runProduct(*context_, home, product, {{&layer.down, home.buffer("vf_t")}}));
        norm.t_norm = layer.post_mlp_norm;
        norm.norm = is_whole && next != nullptr ? next->input_norm : kernels::MatView{};
        norm.h = is_whole && next != nullptr ? home.buffer("vf_h") : nullptr;
        ENGINE_KERNEL(ops.norm_rows(queue, norm), "norm", name);
        norm.h = home.buffer("vf_h");
    }
    return {};
}

} // namespace engine
