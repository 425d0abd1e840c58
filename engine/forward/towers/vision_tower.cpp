// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/towers/vision_tower.h"

#include "engine/forward/layers/row_steps.h"
#include "engine/forward/matrix_views.h"
#include "engine/forward/towers/projector.h"
#include "engine/forward/towers/vision_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace engine {

using kernels::MatF32;
using kernels::MatView;
using kernels::MutF32;

kernels::AttentionMask openMask(const DeviceScratch& home) {
    kernels::AttentionMask mask;
    mask.causal = false;
    mask.is_open = true;
    // No key is empty: any non-negative numbers serve as positions.
    mask.query_position = mask.key_position = home.ints(Buffer::PatchX);
    return mask;
}

Result<void> VisionTower::rotate(MutF32 heads, int64_t first, const std::string& name) {
    const DeviceScratch& home = *model_->vision.home;
    const int64_t head_dim = model_->config.vision->head_dim;
    const int64_t half = head_dim / 2;
    const float* frequencies = home.buffer(Buffer::VisionInvFreq);
    ENGINE_KERNEL(home.ops().rope(home.queue(), heads, head_dim, 0, half,
                                  home.ints(Buffer::PatchX) + first, frequencies),
                  "RoPE", name);
    return checkStatus(home.ops().rope(home.queue(), heads, head_dim, half, half,
                                       home.ints(Buffer::PatchY) + first, frequencies),
                       "RoPE", name);
}

Result<void> VisionTower::storeKeys(const VisionLayer& layer, int64_t patches) {
    const VisionConfig& vision = *model_->config.vision;
    DeviceScratch& home = *model_->vision.home;
    ComputeContext& context = *model_->context;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(vision.rms_norm_eps);
    const std::string& name = layer.attend.q.name;
    const int64_t heads = vision.num_heads * vision.head_dim;
    const MutF32 x = home.matrix(Buffer::VisionX, patches, vision.hidden_size);
    // Keys and values rounded once a layer, where the device's attention rounds them anyway, for
    // every block of queries anew; else as they are.
    const bool is_rounded = home.has(Buffer::VisionKeysHalf);
    const int64_t block_rows = home.size(Buffer::VisionH) / vision.hidden_size;
    const auto placeOf = [&](Buffer block, Buffer all, int64_t first, int64_t rows) {
        return is_rounded ? home.matrix(block, rows, heads)
                          : MutF32{home.buffer(all) + first * heads, rows, heads, heads};
    };
    for (int64_t first = 0; first < patches; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        const MutF32 h = home.matrix(Buffer::VisionH, rows, vision.hidden_size);
        const MutF32 k = placeOf(Buffer::VisionKBlock, Buffer::VisionKeys, first, rows);
        const MutF32 v = placeOf(Buffer::VisionVBlock, Buffer::VisionValues, first, rows);
        ENGINE_KERNEL(
            ops.rms_norm(queue, rowsOf(x, first, rows), layer.branches.front().pre, eps, h), "norm",
            name);
        ENGINE_TRY(context.linear(layer.attend.k, home, h, k, Buffer::VisionClamp));
        ENGINE_TRY(context.linear(layer.attend.v, home, h, v, Buffer::VisionClamp));
        const MutF32 k_heads = reshaped(k, vision.head_dim);
        const MutF32 v_heads = reshaped(v, vision.head_dim);
        ENGINE_KERNEL(ops.rms_norm(queue, k_heads, layer.attend.k_norm, eps, k_heads), "k norm",
                      name);
        ENGINE_KERNEL(ops.rms_norm(queue, v_heads, MatView{}, eps, v_heads), "v norm", name);
        ENGINE_TRY(rotate(k, first, name));
        if (is_rounded) {
            const int32_t* slots = home.ints(Buffer::PatchSlots) + first;
            ENGINE_KERNEL(ops.store_rows(queue, k, slots, kernels::KvType::BF16, 1,
                                         home.buffer(Buffer::VisionKeysHalf), patches),
                          "store K", name);
            ENGINE_KERNEL(ops.store_rows(queue, v, slots, kernels::KvType::BF16, 1,
                                         home.buffer(Buffer::VisionValuesHalf), patches),
                          "store V", name);
        }
    }
    return {};
}

Result<void>
VisionTower::attend(const VisionLayer& layer, int64_t patches, int64_t first, MatF32 h, MutF32 t) {
    const VisionConfig& vision = *model_->config.vision;
    DeviceScratch& home = *model_->vision.home;
    ComputeContext& context = *model_->context;
    const std::string& name = layer.attend.q.name;
    const int64_t heads = vision.num_heads * vision.head_dim;
    const MutF32 q = home.matrix(Buffer::VisionQ, h.rows, heads);
    const MutF32 o = home.matrix(Buffer::VisionO, h.rows, heads);
    ENGINE_TRY(context.linear(layer.attend.q, home, h, q, Buffer::VisionClamp));
    const MutF32 q_heads = reshaped(q, vision.head_dim);
    ENGINE_KERNEL(home.ops().rms_norm(home.queue(), q_heads, layer.attend.q_norm,
                                      static_cast<float>(vision.rms_norm_eps), q_heads),
                  "q norm", name);
    ENGINE_TRY(rotate(q, first, name));
    const bool is_rounded = home.has(Buffer::VisionKeysHalf);
    kernels::AttentionArgs args;
    args.q = q.data;
    args.k = home.buffer(is_rounded ? Buffer::VisionKeysHalf : Buffer::VisionKeys);
    args.v = home.buffer(is_rounded ? Buffer::VisionValuesHalf : Buffer::VisionValues);
    args.kv_type = is_rounded ? kernels::KvType::BF16 : kernels::KvType::F32;
    args.queries = h.rows;
    args.keys = patches;
    args.num_heads = args.num_kv_heads = vision.num_heads;
    args.head_dim = vision.head_dim;
    args.scale = vision.recipe.attentionScale(vision.head_dim);
    args.mask = openMask(home);
    args.out = o.data;
    ENGINE_KERNEL(home.ops().attention(home.queue(), args), "attention", name);
    return context.linear(layer.attend.o, home, o, t, Buffer::VisionClamp);
}

Result<void> VisionTower::gatedMlp(const VisionLayer& layer, MatF32 h, MutF32 t) {
    const VisionConfig& vision = *model_->config.vision;
    DeviceScratch& home = *model_->vision.home;
    ComputeContext& context = *model_->context;
    const MutF32 gate = home.matrix(Buffer::VisionGate, h.rows, vision.intermediate_size);
    const MutF32 up = home.matrix(Buffer::VisionUp, h.rows, vision.intermediate_size);
    ENGINE_TRY(context.linear(layer.mlp.gate, home, h, gate, Buffer::VisionClamp));
    ENGINE_TRY(context.linear(layer.mlp.up, home, h, up, Buffer::VisionClamp));
    ENGINE_KERNEL(home.ops().gated_mul(home.queue(), vision.recipe.activation, gate, up, gate),
                  "activation", layer.mlp.gate.name);
    return context.linear(layer.mlp.down, home, gate, t, Buffer::VisionClamp);
}

Result<void> VisionTower::runLayer(const VisionLayer& layer, int64_t patches) {
    const VisionConfig& vision = *model_->config.vision;
    DeviceScratch& home = *model_->vision.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(vision.rms_norm_eps);
    const std::string& name = layer.attend.q.name;
    const int64_t block_rows = home.size(Buffer::VisionH) / vision.hidden_size;
    const MutF32 x = home.matrix(Buffer::VisionX, patches, vision.hidden_size);
    ENGINE_TRY(storeKeys(layer, patches));
    for (int64_t first = 0; first < patches; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        const MutF32 block = rowsOf(x, first, rows);
        const MutF32 h = home.matrix(Buffer::VisionH, rows, vision.hidden_size);
        const MutF32 t = home.matrix(Buffer::VisionT, rows, vision.hidden_size);
        for (const BoundBranch& branch : layer.branches) {
            ENGINE_KERNEL(ops.rms_norm(queue, block, branch.pre, eps, h), "norm", name);
            ENGINE_TRY(branch.body == BranchBody::Attention ? attend(layer, patches, first, h, t)
                                                            : gatedMlp(layer, h, t));
            ENGINE_KERNEL(ops.rms_norm_add(queue, t, branch.post, eps, branch.weight, block),
                          "norm and residual", name);
        }
    }
    return {};
}

Result<void> VisionTower::check(const ImageInput& image) const {
    if (!model_->config.vision) {
        return Error{ErrorCode::InvalidRequest,
                     said("this model has no vision tower: it cannot take images")};
    }
    const VisionConfig& vision = *model_->config.vision;
    const int64_t values = 3 * vision.patch_size * vision.patch_size;
    const int64_t pool = vision.pooling_kernel;

    if (image.count() <= 0 || image.grid_w % pool != 0 || image.grid_h % pool != 0 ||
        static_cast<int64_t>(image.patches.size()) != image.count() * values ||
        image.count() * vision.hidden_size > model_->vision.home->size(Buffer::VisionX)) {
        return Error{ErrorCode::InvalidRequest,
                     said("image of %1 x %2 patches: does not fit the budget the model was loaded "
                          "for; load with a larger --image-tokens",
                          image.grid_w, image.grid_h)};
    }
    if (std::max(image.grid_w, image.grid_h) > vision.position_table_size) {
        return Error{ErrorCode::InvalidRequest,
                     said("image of %1 x %2 patches: the model knows %3 positions per side; choose "
                          "a smaller token budget or a squarer picture",
                          image.grid_w, image.grid_h, vision.position_table_size)};
    }
    return {};
}

Result<void> VisionTower::uploadPlaces(const ImageInput& image) {
    const DeviceScratch& home = *model_->vision.home;
    const auto patches = static_cast<size_t>(image.count());
    const auto put = [&](Buffer buffer, const std::vector<int32_t>& values) {
        return checkStatus(
            home.device().copyIn(home.buffer(buffer), values.data(), values.size() * 4), "copy in",
            model_->vision.patches.name);
    };
    std::vector<int32_t> xs(patches);
    std::vector<int32_t> ys(patches);
    for (size_t i = 0; i < patches; ++i) {
        xs[i] = static_cast<int32_t>(static_cast<int64_t>(i) % image.grid_w);
        ys[i] = static_cast<int32_t>(static_cast<int64_t>(i) / image.grid_w);
    }
    ENGINE_TRY(put(Buffer::PatchX, xs));
    ENGINE_TRY(put(Buffer::PatchY, ys));
    if (model_->vision.takes_rows || !home.has(Buffer::PatchSlots)) {
        return {};
    }
    // Row i of the plain layers' keys and values goes to row i.
    std::iota(xs.begin(), xs.end(), 0);
    return put(Buffer::PatchSlots, xs);
}

Result<void> VisionTower::addPositions(std::span<const int32_t> ids,
                                       const kernels::WeightView* table,
                                       std::span<float> rows_host,
                                       MutF32 block) {
    const VisionWeights& weights = model_->vision;
    DeviceScratch& home = *weights.home;
    const std::string& name = weights.patches.name;
    const auto rows = static_cast<int64_t>(ids.size());
    const int64_t hidden = model_->config.vision->hidden_size;
    const MutF32 added = home.matrix(Buffer::VisionT, rows, hidden);
    if (table != nullptr) {
        // The table lies in the device's own memory: its kernels take the rows there.
        int32_t* const there = home.ints(Buffer::PatchIds);
        ENGINE_KERNEL(home.device().copyIn(there, ids.data(), ids.size_bytes()), "copy in", name);
        ENGINE_KERNEL(home.ops().gather_rows(home.queue(), *table, there, rows, 0, 1.0F, added),
                      "gather rows", name);
    } else {
        if (weights.replaced_positions.empty()) {
            ENGINE_TRY(model_->context->weights().gatherRows(
                weights.positions, ids, 0, 1.0F, {rows_host.data(), rows, hidden, hidden}));
        } else {
            for (int64_t i = 0; i < rows; ++i) {
                const int64_t from = ids[static_cast<size_t>(i)] * hidden;
                std::copy_n(weights.replaced_positions.begin() + from, hidden,
                            rows_host.begin() + i * hidden);
            }
        }
        ENGINE_KERNEL(home.device().copyIn(added.data, rows_host.data(),
                                           static_cast<size_t>(rows * hidden) * 4),
                      "copy in", name);
    }
    return checkStatus(home.ops().add_scaled(home.queue(), added, 1.0F, block), "add positions",
                       name);
}

Result<void> VisionTower::embed(const ImageInput& image) {
    const VisionConfig& vision = *model_->config.vision;
    const VisionWeights& weights = model_->vision;
    DeviceScratch& home = *weights.home;
    const std::string& name = weights.patches.name;
    const int64_t patches = image.count();
    const int64_t values = weights.patches.in;
    const MutF32 x = home.matrix(Buffer::VisionX, patches, vision.hidden_size);
    const auto table = home.device().isHostVisible() || !weights.replaced_positions.empty()
                           ? std::nullopt
                           : model_->context->weights().residentOn(weights.positions, home.id());
    if (weights.takes_rows && table && values % 8 == 0 &&
        isFusible(weights.patches, home, *model_->context)) {
        return embedPatchRows(*model_, image, *table);
    }
    const int64_t block_rows = home.size(Buffer::VisionH) / vision.hidden_size;
    std::vector<float> host(
        static_cast<size_t>(std::min(block_rows, patches) * std::max(values, vision.hidden_size)));
    for (int64_t first = 0; first < patches; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        const float* pixels = image.patches.data() + first * values;
        for (int64_t i = 0; i < rows * values; ++i) {
            host[static_cast<size_t>(i)] = 2.0F * (pixels[i] - 0.5F);
        }
        const MutF32 in = home.matrix(Buffer::VisionPatch, rows, values);
        const MutF32 block = rowsOf(x, first, rows);
        ENGINE_KERNEL(
            home.device().copyIn(in.data, host.data(), static_cast<size_t>(rows * values) * 4),
            "copy in", name);
        ENGINE_TRY(model_->context->linear(weights.patches, home, in, block));
        std::vector<int32_t> ids(static_cast<size_t>(rows));
        for (const bool is_y : {false, true}) {
            for (int64_t i = 0; i < rows; ++i) {
                const int64_t at = first + i;
                ids[static_cast<size_t>(i)] = static_cast<int32_t>(
                    is_y ? at / image.grid_w + vision.position_table_size : at % image.grid_w);
            }
            ENGINE_TRY(addPositions(ids, table ? &*table : nullptr, host, block));
        }
    }
    return {};
}

Result<std::vector<float>> VisionTower::poolOnHost(const ImageInput& image, float factor) {
    const VisionConfig& vision = *model_->config.vision;
    const DeviceScratch& home = *model_->vision.home;
    const int64_t patches = image.count();
    const int64_t pool = vision.pooling_kernel;
    std::vector<float> states(static_cast<size_t>(patches * vision.hidden_size));
    ENGINE_KERNEL(
        home.device().copyOut(states.data(), home.buffer(Buffer::VisionX), states.size() * 4),
        "copy out", model_->vision.name);
    std::vector<float> pooled(states.size() / static_cast<size_t>(pool * pool), 0.0F);
    for (int64_t p = 0; p < patches; ++p) {
        const int64_t token =
            (p / image.grid_w / pool) * (image.grid_w / pool) + (p % image.grid_w) / pool;
        const float* from = states.data() + p * vision.hidden_size;
        float* to = pooled.data() + token * vision.hidden_size;
        for (int64_t c = 0; c < vision.hidden_size; ++c) {
            to[c] += from[c];
        }
    }
    for (float& value : pooled) {
        value *= factor;
    }
    return pooled;
}

Result<MutF32> VisionTower::pool(const ImageInput& image) {
    // Average over side x side patches, in fp32, times sqrt(hidden).
    const VisionConfig& vision = *model_->config.vision;
    DeviceScratch& home = *model_->vision.home;
    const int64_t side = vision.pooling_kernel;
    const float factor =
        std::sqrt(static_cast<float>(vision.hidden_size)) / static_cast<float>(side * side);
    const int64_t tokens = image.count() / (side * side);
    if (model_->vision.takes_rows) {
        const MutF32 pooled = home.matrix(Buffer::VisionRowsPool, tokens, vision.hidden_size);
        const MutF32 x = home.matrix(Buffer::VisionX, image.count(), vision.hidden_size);
        ENGINE_KERNEL(home.ops().pool_rows(home.queue(), x, image.grid_w, side, factor, pooled),
                      "pooling", model_->vision.name);
        return pooled;
    }
    const MutF32 pooled = home.matrix(Buffer::VisionX, tokens, vision.hidden_size);
    ENGINE_ASSIGN(const std::vector<float> host, poolOnHost(image, factor));
    ENGINE_KERNEL(home.device().copyIn(pooled.data, host.data(), host.size() * 4), "copy in",
                  model_->vision.name);
    return pooled;
}

Result<void> VisionTower::standardize(MutF32 rows) {
    if (!model_->config.vision->standardize) {
        return {};
    }
    // (x - bias) * scale; the table holds +bias, so subtract through the scale of -1.
    const DeviceScratch& home = *model_->vision.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const std::string& name = model_->vision.name;
    ENGINE_KERNEL(ops.scale(queue, rows, -1.0F), "standardize", name);
    ENGINE_KERNEL(ops.add_columns(queue, rows, model_->vision.std_bias.data), "standardize", name);
    ENGINE_KERNEL(ops.scale(queue, rows, -1.0F), "standardize", name);
    return checkStatus(ops.scale_columns(queue, rows, model_->vision.std_scale.data), "standardize",
                       name);
}

Result<MutF32> VisionTower::runLayers(const ImageInput& image,
                                      const std::stop_token& stop,
                                      std::vector<float>* tower_output) {
    ENGINE_TRY(check(image));
    ENGINE_TRY(uploadPlaces(image));
    ENGINE_TRY(embed(image));
    const VisionWeights& weights = model_->vision;
    for (size_t i = 0; i < weights.layers.size(); ++i) {
        if (!model_->mayGoOn(stop)) {
            return Error{ErrorCode::Cancelled, said("stopped by the user")};
        }
        ENGINE_TRY(weights.takes_rows ? runVisionRows(*model_, i, image.count())
                                      : runLayer(weights.layers[i], image.count()));
    }
    ENGINE_ASSIGN(const MutF32 pooled, pool(image));
    ENGINE_TRY(standardize(pooled));
    if (tower_output != nullptr) {
        tower_output->resize(static_cast<size_t>(pooled.rows * pooled.cols));
        ENGINE_KERNEL(weights.home->device().copyOut(tower_output->data(), pooled.data,
                                                     tower_output->size() * 4),
                      "copy out", model_->vision.name);
    }
    return pooled;
}

Result<std::vector<float>> VisionTower::encode(const ImageInput& image,
                                               const std::stop_token& stop,
                                               std::vector<float>* tower_output) {
    ENGINE_ASSIGN(const MutF32 tower, runLayers(image, stop, tower_output));
    const VisionWeights& weights = model_->vision;
    DeviceScratch& home = *weights.home;
    const double eps = model_->config.vision->rms_norm_eps;
    // The projector's input may share memory with VisionX on the same device, never with fused
    // rows' pooled output.
    if (!weights.takes_rows || model_->context->scratch(weights.projector.device) != &home) {
        ENGINE_ASSIGN(const std::vector<float> rows,
                      normedOnHost(home, tower, eps, weights.projector.name));
        return project(rows);
    }
    const MutF32 in = home.matrix(Buffer::VisionProjectorIn, tower.rows, tower.cols);
    ENGINE_KERNEL(home.ops().rms_norm(home.queue(), tower, MatView{}, static_cast<float>(eps), in),
                  "norm", weights.projector.name);
    return projected(*model_, weights.projector, home, in, Buffer::VisionProjectorOut);
}

Result<std::vector<float>> VisionTower::run(const ImageInput& image, const std::stop_token& stop) {
    ENGINE_ASSIGN(const MutF32 tower, runLayers(image, stop, nullptr));
    return normedOnHost(*model_->vision.home, tower, model_->config.vision->rms_norm_eps,
                        model_->vision.projector.name);
}

Result<std::vector<float>> VisionTower::project(std::span<const float> tower) {
    return projectedFromHost(*model_, model_->vision.projector, tower, Buffer::VisionProjectorIn,
                             Buffer::VisionProjectorOut);
}

} // namespace engine
