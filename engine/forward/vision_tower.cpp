// SPDX-License-Identifier: Apache-2.0
// The vision tower and its projector. Formulas: ARCHITECTURE.md, section 4. One image at its
// true size (no padding). Everything outside attention runs in blocks of rows, so that scratch
// stays small for 1120-token images.
#include "engine/api/error_cause.h"
#include "engine/forward/model.h"
#include "engine/forward/row_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace engine {

using kernels::MatF32;
using kernels::MatView;
using kernels::MutF32;

namespace {

MutF32 rowsOf(MutF32 m, int64_t first, int64_t rows) {
    return {m.data + first * m.stride, rows, m.cols, m.stride};
}

MutF32 reshaped(MutF32 m, int64_t width) {
    return {m.data, m.rows * (m.cols / width), width, width};
}

} // namespace

Result<void> Model::visionLayer(const VisionLayer& layer,
                                DeviceScratch& home,
                                int64_t patches,
                                const std::string& name) {
    const VisionConfig& vision = *config_.vision;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(vision.rms_norm_eps);
    const int64_t heads = vision.num_heads * vision.head_dim;
    const int64_t half = vision.head_dim / 2;
    const auto* patch_x = reinterpret_cast<const int32_t*>(home.buffer("patch_x"));
    const auto* patch_y = reinterpret_cast<const int32_t*>(home.buffer("patch_y"));
    const float* frequencies = home.buffer("inv_freq_vision");
    const MutF32 x = home.matrix("vx", patches, vision.hidden_size);
    // Keys and values rounded once a layer, where the device's attention rounds them anyway, for
    // every block of queries anew; else as they are.
    const bool is_rounded = home.has("vk_bf16");
    float* const all_keys = home.buffer(is_rounded ? "vk_bf16" : "vk");
    float* const all_values = home.buffer(is_rounded ? "vv_bf16" : "vv");
    const int64_t block_rows = home.size("vh") / vision.hidden_size;

    // Half 0 of each head turns with the column, half 1 with the row.
    const auto rotate = [&](MutF32 m, int64_t first) -> Result<void> {
        ENGINE_KERNEL(ops.rope(queue, m, vision.head_dim, 0, half, patch_x + first, frequencies),
                      "RoPE", name);
        ENGINE_KERNEL(ops.rope(queue, m, vision.head_dim, half, half, patch_y + first, frequencies),
                      "RoPE", name);
        return {};
    };

    for (int64_t first = 0; first < patches; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        const MutF32 h = home.matrix("vh", rows, vision.hidden_size);
        const MutF32 k = is_rounded ? home.matrix("vk_block", rows, heads)
                                    : MutF32{all_keys + first * heads, rows, heads, heads};
        const MutF32 v = is_rounded ? home.matrix("vv_block", rows, heads)
                                    : MutF32{all_values + first * heads, rows, heads, heads};
        ENGINE_KERNEL(ops.rms_norm(queue, rowsOf(x, first, rows), layer.input_norm, eps, h), "norm",
                      name);
        ENGINE_TRY(context_->linear(layer.k, home, h, k, "vclamp"));
        ENGINE_TRY(context_->linear(layer.v, home, h, v, "vclamp"));
        ENGINE_KERNEL(ops.rms_norm(queue, reshaped(k, vision.head_dim), layer.k_norm, eps,
                                   reshaped(k, vision.head_dim)),
                      "k norm", name);
        ENGINE_KERNEL(ops.rms_norm(queue, reshaped(v, vision.head_dim), MatView{}, eps,
                                   reshaped(v, vision.head_dim)),
                      "v norm", name);
        ENGINE_TRY(rotate(k, first));
        if (is_rounded) {
            const auto* slots =
                reinterpret_cast<const int32_t*>(home.buffer("patch_slots")) + first;
            ENGINE_KERNEL(ops.store_rows(queue, k, slots, kernels::DType::BF16, all_keys, patches),
                          "store K", name);
            ENGINE_KERNEL(
                ops.store_rows(queue, v, slots, kernels::DType::BF16, all_values, patches),
                "store V", name);
        }
    }
    for (int64_t first = 0; first < patches; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        const MutF32 block = rowsOf(x, first, rows);
        const MutF32 h = home.matrix("vh", rows, vision.hidden_size);
        const MutF32 t = home.matrix("vt", rows, vision.hidden_size);
        const MutF32 q = home.matrix("vq", rows, heads);
        const MutF32 o = home.matrix("vo", rows, heads);
        ENGINE_KERNEL(ops.rms_norm(queue, block, layer.input_norm, eps, h), "norm", name);
        ENGINE_TRY(context_->linear(layer.q, home, h, q, "vclamp"));
        ENGINE_KERNEL(ops.rms_norm(queue, reshaped(q, vision.head_dim), layer.q_norm, eps,
                                   reshaped(q, vision.head_dim)),
                      "q norm", name);
        ENGINE_TRY(rotate(q, first));
        kernels::AttentionArgs args;
        args.q = q.data;
        args.k = all_keys;
        args.v = all_values;
        args.kv_type = is_rounded ? kernels::DType::BF16 : kernels::DType::F32;
        args.queries = rows;
        args.keys = patches;
        args.num_heads = vision.num_heads;
        args.num_kv_heads = vision.num_heads;
        args.head_dim = vision.head_dim;
        args.mask.causal = false;
        // No key is empty: any non-negative numbers serve as positions.
        args.mask.query_position = patch_x;
        args.mask.key_position = patch_x;
        args.out = o.data;
        ENGINE_KERNEL(ops.attention(queue, args), "attention", name);
        ENGINE_TRY(context_->linear(layer.o, home, o, t, "vclamp"));
        ENGINE_KERNEL(ops.rms_norm_add(queue, t, layer.post_attention_norm, eps, 1.0F, block),
                      "norm", name);

        ENGINE_KERNEL(ops.rms_norm(queue, block, layer.pre_mlp_norm, eps, h), "norm", name);
        const MutF32 gate = home.matrix("vgate", rows, vision.intermediate_size);
        const MutF32 up = home.matrix("vup", rows, vision.intermediate_size);
        ENGINE_TRY(context_->linear(layer.gate, home, h, gate, "vclamp"));
        ENGINE_TRY(context_->linear(layer.up, home, h, up, "vclamp"));
        ENGINE_KERNEL(ops.gelu_mul(queue, gate, up, gate), "GELU", name);
        ENGINE_TRY(context_->linear(layer.down, home, gate, t, "vclamp"));
        ENGINE_KERNEL(ops.rms_norm_add(queue, t, layer.post_mlp_norm, eps, 1.0F, block), "norm",
                      name);
    }
    return {};
}

Result<std::vector<float>>
Model::poolOnHost(const ImageInput& image, DeviceScratch& home, float factor) {
    const VisionConfig& vision = *config_.vision;
    const int64_t patches = image.grid_w * image.grid_h;
    const int64_t pool = vision.pooling_kernel;
    std::vector<float> states(static_cast<size_t>(patches * vision.hidden_size));
    ENGINE_KERNEL(home.device().copyOut(states.data(), home.buffer("vx"), states.size() * 4),
                  "copy out", "model.vision_tower");
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

Result<Model::TowerRows> Model::visionTower(const ImageInput& image,
                                            const std::stop_token& stop,
                                            std::vector<float>* tower_output) {
    if (!config_.vision) {
        return Error{ErrorCode::InvalidRequest,
                     "this model has no vision tower: it cannot take images"};
    }
    const VisionConfig& vision = *config_.vision;
    DeviceScratch& home = *vision_home_;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const int64_t patches = image.grid_w * image.grid_h;
    const int64_t values = 3 * vision.patch_size * vision.patch_size;
    const int64_t pool = vision.pooling_kernel;
    const int64_t tokens = (image.grid_w / pool) * (image.grid_h / pool);
    const std::string name = "model.vision_tower";
    if (patches <= 0 || image.grid_w % pool != 0 || image.grid_h % pool != 0 ||
        static_cast<int64_t>(image.patches.size()) != patches * values ||
        patches * vision.hidden_size > home.size("vx")) {
        return Error{ErrorCode::InvalidRequest,
                     "image of " + std::to_string(image.grid_w) + " x " +
                         std::to_string(image.grid_h) +
                         " patches: does not fit the budget the model was loaded for; load with a "
                         "larger --image-tokens",
                     {},
                     causeOf(cause::PictureTooLarge{image.grid_w, image.grid_h})};
    }
    if (std::max(image.grid_w, image.grid_h) > vision.position_table_size) {
        return Error{ErrorCode::InvalidRequest,
                     "image of " + std::to_string(image.grid_w) + " x " +
                         std::to_string(image.grid_h) + " patches: the model knows " +
                         std::to_string(vision.position_table_size) +
                         " positions per side; choose a smaller token budget or a squarer picture"};
    }

    std::vector<int32_t> xs(static_cast<size_t>(patches));
    std::vector<int32_t> ys(static_cast<size_t>(patches));
    for (int64_t i = 0; i < patches; ++i) {
        xs[static_cast<size_t>(i)] = static_cast<int32_t>(i % image.grid_w);
        ys[static_cast<size_t>(i)] = static_cast<int32_t>(i / image.grid_w);
    }
    ENGINE_KERNEL(home.device().copyIn(home.buffer("patch_x"), xs.data(), xs.size() * 4), "copy in",
                  name);
    ENGINE_KERNEL(home.device().copyIn(home.buffer("patch_y"), ys.data(), ys.size() * 4), "copy in",
                  name);

    // Row i of the plain layers' keys and values goes to row i.
    const auto uploadSlots = [&]() -> Result<void> {
        if (!home.has("patch_slots")) {
            return {};
        }
        std::vector<int32_t> slots(static_cast<size_t>(patches));
        std::iota(slots.begin(), slots.end(), 0);
        return checkStatus(
            home.device().copyIn(home.buffer("patch_slots"), slots.data(), slots.size() * 4),
            "copy in", name);
    };

    // Patch embedding: W (2 (p - 0.5)) + table[0][x] + table[1][y].
    const MutF32 x = home.matrix("vx", patches, vision.hidden_size);
    const auto table = home.device().isHostVisible() || !replaced_positions_.empty()
                           ? std::nullopt
                           : context_->weights().residentOn(position_table_, home.id());
    bool is_fused = canFuseVision(home);
    bool is_embedded = false;
    if (is_fused && table && isFusible(patch_projection_, home, *context_)) {
        std::vector<int32_t> rows_of_table = ys;
        for (int32_t& row : rows_of_table) {
            row += static_cast<int32_t>(vision.position_table_size);
        }
        const Result<void> outcome = embedPatches(image, home, *table, rows_of_table);
        is_embedded = outcome.has_value();
        is_fused = is_embedded || outcome.error().code == ErrorCode::Unsupported;
        if (!is_fused) {
            return outcome.error();
        }
    }
    const int64_t block_rows = home.size("vh") / vision.hidden_size;
    std::vector<float> host(is_embedded
                                ? 0
                                : static_cast<size_t>(std::min(block_rows, patches) *
                                                      std::max(values, vision.hidden_size)));
    for (int64_t first = 0; first < patches && !is_embedded; first += block_rows) {
        const int64_t rows = std::min(block_rows, patches - first);
        const float* pixels = image.patches.data() + first * values;
        for (int64_t i = 0; i < rows * values; ++i) {
            host[static_cast<size_t>(i)] = 2.0F * (pixels[i] - 0.5F);
        }
        const MutF32 in = home.matrix("vpatch", rows, values);
        const MutF32 block = rowsOf(x, first, rows);
        ENGINE_KERNEL(
            home.device().copyIn(in.data, host.data(), static_cast<size_t>(rows * values) * 4),
            "copy in", name);
        ENGINE_TRY(context_->linear(patch_projection_, home, in, block));
        const MutF32 added = home.matrix("vt", rows, vision.hidden_size);
        std::vector<int32_t> ids(static_cast<size_t>(rows));
        for (const bool is_y : {false, true}) {
            for (int64_t i = 0; i < rows; ++i) {
                const int32_t at =
                    is_y ? ys[static_cast<size_t>(first + i)] : xs[static_cast<size_t>(first + i)];
                ids[static_cast<size_t>(i)] =
                    at + (is_y ? static_cast<int32_t>(vision.position_table_size) : 0);
            }
            if (table) {
                // The table lies in the device's own memory: its kernels take the rows there.
                auto* const there = reinterpret_cast<int32_t*>(home.buffer("patch_ids"));
                ENGINE_KERNEL(home.device().copyIn(there, ids.data(), ids.size() * 4), "copy in",
                              name);
                ENGINE_KERNEL(ops.gather_rows(queue, *table, there, rows, 0, 1.0F, added),
                              "gather rows", name);
                ENGINE_KERNEL(ops.add_scaled(queue, added, 1.0F, block), "add positions", name);
                continue;
            }
            const MutF32 rows_host{host.data(), rows, vision.hidden_size, vision.hidden_size};
            if (replaced_positions_.empty()) {
                ENGINE_TRY(
                    context_->weights().gatherRows(position_table_, ids, 0, 1.0F, rows_host));
            } else {
                for (int64_t i = 0; i < rows; ++i) {
                    const int64_t from = ids[static_cast<size_t>(i)] * vision.hidden_size;
                    std::copy_n(replaced_positions_.begin() + from, vision.hidden_size,
                                host.begin() + i * vision.hidden_size);
                }
            }
            ENGINE_KERNEL(home.device().copyIn(added.data, host.data(),
                                               static_cast<size_t>(rows * vision.hidden_size) * 4),
                          "copy in", name);
            ENGINE_KERNEL(ops.add_scaled(queue, added, 1.0F, block), "add positions", name);
        }
    }

    if (!is_fused) {
        ENGINE_TRY(uploadSlots());
    }
    for (size_t i = 0; i < vision_layers_.size(); ++i) {
        if (!step(stop)) {
            return Error{ErrorCode::Cancelled, "stopped by the user"};
        }
        if (is_fused) {
            const VisionLayer* const next =
                i + 1 < vision_layers_.size() ? &vision_layers_[i + 1] : nullptr;
            const Result<void> outcome =
                visionLayerFused(vision_layers_[i], next, home, patches, i == 0);
            if (outcome.has_value()) {
                continue;
            }
            if (i > 0 || outcome.error().code != ErrorCode::Unsupported) {
                return outcome.error();
            }
            is_fused = is_vision_fused_ = false; // this table or model does not take them
            ENGINE_TRY(uploadSlots());
        }
        ENGINE_TRY(visionLayer(vision_layers_[i], home, patches, vision_layers_[i].q.name));
    }

    // 3x3 average pooling, in fp32, times sqrt(hidden); then the large tower's standardisation.
    const float factor =
        std::sqrt(static_cast<float>(vision.hidden_size)) / static_cast<float>(pool * pool);
    std::vector<float> pooled;
    MutF32 pooled_view = home.matrix(is_fused ? "vf_pool" : "vx", tokens, vision.hidden_size);
    if (is_fused) {
        ENGINE_KERNEL(ops.pool_rows(queue, x, image.grid_w, pool, factor, pooled_view), "pooling",
                      name);
    } else {
        ENGINE_ASSIGN(pooled, poolOnHost(image, home, factor));
        ENGINE_KERNEL(home.device().copyIn(pooled_view.data, pooled.data(), pooled.size() * 4),
                      "copy in", name);
    }
    if (vision.standardize) {
        // (x - bias) * scale; the table holds +bias, so subtract through the scale of -1.
        const MutF32 v = pooled_view;
        ENGINE_KERNEL(ops.scale(queue, v, -1.0F), "standardize", name);
        ENGINE_KERNEL(ops.add_columns(queue, v, std_bias_.data), "standardize", name);
        ENGINE_KERNEL(ops.scale(queue, v, -1.0F), "standardize", name);
        ENGINE_KERNEL(ops.scale_columns(queue, v, std_scale_.data), "standardize", name);
    }
    if (tower_output != nullptr) {
        tower_output->resize(static_cast<size_t>(tokens * vision.hidden_size));
        ENGINE_KERNEL(
            home.device().copyOut(tower_output->data(), pooled_view.data, tower_output->size() * 4),
            "copy out", name);
    }
    return TowerRows{pooled_view, is_fused};
}

// Projector: W rms(x), wherever its weight computes.
Result<std::vector<float>> Model::encodeImage(const ImageInput& image,
                                              const std::stop_token& stop,
                                              std::vector<float>* tower_output) {
    ENGINE_ASSIGN(const TowerRows tower, visionTower(image, stop, tower_output));
    DeviceScratch& home = *vision_home_;
    DeviceScratch& where = *context_->scratch(embed_vision_.device);
    const auto eps = static_cast<float>(config_.vision->rms_norm_eps);
    // "ev_in" may share memory with "vx" on the same device, never with "vf_pool".
    if (!tower.is_fused || &where != &home) {
        ENGINE_ASSIGN(const std::vector<float> rows,
                      normedOnHost(home, tower.rows, eps, embed_vision_.name));
        return projectImage(rows);
    }
    const MutF32 in = where.matrix("ev_in", tower.rows.rows, config_.vision->hidden_size);
    ENGINE_KERNEL(home.ops().rms_norm(home.queue(), tower.rows, MatView{}, eps, in), "norm",
                  embed_vision_.name);
    return projected(embed_vision_, where, in, "ev_out");
}

Result<std::vector<float>> Model::runVisionTower(const ImageInput& image,
                                                 const std::stop_token& stop) {
    ENGINE_ASSIGN(const TowerRows tower, visionTower(image, stop, nullptr));
    return normedOnHost(*vision_home_, tower.rows, static_cast<float>(config_.vision->rms_norm_eps),
                        embed_vision_.name);
}

Result<std::vector<float>> Model::projectImage(std::span<const float> tower) {
    const int64_t width = config_.vision->hidden_size;
    return projectedFromHost(embed_vision_, tower, width, "ev_in", "ev_out");
}

Result<std::vector<float>>
Model::normedOnHost(DeviceScratch& home, MutF32 rows, float eps, const std::string& name) {
    ENGINE_KERNEL(home.ops().rms_norm(home.queue(), rows, MatView{}, eps, rows), "norm", name);
    std::vector<float> host(static_cast<size_t>(rows.rows * rows.cols));
    ENGINE_KERNEL(home.device().copyOut(host.data(), rows.data, host.size() * 4), "copy out", name);
    return host;
}

Result<std::vector<float>> Model::projectedFromHost(const Linear& projector,
                                                    std::span<const float> tower,
                                                    int64_t width,
                                                    const char* in_name,
                                                    const char* out_name) {
    DeviceScratch& where = *context_->scratch(projector.device);
    const MutF32 in = where.matrix(in_name, static_cast<int64_t>(tower.size()) / width, width);
    ENGINE_KERNEL(where.device().copyIn(in.data, tower.data(), tower.size() * 4), "copy in",
                  projector.name);
    return projected(projector, where, in, out_name);
}

Result<std::vector<float>>
Model::projected(const Linear& projector, DeviceScratch& where, MutF32 in, const char* out_name) {
    const MutF32 out = where.matrix(out_name, in.rows, config_.text.hidden_size);
    ENGINE_TRY(context_->linear(projector, where, in, out));
    std::vector<float> features(static_cast<size_t>(in.rows * config_.text.hidden_size));
    ENGINE_KERNEL(where.device().copyOut(features.data(), out.data, features.size() * 4),
                  "copy out", projector.name);
    return features;
}

} // namespace engine
