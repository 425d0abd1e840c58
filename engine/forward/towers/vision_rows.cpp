// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/towers/vision_rows.h"

#include "engine/forward/layers/row_steps.h"
#include "engine/forward/matrix_views.h"

#include <algorithm>
#include <vector>

namespace engine {

using kernels::MutF32;
using kernels::ProductArgs;

namespace {

uint16_t* halfRows(const DeviceScratch& home, Buffer buffer, int64_t first, int64_t width) {
    return reinterpret_cast<uint16_t*>(home.buffer(buffer)) + first * width;
}

/// Heads of a block of patches to what attention reads. H holds their normed input.
Result<void>
projectHeads(BoundModel& model, const VisionLayer& layer, int64_t first, int64_t rows) {
    const VisionConfig& vision = *model.config.vision;
    DeviceScratch& home = *model.vision.home;
    const int64_t heads = vision.num_heads * vision.head_dim;
    RowProduct product;
    product.x = home.buffer(Buffer::VisionRowsH);
    product.rows = rows;
    product.parts = static_cast<int>(home.size(Buffer::VisionRowsQ) / (rows * heads));
    kernels::HeadRowsArgs args;
    args.q = home.buffer(Buffer::VisionRowsQ);
    args.k = home.buffer(Buffer::VisionRowsK);
    args.v = home.buffer(Buffer::VisionRowsV);
    ENGINE_ASSIGN(args.parts, runProduct(*model.context, home, product,
                                         {{&layer.attend.q, home.buffer(Buffer::VisionRowsQ)},
                                          {&layer.attend.k, home.buffer(Buffer::VisionRowsK)},
                                          {&layer.attend.v, home.buffer(Buffer::VisionRowsV)}}));
    args.q_norm = layer.attend.q_norm;
    args.k_norm = layer.attend.k_norm;
    args.position = home.ints(Buffer::PatchX) + first;
    args.position_2 = home.ints(Buffer::PatchY) + first;
    args.inv_freq = home.buffer(Buffer::VisionInvFreq);
    args.q_to = halfRows(home, Buffer::VisionRowsQueries, first, heads);
    args.to[0].k = halfRows(home, Buffer::VisionRowsKeys, first, heads);
    args.to[0].v = halfRows(home, Buffer::VisionRowsValues, first, heads);
    args.to[0].capacity = rows;
    args.rows = rows;
    args.num_heads = args.num_kv_heads = vision.num_heads;
    args.head_dim = vision.head_dim;
    args.eps = static_cast<float>(vision.rms_norm_eps);
    return checkStatus(home.ops().head_rows(home.queue(), args), "head norms and RoPE",
                       layer.attend.q.name);
}

/// A linear's sums to VisionRowsT, in as many parts as it has room for.
Result<int> projectBack(BoundModel& model, const Linear& linear, const void* from, int64_t rows) {
    DeviceScratch& home = *model.vision.home;
    RowProduct product;
    product.x = from;
    product.rows = rows;
    product.parts = static_cast<int>(home.size(Buffer::VisionRowsT) / (rows * linear.out));
    return runProduct(*model.context, home, product, {{&linear, home.buffer(Buffer::VisionRowsT)}});
}

Result<int>
attend(BoundModel& model, const VisionLayer& layer, int64_t patches, int64_t first, int64_t rows) {
    const VisionConfig& vision = *model.config.vision;
    DeviceScratch& home = *model.vision.home;
    kernels::AttentionArgs args;
    args.q = reinterpret_cast<const float*>(
        halfRows(home, Buffer::VisionRowsQueries, first, vision.num_heads * vision.head_dim));
    args.k = home.buffer(Buffer::VisionRowsKeys);
    args.v = home.buffer(Buffer::VisionRowsValues);
    args.kv_type = kernels::KvType::BF16;
    args.is_half = true;
    args.queries = rows;
    args.keys = patches;
    args.num_heads = args.num_kv_heads = vision.num_heads;
    args.head_dim = vision.head_dim;
    args.scale = vision.recipe.attentionScale(vision.head_dim);
    args.mask = openMask(home);
    args.out = home.buffer(Buffer::VisionRowsO);
    ENGINE_KERNEL(home.ops().attention(home.queue(), args), "attention", layer.attend.q.name);
    return projectBack(model, layer.attend.o, args.out, rows);
}

Result<int> gatedMlp(BoundModel& model, const VisionLayer& layer, int64_t rows) {
    DeviceScratch& home = *model.vision.home;
    RowProduct pair;
    pair.x = home.buffer(Buffer::VisionRowsH);
    pair.rows = rows;
    pair.output = ProductArgs::Output::GatedPair;
    pair.activation = model.config.vision->recipe.activation;
    ENGINE_TRY(runProduct(
        *model.context, home, pair,
        {{&layer.mlp.gate, home.buffer(Buffer::VisionRowsAct)}, {&layer.mlp.up, nullptr}}));
    return projectBack(model, layer.mlp.down, home.buffer(Buffer::VisionRowsAct), rows);
}

} // namespace

void chooseVisionRows(BoundModel& model) {
    const VisionConfig& vision = *model.config.vision;
    VisionWeights& weights = model.vision;
    const DeviceScratch& home = *weights.home;
    const kernels::OpTable& ops = home.ops();
    // A head's halves turn by themselves, in pieces of two.
    const bool has_steps = isFusible(vision.recipe) && home.has(Buffer::VisionRowsH) &&
                           ops.takes_rows != nullptr && vision.head_dim % 4 == 0 &&
                           ops.takes_rows(home.queue(), vision.hidden_size, vision.head_dim) &&
                           vision.hidden_size % 8 == 0 && vision.intermediate_size % 8 == 0 &&
                           vision.num_heads * vision.head_dim % 8 == 0;
    weights.takes_rows =
        has_steps &&
        std::all_of(weights.layers.begin(), weights.layers.end(), [&](const VisionLayer& layer) {
            const AttentionWeights& a = layer.attend;
            const MlpWeights& m = layer.mlp;
            return areFusible({&a.q, &a.k, &a.v, &a.o, &m.gate, &m.up, &m.down}, home,
                              *model.context);
        });
}

Result<void>
embedPatchRows(BoundModel& model, const ImageInput& image, const kernels::WeightView& table) {
    const VisionConfig& vision = *model.config.vision;
    DeviceScratch& home = *model.vision.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const Linear& linear = model.vision.patches;
    const int64_t values = linear.in;
    const int64_t patches = image.count();
    const int64_t block_rows = home.size(Buffer::VisionRowsPixels) / values;
    // Rows of the table for the columns, then for the rows of patches.
    std::vector<int32_t> rows_of_table(static_cast<size_t>(patches));
    for (int64_t i = 0; i < patches; ++i) {
        rows_of_table[static_cast<size_t>(i)] =
            static_cast<int32_t>(i / image.grid_w + vision.position_table_size);
    }
    int32_t* const ids = home.ints(Buffer::PatchIds);
    ENGINE_KERNEL(home.device().copyIn(ids, rows_of_table.data(), rows_of_table.size() * 4),
                  "copy in", linear.name);
    const MutF32 x = home.matrix(Buffer::VisionX, patches, vision.hidden_size);
    for (int64_t first = 0; first < patches; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        const MutF32 pixels = home.matrix(Buffer::VisionRowsPixels, rows, values);
        ENGINE_KERNEL(home.device().copyIn(pixels.data, image.patches.data() + first * values,
                                           static_cast<size_t>(rows * values) * 4),
                      "copy in", linear.name);
        ENGINE_KERNEL(
            ops.scale_to_half(queue, pixels, -0.5F, 2.0F, home.buffer(Buffer::VisionRowsPatch)),
            "patches", linear.name);
        const MutF32 block = rowsOf(x, first, rows);
        RowProduct product;
        product.x = home.buffer(Buffer::VisionRowsPatch);
        product.rows = rows;
        ENGINE_TRY(runProduct(*model.context, home, product, {{&linear, block.data}}));
        const MutF32 added = home.matrix(Buffer::VisionRowsT, rows, vision.hidden_size);
        for (const int32_t* const at : {home.ints(Buffer::PatchX), ids}) {
            ENGINE_KERNEL(ops.gather_rows(queue, table, at + first, rows, 0, 1.0F, added),
                          "gather rows", linear.name);
            ENGINE_KERNEL(ops.add_scaled(queue, added, 1.0F, block), "add positions", linear.name);
        }
    }
    return {};
}

Result<void> runVisionRows(BoundModel& model, size_t index, int64_t patches) {
    const VisionConfig& vision = *model.config.vision;
    const std::vector<VisionLayer>& layers = model.vision.layers;
    const VisionLayer& layer = layers[index];
    const VisionLayer* const next = index + 1 < layers.size() ? &layers[index + 1] : nullptr;
    DeviceScratch& home = *model.vision.home;
    const std::string& name = layer.attend.q.name;
    const int64_t block_rows = home.size(Buffer::VisionRowsT) / vision.hidden_size;
    // One block: its rows are normed by the layer before (or here, in the first layer).
    const bool is_whole = patches <= block_rows;

    kernels::NormRowsArgs norm;
    norm.cols = vision.hidden_size;
    norm.eps = static_cast<float>(vision.rms_norm_eps);
    for (int64_t first = 0; first < patches; first += block_rows) {
        norm.x = home.buffer(Buffer::VisionX) + first * vision.hidden_size;
        norm.rows = std::min(block_rows, patches - first);
        if (index == 0 || !is_whole) {
            norm.norm = layer.branches.front().pre;
            norm.h = home.buffer(Buffer::VisionRowsH);
            ENGINE_KERNEL(home.ops().norm_rows(home.queue(), norm), "norm", name);
        }
        ENGINE_TRY(projectHeads(model, layer, first, norm.rows));
    }
    norm.t = home.buffer(Buffer::VisionRowsT);
    for (int64_t first = 0; first < patches; first += block_rows) {
        norm.x = home.buffer(Buffer::VisionX) + first * vision.hidden_size;
        norm.rows = std::min(block_rows, patches - first);
        for (size_t i = 0; i < layer.branches.size(); ++i) {
            const BoundBranch& branch = layer.branches[i];
            if (branch.body == BranchBody::Attention) {
                ENGINE_ASSIGN(norm.parts, attend(model, layer, patches, first, norm.rows));
            } else {
                ENGINE_ASSIGN(norm.parts, gatedMlp(model, layer, norm.rows));
            }
            const bool is_last = i + 1 == layer.branches.size();
            const bool has_reader = !is_last || (is_whole && next != nullptr);
            norm.t_norm = branch.post;
            norm.norm = !is_last     ? layer.branches[i + 1].pre
                        : has_reader ? next->branches.front().pre
                                     : kernels::MatView{};
            norm.h = has_reader ? home.buffer(Buffer::VisionRowsH) : nullptr;
            ENGINE_KERNEL(home.ops().norm_rows(home.queue(), norm), "norm", name);
        }
    }
    return {};
}

} // namespace engine
