// SPDX-License-Identifier: Apache-2.0
// The text decoder: embedding, per-layer inputs, layers, head. Formulas: ARCHITECTURE.md. Rows
// other than the last few stop after the last layer that owns KV: the layers behind it write no
// cache, so nobody ever reads those rows.
#include "engine/api/error_cause.h"
#include "engine/base/float_types.h"
#include "engine/forward/decode_step.h"
#include "engine/forward/model.h"
#include "engine/forward/split_steps.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace engine {

using kernels::MatF32;
using kernels::MatView;
using kernels::MutF32;

namespace {

constexpr MatView kNoWeight{};

std::string layerLabel(int index) {
    return "model.language_model.layers." + std::to_string(index);
}

/// Rows [first, first + rows) of a matrix.
MutF32 rowsOf(MutF32 m, int64_t first, int64_t rows) {
    return {m.data + first * m.stride, rows, m.cols, m.stride};
}

/// [rows, n] seen as [rows * n / width, width].
MutF32 reshaped(MutF32 m, int64_t width) {
    assert(m.stride == m.cols && m.cols % width == 0);
    return {m.data, m.rows * (m.cols / width), width, width};
}

size_t sizeBytes(MatF32 m) {
    return static_cast<size_t>(m.rows * m.cols) * sizeof(float);
}

} // namespace

DecodeStep* Model::decodeStep(const KvCache& kv) {
    if (decode_step_ == nullptr) {
        decode_step_ = std::make_unique<DecodeStep>(*this);
    }
    return decode_step_->isPossible(kv) ? decode_step_.get() : nullptr;
}

SplitSteps* Model::splitSteps(const KvCache& kv) {
    if (split_steps_ == nullptr) {
        auto made = std::make_unique<SplitSteps>(*this);
        (void)made->isPossible(kv); // kept only when it has found out
        split_steps_ = std::move(made);
    }
    return split_steps_->isPossible(kv) ? split_steps_.get() : nullptr;
}

std::optional<kernels::WeightView> Model::tableThere(WeightSource::Handle table,
                                                     AdapterHook::Handle adapter,
                                                     const DeviceScratch& where) const {
    if (adapter != AdapterHook::kNone || where.device().isHostVisible()) {
        return std::nullopt;
    }
    auto view = context_->weights().residentOn(table, where.id());
    const auto is_outside = [&view](int32_t id) { return id < 0 || id >= view->rows; };
    if (view && std::any_of(ids_host_.begin(), ids_host_.end(), is_outside)) {
        view.reset();
    }
    return view;
}

Result<const int32_t*> Model::uploadIds(DeviceScratch& where) {
    auto* const ids = reinterpret_cast<int32_t*>(where.buffer("ids"));
    ENGINE_KERNEL(where.device().copyIn(ids, ids_host_.data(), ids_host_.size() * sizeof(int32_t)),
                  "copy in", "token ids");
    return ids;
}

Result<void> Model::embed(const ForwardInput& input, DeviceScratch& home, MutF32 x) {
    const TextConfig& text = config_.text;
    // Media placeholders embed as pad, also for the per-layer table.
    ids_host_.assign(input.ids.begin(), input.ids.end());
    for (int32_t& id : ids_host_) {
        if (id == config_.image_token_id || id == config_.audio_token_id ||
            id == config_.video_token_id) {
            id = static_cast<int32_t>(text.pad_token_id);
        }
    }
    const auto make = [&](int64_t first, MutF32 rows) -> Result<void> {
        const std::span<const int32_t> ids(ids_host_.data() + first,
                                           static_cast<size_t>(rows.rows));
        ENGINE_TRY(context_->weights().gatherRows(embed_tokens_, ids, 0, embed_scale_, rows));
        if (embed_adapter_ != AdapterHook::kNone) {
            ENGINE_TRY(context_->adapters()->applyRows(embed_adapter_, ids, 0, embed_scale_, rows));
        }
        for (const FeatureSpan& span : input.features) {
            const int64_t begin = std::max(first, span.first_row);
            const int64_t end = std::min(first + rows.rows, span.first_row + span.count);
            for (int64_t row = begin; row < end; ++row) {
                std::memcpy(rows.data + (row - first) * rows.stride,
                            span.features + (row - span.first_row) * text.hidden_size,
                            static_cast<size_t>(text.hidden_size) * sizeof(float));
            }
        }
        return {};
    };
    if (home.device().isHostVisible()) {
        return make(0, x);
    }
    if (const auto table = tableThere(embed_tokens_, embed_adapter_, home)) {
        ENGINE_ASSIGN(const int32_t* ids, uploadIds(home));
        ENGINE_KERNEL(home.ops().gather_rows(home.queue(), *table, ids, x.rows, 0, embed_scale_, x),
                      "gather rows", "embedding");
        for (const FeatureSpan& span : input.features) {
            const int64_t begin = std::max<int64_t>(0, span.first_row);
            const int64_t end = std::min(x.rows, span.first_row + span.count);
            if (begin < end) {
                ENGINE_KERNEL(
                    home.device().copyIn(
                        x.data + begin * x.stride,
                        span.features + (begin - span.first_row) * text.hidden_size,
                        static_cast<size_t>((end - begin) * text.hidden_size) * sizeof(float)),
                    "copy in", "features");
            }
        }
        return {};
    }
    ENGINE_TRY(embed_upload_.begin(home.device(), x.rows * x.cols));
    const MutF32 rows = embed_upload_.take(x.rows, x.cols);
    ENGINE_TRY(make(0, rows));
    return embed_upload_.send(rows, x);
}

Result<void> Model::perLayerInputs(DeviceScratch& home, MutF32 x, int64_t full_rows) {
    const TextConfig& text = config_.text;
    DeviceScratch& where = *ple_home_;
    const int64_t width = text.num_layers * text.ple_size;
    MutF32 merged = x;
    if (&where != &home) {
        merged = where.matrix("x", x.rows, text.hidden_size);
        ENGINE_TRY(context_->move(home, x.data, where, merged.data, sizeBytes(x)));
    }
    const MutF32 ple = where.matrix("ple", x.rows, width);
    // Rows that stop at the cut need the slices of the layers up to it only.
    const int64_t cut_rows = x.rows - full_rows;
    const int64_t cut_width = (text.lastKvOwner() + 1) * text.ple_size;
    const bool has_adapter = ple_model_projection_.adapter != AdapterHook::kNone;
    const bool is_cut = cut_rows > 0 && cut_width < width && !has_adapter &&
                        ple_model_projection_.device == where.id();
    const auto there = tableThere(ple_table_, ple_adapter_, where);
    const kernels::WeightView* table = there ? &*there : nullptr;
    if (table != nullptr) {
        ENGINE_TRY(uploadIds(where));
    } else if (!where.device().isHostVisible()) {
        ENGINE_TRY(ple_upload_.begin(
            where.device(), is_cut ? cut_rows * cut_width + full_rows * width : x.rows * width));
    }
    if (is_cut) {
        ENGINE_TRY(perLayerRows(where, rowsOf(merged, 0, cut_rows), 0,
                                {ple.data, cut_rows, cut_width, width}, table));
        if (full_rows == 0) {
            return {};
        }
        return perLayerRows(where, rowsOf(merged, cut_rows, full_rows), cut_rows,
                            rowsOf(ple, cut_rows, full_rows), table);
    }
    return perLayerRows(where, merged, 0, ple, table);
}

Result<void> Model::perLayerRows(DeviceScratch& where,
                                 MutF32 merged,
                                 int64_t first_row,
                                 MutF32 ple,
                                 const kernels::WeightView* table) {
    const TextConfig& text = config_.text;
    const auto queue = where.queue();
    const auto& ops = where.ops();
    const auto eps = static_cast<float>(text.rms_norm_eps);
    const std::string& name = ple_model_projection_.name;
    if (ple.cols == text.num_layers * text.ple_size) {
        ENGINE_TRY(context_->linear(ple_model_projection_, where, merged, ple));
    } else {
        // The first rows of the weight: blocks and their statistics begin at row 0, too.
        ENGINE_ASSIGN(kernels::WeightView view,
                      context_->weights().acquire(ple_model_projection_.weight));
        view.rows = ple.cols;
        const kernels::Status status = ops.linear(queue, merged, view, ple);
        context_->weights().release(ple_model_projection_.weight);
        ENGINE_TRY(checkStatus(status, "linear", name));
    }
    // Scales, norm and sum in one pass over the rows of each part, or one by one.
    const float before = 1.0F / std::sqrt(static_cast<float>(text.hidden_size));
    const float after = 1.0F / std::sqrt(2.0F);
    const bool is_fused = ops.per_layer_rows != nullptr && ple.rows > 1 && text.ple_size % 4 == 0 &&
                          text.ple_size <= 1024;
    if (!is_fused) {
        ENGINE_KERNEL(ops.scale(queue, ple, before), "scale", name);
        if (ple.stride == ple.cols) {
            const MutF32 slices = reshaped(ple, text.ple_size);
            ENGINE_KERNEL(ops.rms_norm(queue, slices, ple_projection_norm_, eps, slices), "norm",
                          name);
        } else {
            for (int64_t at = 0; at < ple.cols; at += text.ple_size) {
                const MutF32 slice{ple.data + at, ple.rows, text.ple_size, ple.stride};
                ENGINE_KERNEL(ops.rms_norm(queue, slice, ple_projection_norm_, eps, slice), "norm",
                              name);
            }
        }
    }

    // Token part: one contiguous row of the table per token, wherever the table is.
    const float scale = std::sqrt(static_cast<float>(text.ple_size));
    const auto gather = [&](int64_t first, MutF32 rows) -> Result<void> {
        const std::span<const int32_t> ids(ids_host_.data() + first_row + first,
                                           static_cast<size_t>(rows.rows));
        ENGINE_TRY(context_->weights().gatherRows(ple_table_, ids, 0, scale, rows));
        if (ple_adapter_ != AdapterHook::kNone) {
            ENGINE_TRY(context_->adapters()->applyRows(ple_adapter_, ids, 0, scale, rows));
        }
        return {};
    };
    const bool is_visible = where.device().isHostVisible();
    MutF32 all;
    if (!is_visible && table == nullptr) {
        all = ple_upload_.take(ple.rows, ple.cols);
        ENGINE_TRY(gather(0, all));
    }
    const int64_t at_once = where.size("ple_tok") / (text.num_layers * text.ple_size);
    for (int64_t first = 0; first < ple.rows; first += at_once) {
        const int64_t count = std::min(at_once, ple.rows - first);
        const MutF32 token = where.matrix("ple_tok", count, ple.cols);
        if (table != nullptr) {
            const auto* ids =
                reinterpret_cast<const int32_t*>(where.buffer("ids")) + first_row + first;
            ENGINE_KERNEL(ops.gather_rows(queue, *table, ids, count, 0, scale, token),
                          "gather rows", name);
        } else {
            ENGINE_TRY(is_visible ? gather(first, token)
                                  : ple_upload_.send(rowsOf(all, first, count), token));
        }
        const MutF32 part = rowsOf(ple, first, count);
        if (is_fused) {
            ENGINE_KERNEL(
                ops.per_layer_rows(queue, part, token, ple_projection_norm_, eps, before, after),
                "norm and sum", name);
        } else {
            ENGINE_KERNEL(ops.add_scaled(queue, token, 1.0F, part), "add", name);
        }
    }
    return is_fused ? Result<void>() : checkStatus(ops.scale(queue, ple, after), "scale", name);
}

Result<void> Model::uploadPositions(DeviceScratch& where,
                                    const KvCache& kv,
                                    const ForwardInput& input,
                                    int64_t start) {
    const auto put = [&where](const char* name, std::span<const int32_t> values) {
        return checkStatus(
            where.device().copyIn(where.buffer(name), values.data(), values.size_bytes()),
            "copy in", name);
    };
    position_host_.resize(input.ids.size());
    for (size_t i = 0; i < position_host_.size(); ++i) {
        position_host_[i] = static_cast<int32_t>(start + static_cast<int64_t>(i));
    }
    ENGINE_TRY(put("query_position", position_host_));
    ENGINE_TRY(put("query_block", block_host_));
    if (stage_.is_used) {
        ENGINE_TRY(put("slots_stage", stage_.slots));
        ENGINE_TRY(put("key_position_stage", stage_.positions));
        ENGINE_TRY(put("key_block_stage", stage_.blocks));
    }
    ENGINE_TRY(put("slots_sliding", kv.slidingSlots()));
    ENGINE_TRY(put("slots_full", kv.fullSlots()));
    ENGINE_TRY(put("key_position_sliding", kv.slidingPositions()));
    return put("key_block_sliding", kv.slidingBlocks());
}

Result<void> Model::storeKv(DecoderLayer& layer, int index, KvCache& kv, MatF32 normed) {
    const TextConfig& text = config_.text;
    const LayerConfig& shape = text.layers[static_cast<size_t>(index)];
    DeviceScratch& home = *layer.home;
    DeviceScratch& cache_home = *layer.attention;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(text.rms_norm_eps);
    const int64_t rows = normed.rows;
    const int64_t width = shape.num_kv_heads * shape.head_dim;
    const bool is_full = shape.type == LayerType::Full;

    const MutF32 k = home.matrix("k", rows, width);
    const MutF32 v = home.matrix("v", rows, width);
    ENGINE_TRY(context_->linear(layer.k, home, normed, k));
    if (shape.k_is_v) {
        ENGINE_TRY(context_->move(home, k.data, home, v.data, sizeBytes(k)));
    } else {
        ENGINE_TRY(context_->linear(layer.v, home, normed, v));
    }
    ENGINE_KERNEL(ops.rms_norm(queue, reshaped(k, shape.head_dim), layer.k_norm, eps,
                               reshaped(k, shape.head_dim)),
                  "k norm", layer.k.name);
    ENGINE_KERNEL(ops.rope(queue, k, shape.head_dim, 0, shape.head_dim,
                           reinterpret_cast<const int32_t*>(home.buffer("query_position")),
                           home.buffer(is_full ? "inv_freq_full" : "inv_freq_sliding")),
                  "RoPE", layer.k.name);
    ENGINE_KERNEL(ops.rms_norm(queue, reshaped(v, shape.head_dim), kNoWeight, eps,
                               reshaped(v, shape.head_dim)),
                  "v norm", layer.k.name);

    MutF32 k_there = k;
    MutF32 v_there = v;
    if (&cache_home != &home) {
        k_there = cache_home.matrix("k", rows, width);
        v_there = cache_home.matrix("v", rows, width);
        ENGINE_TRY(context_->move(home, k.data, cache_home, k_there.data, sizeBytes(k)));
        ENGINE_TRY(context_->move(home, v.data, cache_home, v_there.data, sizeBytes(v)));
    }
    const KvCache::LayerKv& cache = kv.owner(index);
    const std::vector<int32_t>& host_slots = is_full ? kv.fullSlots() : kv.slidingSlots();
    const auto& cache_ops = cache_home.ops();
    const auto store = [&](MutF32 from, const char* slots, void* to, int64_t capacity) {
        return checkStatus(
            cache_ops.store_rows(cache_home.queue(), from,
                                 reinterpret_cast<const int32_t*>(cache_home.buffer(slots)),
                                 kv.type(), to, capacity),
            "store K and V", layer.k.name);
    };
    if (stage_.is_used && !is_full) {
        // The ring as it was, behind it all rows of this call; then the ring takes the last rows.
        const auto held = static_cast<size_t>(stage_.held * cache.row_bytes);
        const auto capacity = static_cast<int64_t>(stage_.positions.size());
        for (const bool is_k : {true, false}) {
            void* to = cache_home.buffer(is_k ? "stage_k" : "stage_v");
            if (held > 0) {
                ENGINE_TRY(context_->move(cache_home, is_k ? cache.primary.k : cache.primary.v,
                                          cache_home, to, held));
            }
            ENGINE_TRY(store(is_k ? k_there : v_there, "slots_stage", to, capacity));
        }
    }
    const auto kept = static_cast<int64_t>(host_slots.size());
    const char* slots = is_full ? "slots_full" : "slots_sliding";
    ENGINE_TRY(store(rowsOf(k_there, rows - kept, kept), slots, cache.primary.k, cache.capacity));
    ENGINE_TRY(store(rowsOf(v_there, rows - kept, kept), slots, cache.primary.v, cache.capacity));

    return updateMirrors(index, kv);
}

Result<void> Model::updateMirrors(int owner, const KvCache& kv) {
    const KvCache::LayerKv& cache = kv.owner(owner);
    if (cache.mirrors.empty()) {
        return {};
    }
    const bool is_full = config_.text.layers[static_cast<size_t>(owner)].type == LayerType::Full;
    const std::vector<int32_t>& slots = is_full ? kv.fullSlots() : kv.slidingSlots();
    DeviceScratch& cache_home = *layers_[static_cast<size_t>(owner)].attention;
    for (const KvCache::Buffer& mirror : cache.mirrors) {
        DeviceScratch& mirror_home = *context_->scratch(mirror.device);
        for (size_t first = 0; first < slots.size();) {
            size_t count = 1;
            while (first + count < slots.size() &&
                   slots[first + count] == slots[first] + static_cast<int32_t>(count)) {
                ++count;
            }
            const auto offset = static_cast<size_t>(slots[first] * cache.row_bytes);
            const size_t bytes = count * static_cast<size_t>(cache.row_bytes);
            for (const bool is_k : {true, false}) {
                const auto* from =
                    static_cast<const std::byte*>(is_k ? cache.primary.k : cache.primary.v);
                auto* to = static_cast<std::byte*>(is_k ? mirror.k : mirror.v);
                ENGINE_TRY(
                    context_->move(cache_home, from + offset, mirror_home, to + offset, bytes));
            }
            first += count;
        }
    }
    return {};
}

kernels::AttentionArgs Model::attentionOf(const DecoderLayer& layer,
                                          int index,
                                          const KvCache& kv,
                                          int64_t rows,
                                          int64_t first_row,
                                          bool has_blocks) {
    const TextConfig& text = config_.text;
    const LayerConfig& shape = text.layers[static_cast<size_t>(index)];
    DeviceScratch& where = *layer.attention;
    const bool is_full = shape.type == LayerType::Full;
    const KvCache::Buffer& buffer = kv.bufferOn(layer.kv_layer, where.id());
    // Layers behind the owners have few rows, whose window the ring still holds.
    const bool is_staged = stage_.is_used && !is_full && layer.kv_layer == index;
    kernels::AttentionArgs args;
    args.k = is_staged ? where.buffer("stage_k") : buffer.k;
    args.v = is_staged ? where.buffer("stage_v") : buffer.v;
    args.kv_type = kv.type();
    args.queries = rows;
    args.keys = is_full     ? kv.size()
                : is_staged ? static_cast<int64_t>(stage_.positions.size())
                            : kv.slidingSlotsInUse();
    args.num_heads = text.num_heads;
    args.num_kv_heads = shape.num_kv_heads;
    args.head_dim = shape.head_dim;
    args.scale = 1.0F;
    args.mask.query_position =
        reinterpret_cast<const int32_t*>(where.buffer("query_position")) + first_row;
    args.mask.key_position =
        reinterpret_cast<const int32_t*>(where.buffer(is_full     ? "key_position_full"
                                                      : is_staged ? "key_position_stage"
                                                                  : "key_position_sliding"));
    args.mask.window = is_full ? 0 : text.sliding_window;
    if (has_blocks && !is_full) {
        args.mask.query_block =
            reinterpret_cast<const int32_t*>(where.buffer("query_block")) + first_row;
        args.mask.key_block = reinterpret_cast<const int32_t*>(
            where.buffer(is_staged ? "key_block_stage" : "key_block_sliding"));
    }
    return args;
}

Result<void> Model::attend(DecoderLayer& layer,
                           int index,
                           KvCache& kv,
                           MatF32 normed,
                           int64_t first_row,
                           bool has_blocks) {
    const TextConfig& text = config_.text;
    const LayerConfig& shape = text.layers[static_cast<size_t>(index)];
    DeviceScratch& home = *layer.home;
    DeviceScratch& where = *layer.attention;
    const int64_t rows = normed.rows;
    const int64_t q_width = text.num_heads * shape.head_dim;
    const bool is_full = shape.type == LayerType::Full;
    const auto eps = static_cast<float>(text.rms_norm_eps);

    MutF32 q = home.matrix("q", rows, q_width);
    ENGINE_TRY(context_->linear(layer.q, home, normed, q));
    ENGINE_KERNEL(home.ops().rms_norm(home.queue(), reshaped(q, shape.head_dim), layer.q_norm, eps,
                                      reshaped(q, shape.head_dim)),
                  "q norm", layer.q.name);
    const auto* positions =
        reinterpret_cast<const int32_t*>(home.buffer("query_position")) + first_row;
    ENGINE_KERNEL(home.ops().rope(home.queue(), q, shape.head_dim, 0, shape.head_dim, positions,
                                  home.buffer(is_full ? "inv_freq_full" : "inv_freq_sliding")),
                  "RoPE", layer.q.name);
    if (&where != &home) {
        const MutF32 there = where.matrix("q", rows, q_width);
        ENGINE_TRY(context_->move(home, q.data, where, there.data, sizeBytes(q)));
        q = there;
    }
    kernels::AttentionArgs args = attentionOf(layer, index, kv, rows, first_row, has_blocks);
    args.q = q.data;
    MutF32 out = where.matrix("o", rows, q_width);
    args.out = out.data;
    ENGINE_KERNEL(where.ops().attention(where.queue(), args), "attention", layerLabel(index));
    if (&where != &home) {
        const MutF32 back = home.matrix("o", rows, q_width);
        ENGINE_TRY(context_->move(where, out.data, home, back.data, sizeBytes(out)));
        out = back;
    }
    const MutF32 projected = home.matrix("t", rows, text.hidden_size);
    return context_->linear(layer.o, home, out, projected);
}

Result<void>
Model::routerScores(DecoderLayer& layer, DeviceScratch& home, MutF32 z, MutF32 scores) {
    if (is_reference_) {
        return context_->linear(layer.router, home, z, scores);
    }
    // A rounded score can choose another expert, and fast kernels round their input to bf16. The
    // input as a sum of two bf16 numbers keeps 16 bits of its mantissa for twice a tiny product.
    const auto count = static_cast<size_t>(z.rows * z.cols);
    std::vector<float> high(count);
    std::vector<float> low(count);
    ENGINE_KERNEL(home.device().copyOut(high.data(), z.data, count * sizeof(float)), "copy out",
                  layer.router.name);
    for (size_t i = 0; i < count; ++i) {
        const float value = high[i];
        high[i] = roundToBf16(value);
        low[i] = value - high[i];
    }
    const MutF32 part = home.matrix("moe_rows", z.rows, z.cols);
    const MutF32 rest = home.matrix("moe_router_low", scores.rows, scores.cols);
    ENGINE_KERNEL(home.device().copyIn(part.data, low.data(), count * sizeof(float)), "copy in",
                  layer.router.name);
    ENGINE_TRY(context_->linear(layer.router, home, part, rest));
    ENGINE_KERNEL(home.device().copyIn(part.data, high.data(), count * sizeof(float)), "copy in",
                  layer.router.name);
    ENGINE_TRY(context_->linear(layer.router, home, part, scores));
    return checkStatus(home.ops().add_scaled(home.queue(), rest, 1.0F, scores), "add",
                       layer.router.name);
}

Result<void> Model::runExperts(DecoderLayer& layer, MutF32 x, MutF32 dense) {
    // Formula: ARCHITECTURE.md, experts. `dense` holds the dense branch's output and receives the
    // sum.
    const TextConfig& text = config_.text;
    DeviceScratch& home = *layer.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(text.rms_norm_eps);
    const int64_t rows = x.rows;
    const int64_t experts = text.num_experts;
    const int64_t inner = text.moe_intermediate_size;
    const std::string& name = layer.router.name;

    ENGINE_KERNEL(ops.rms_norm(queue, dense, layer.post_mlp_norm_1, eps, dense), "norm", name);
    const MutF32 z = home.matrix("moe_in", rows, text.hidden_size);
    ENGINE_KERNEL(ops.rms_norm(queue, x, kNoWeight, eps, z), "norm", name);
    ENGINE_KERNEL(ops.scale_columns(queue, z, layer.router_scale.data), "router scale", name);
    ENGINE_KERNEL(ops.scale(queue, z, 1.0F / std::sqrt(static_cast<float>(text.hidden_size))),
                  "scale", name);
    const MutF32 scores = home.matrix("moe_probs", rows, experts);
    ENGINE_TRY(routerScores(layer, home, z, scores));
    std::vector<float> host_scores(static_cast<size_t>(rows * experts));
    ENGINE_KERNEL(home.device().copyOut(host_scores.data(), scores.data, host_scores.size() * 4),
                  "copy out", name);

    // Top-k experts per row on the host: ties go to the lower index, as in the reference's top-k.
    struct Choice {
        int64_t row;
        float weight;
    };
    std::vector<std::vector<Choice>> chosen(static_cast<size_t>(experts));
    std::vector<int64_t> order(static_cast<size_t>(experts));
    for (int64_t r = 0; r < rows; ++r) {
        float* s = host_scores.data() + r * experts;
        const float largest = *std::max_element(s, s + experts);
        double sum = 0;
        for (int64_t e = 0; e < experts; ++e) {
            s[e] = std::exp(s[e] - largest);
            sum += s[e];
        }
        for (int64_t e = 0; e < experts; ++e) {
            order[static_cast<size_t>(e)] = e;
        }
        std::partial_sort(order.begin(), order.begin() + text.top_k_experts, order.end(),
                          [s](int64_t a, int64_t b) { return s[a] != s[b] ? s[a] > s[b] : a < b; });
        double top = 0;
        for (int64_t j = 0; j < text.top_k_experts; ++j) {
            top += s[order[static_cast<size_t>(j)]] / sum;
        }
        for (int64_t j = 0; j < text.top_k_experts; ++j) {
            const int64_t e = order[static_cast<size_t>(j)];
            const double w = s[e] / sum / top;
            chosen[static_cast<size_t>(e)].push_back(
                {r, static_cast<float>(w) * layer.per_expert_scale[static_cast<size_t>(e)]});
        }
    }

    ENGINE_KERNEL(ops.rms_norm(queue, x, layer.pre_mlp_norm_2, eps, z), "norm", name);
    const MutF32 total = home.matrix("moe_sum", rows, text.hidden_size);
    const std::vector<float> zeros(static_cast<size_t>(rows * text.hidden_size), 0.0F);
    ENGINE_KERNEL(home.device().copyIn(total.data, zeros.data(), zeros.size() * 4), "clear", name);
    for (int64_t e = 0; e < experts; ++e) {
        const std::vector<Choice>& mine = chosen[static_cast<size_t>(e)];
        if (mine.empty()) {
            continue;
        }
        const auto count = static_cast<int64_t>(mine.size());
        const MutF32 in = home.matrix("moe_rows", count, text.hidden_size);
        for (int64_t i = 0; i < count; ++i) {
            ENGINE_TRY(context_->move(home, z.data + mine[static_cast<size_t>(i)].row * z.stride,
                                      home, in.data + i * in.stride,
                                      static_cast<size_t>(text.hidden_size) * sizeof(float)));
        }
        const MutF32 gate_up = home.matrix("moe_gate_up", count, 2 * inner);
        ENGINE_TRY(context_->expert(layer.experts_gate_up, home, e, in, gate_up));
        const MutF32 act = home.matrix("moe_act", count, inner);
        const MatF32 gate{gate_up.data, count, inner, gate_up.stride};
        const MatF32 up{gate_up.data + inner, count, inner, gate_up.stride};
        ENGINE_KERNEL(ops.gelu_mul(queue, gate, up, act), "GELU", name);
        const MutF32 down = home.matrix("moe_down", count, text.hidden_size);
        ENGINE_TRY(context_->expert(layer.experts_down, home, e, act, down));
        for (int64_t i = 0; i < count; ++i) {
            const Choice& c = mine[static_cast<size_t>(i)];
            ENGINE_KERNEL(
                ops.add_scaled(queue, rowsOf(down, i, 1), c.weight, rowsOf(total, c.row, 1)),
                "sum experts", name);
        }
    }
    ENGINE_KERNEL(ops.rms_norm(queue, total, layer.post_mlp_norm_2, eps, total), "norm", name);
    ENGINE_KERNEL(ops.add_scaled(queue, total, 1.0F, dense), "add", name);
    return {};
}

Result<void> Model::moveSlice(MatF32 from, DeviceScratch& home, MutF32 to) {
    DeviceScratch& there = *ple_home_;
    // The rows lie far apart: laid together first, as one transfer a row costs more than the bytes.
    // The memory is that of the table's rows, which are done with before the layers.
    const int64_t at_once = from.rows == 1 ? 1 : there.size("ple_tok") / from.cols;
    for (int64_t first = 0; first < from.rows; first += at_once) {
        MatF32 part{from.data + first * from.stride, std::min(at_once, from.rows - first),
                    from.cols, from.stride};
        if (part.rows > 1) {
            constexpr float kAny = std::numeric_limits<float>::infinity();
            const MutF32 together = there.matrix("ple_tok", part.rows, part.cols);
            ENGINE_KERNEL(there.ops().clamp(there.queue(), part, -kAny, kAny, together),
                          "per-layer inputs", "ple");
            part = together;
        }
        ENGINE_TRY(
            context_->move(there, part.data, home, to.data + first * to.stride, sizeBytes(part)));
    }
    return {};
}

Result<void>
Model::runLayer(int index, KvCache& kv, MutF32 x, MutF32 h, int64_t first_row, bool has_blocks) {
    const TextConfig& text = config_.text;
    const LayerConfig& shape = text.layers[static_cast<size_t>(index)];
    DecoderLayer& layer = layers_[static_cast<size_t>(index)];
    DeviceScratch& home = *layer.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(text.rms_norm_eps);
    const int64_t rows = x.rows;
    const std::string& name = layer.q.name;

    const MutF32 t = home.matrix("t", rows, text.hidden_size);
    ENGINE_TRY(attend(layer, index, kv, h, first_row, has_blocks));
    ENGINE_KERNEL(ops.rms_norm_add(queue, t, layer.post_attention_norm, eps, 1.0F, x),
                  "post-attention norm", name);

    ENGINE_KERNEL(ops.rms_norm(queue, x, layer.pre_mlp_norm, eps, h), "pre-MLP norm", name);
    const MutF32 gate = home.matrix("gate", rows, shape.intermediate_size);
    const MutF32 up = home.matrix("up", rows, shape.intermediate_size);
    ENGINE_TRY(context_->linear(layer.gate, home, h, gate));
    ENGINE_TRY(context_->linear(layer.up, home, h, up));
    ENGINE_KERNEL(ops.gelu_mul(queue, gate, up, gate), "GELU", name);
    ENGINE_TRY(context_->linear(layer.down, home, gate, t));
    if (text.has_moe) {
        ENGINE_TRY(runExperts(layer, x, t));
    }
    ENGINE_KERNEL(ops.rms_norm_add(queue, t, layer.post_mlp_norm, eps, 1.0F, x), "post-MLP norm",
                  name);

    if (text.ple_size > 0) {
        // This layer's slice of the per-layer inputs; a strided view where they were computed here.
        const int64_t width = text.num_layers * text.ple_size;
        const float* source = ple_home_->buffer("ple") + first_row * width + index * text.ple_size;
        MatF32 slice{source, rows, text.ple_size, width};
        if (ple_home_ != &home) {
            const MutF32 copy = home.matrix("ple_slice", rows, text.ple_size);
            ENGINE_TRY(moveSlice(slice, home, copy));
            slice = copy;
        }
        const MutF32 gated = home.matrix("ple_gate", rows, text.ple_size);
        ENGINE_TRY(context_->linear(layer.ple_gate, home, x, gated));
        ENGINE_KERNEL(ops.gelu_mul(queue, gated, slice, gated), "PLE gate", name);
        ENGINE_TRY(context_->linear(layer.ple_projection, home, gated, t));
        ENGINE_KERNEL(ops.rms_norm_add(queue, t, layer.ple_norm, eps, 1.0F, x), "PLE norm", name);
    }
    ENGINE_KERNEL(ops.scale(queue, x, layer.layer_scalar), "layer scalar", name);
    return {};
}

Result<void> Model::head(DeviceScratch& home,
                         MutF32 x,
                         std::vector<float>& logits,
                         const HiddenObserver* observer) {
    const TextConfig& text = config_.text;
    DeviceScratch& where = *head_home_;
    MutF32 rows = x;
    if (&where != &home) {
        rows = where.matrix("x", x.rows, x.cols);
        ENGINE_TRY(context_->move(home, x.data, where, rows.data, sizeBytes(x)));
    }
    const auto queue = where.queue();
    const auto& ops = where.ops();
    const MutF32 normed = where.matrix("h", x.rows, x.cols);
    ENGINE_KERNEL(
        ops.rms_norm(queue, rows, final_norm_, static_cast<float>(text.rms_norm_eps), normed),
        "final norm", lm_head_.name);
    if (observer != nullptr) {
        rows_host_.resize(static_cast<size_t>(x.rows * x.cols));
        ENGINE_KERNEL(where.device().copyOut(rows_host_.data(), normed.data, sizeBytes(normed)),
                      "copy out", "observer");
        (*observer)(static_cast<int>(text.num_layers), rows_host_, x.rows);
    }
    logits.resize(static_cast<size_t>(x.rows * text.vocab_size));
    for (int64_t first = 0; first < x.rows; first += kHeadRows) {
        const int64_t count = std::min(kHeadRows, x.rows - first);
        const MutF32 out = where.matrix("logits", count, text.vocab_size);
        ENGINE_TRY(context_->linear(lm_head_, where, rowsOf(normed, first, count), out));
        if (text.final_logit_softcap > 0) {
            ENGINE_KERNEL(ops.soft_cap(queue, out, static_cast<float>(text.final_logit_softcap)),
                          "soft cap", lm_head_.name);
        }
        ENGINE_KERNEL(where.device().copyOut(logits.data() + first * text.vocab_size, out.data,
                                             sizeBytes(out)),
                      "copy out", lm_head_.name);
    }
    return {};
}

Result<void> Model::openStage(const KvCache& kv, const ForwardInput& input) {
    const auto rows = static_cast<int64_t>(input.ids.size());
    stage_ = {};
    if (!kv.needsStage(rows)) {
        return {};
    }
    if (input.logits_rows > ring_rows_) {
        return Error{ErrorCode::Internal, "forward: logits of " +
                                              std::to_string(input.logits_rows) +
                                              " rows asked for, " + std::to_string(ring_rows_) +
                                              " are possible in a long call"};
    }
    stage_.is_used = true;
    stage_.held = kv.slidingSlotsInUse();
    const auto held = static_cast<std::ptrdiff_t>(stage_.held);
    const std::vector<int32_t>& positions = kv.slidingPositions();
    const std::vector<int32_t>& blocks = kv.slidingBlocks();
    stage_.positions.assign(positions.begin(), positions.begin() + held);
    stage_.blocks.assign(blocks.begin(), blocks.begin() + held);
    stage_.blocks.insert(stage_.blocks.end(), block_host_.begin(), block_host_.end());
    for (int64_t row = 0; row < rows; ++row) {
        stage_.slots.push_back(static_cast<int32_t>(stage_.held + row));
        stage_.positions.push_back(static_cast<int32_t>(kv.size() + row));
    }
    return {};
}

Result<void> Model::forward(const ForwardInput& input,
                            KvCache& kv,
                            std::vector<float>& logits,
                            const std::stop_token& stop,
                            const HiddenObserver* observer) {
    const TextConfig& text = config_.text;
    const auto rows = static_cast<int64_t>(input.ids.size());
    const int64_t start = kv.size();
    if (rows == 0 || rows > max_rows_ || input.logits_rows > rows) {
        return Error{ErrorCode::Internal, "forward: " + std::to_string(rows) +
                                              " rows asked for, 1 to " + std::to_string(max_rows_) +
                                              " are possible"};
    }
    if (start + rows > kv.context()) {
        return Error{ErrorCode::InvalidRequest,
                     "the context is full: " + std::to_string(start) + " tokens are held, " +
                         std::to_string(rows) + " more do not fit into " +
                         std::to_string(kv.context()) +
                         "; start a new chat, or reload with a larger --context",
                     {},
                     causeOf(cause::ContextFull{start, rows, kv.context()})};
    }
    for (const int32_t id : input.ids) {
        if (id < 0 || id >= text.vocab_size) {
            return Error{ErrorCode::InvalidRequest, "token id " + std::to_string(id) +
                                                        " is outside the vocabulary of " +
                                                        std::to_string(text.vocab_size)};
        }
    }
    SplitSteps* split = nullptr;
    if (rows == 1 && input.logits_rows == 1 && input.features.empty() && observer == nullptr &&
        (input.block.empty() || input.block.front() < 0)) {
        if (stop.stop_requested()) {
            return Error{ErrorCode::Cancelled, "stopped by the user"};
        }
        if (DecodeStep* step = decodeStep(kv); step != nullptr) {
            Result<void> outcome = step->run(input.ids.front(), kv, &logits, nullptr);
            if (outcome.has_value() || outcome.error().code != ErrorCode::Unsupported) {
                return outcome;
            }
        }
        split = splitSteps(kv);
    }
    const bool has_blocks = text.is_vision_bidirectional && !input.block.empty();
    block_host_.assign(input.ids.size(), -1);
    if (has_blocks) {
        block_host_.assign(input.block.begin(), input.block.end());
    }
    ENGINE_TRY(openStage(kv, input));
    kv.append(block_host_);

    const auto run = [&]() -> Result<void> {
        DeviceScratch* home = layers_.front().home;
        // Fused steps of a token bring their own numbers.
        std::vector<DeviceScratch*> prepared;
        const auto prepareLayer = [&](const DecoderLayer& layer) -> Result<void> {
            for (DeviceScratch* where : {layer.home, layer.attention}) {
                if (std::find(prepared.begin(), prepared.end(), where) == prepared.end()) {
                    ENGINE_TRY(uploadPositions(*where, kv, input, start));
                    prepared.push_back(where);
                }
            }
            return {};
        };
        MutF32 x = home->matrix("x", rows, text.hidden_size);
        const auto observe = [&](int index, DeviceScratch& where, MutF32 values) -> Result<void> {
            if (observer != nullptr) {
                rows_host_.resize(static_cast<size_t>(values.rows * values.cols));
                ENGINE_KERNEL(
                    where.device().copyOut(rows_host_.data(), values.data, sizeBytes(values)),
                    "copy out", "observer");
                (*observer)(index, rows_host_, values.rows);
            }
            return {};
        };
        const auto makeInputs = [&]() -> Result<void> {
            ENGINE_TRY(embed(input, *home, x));
            ENGINE_TRY(observe(0, *home, x));
            return text.ple_size > 0 ? perLayerInputs(*home, x, input.logits_rows) : Result<void>();
        };
        bool has_inputs = split == nullptr || !split->hasInputs(); // else its first part makes them
        if (has_inputs) {
            ENGINE_TRY(makeInputs());
        }
        const auto observeLayer = [&](int i, DeviceScratch& where, MutF32 values) -> Result<void> {
            return i + 1 < static_cast<int>(text.num_layers) ? observe(i + 1, where, values)
                                                             : Result<void>();
        };
        const int last_owner = text.lastKvOwner();
        RowPlace place;
        int64_t first_row = 0;
        for (int i = 0; i < static_cast<int>(text.num_layers); ++i) {
            if (!step(stop)) {
                return Error{ErrorCode::Cancelled, "stopped by the user"};
            }
            DecoderLayer& layer = layers_[static_cast<size_t>(i)];
            if (layer.home != home) {
                const MutF32 there = layer.home->matrix("x", x.rows, text.hidden_size);
                ENGINE_TRY(context_->move(*home, x.data, *layer.home, there.data, sizeBytes(x)));
                home = layer.home;
                x = there;
            }
            if (split != nullptr && split->endOf(i) > i) {
                const int end = split->endOf(i);
                const Result<void> outcome = split->run(i, input.ids.front(), kv);
                if (outcome.has_value()) {
                    has_inputs = true;
                    i = end - 1;
                    continue;
                }
                if (outcome.error().code != ErrorCode::Unsupported) {
                    return outcome.error();
                }
                if (!std::exchange(has_inputs, true)) {
                    ENGINE_TRY(makeInputs());
                }
            }
            ENGINE_TRY(prepareLayer(layer));
            const bool is_cut = i == last_owner && input.logits_rows < rows;
            bool is_fused = canFuseRows(i, kv, x.rows);
            if (is_fused) {
                Result<void> outcome;
                if (place.normed_layer != i) {
                    outcome = normInput(i, *home, x);
                    place.normed = 0;
                }
                if (outcome.has_value()) {
                    outcome = is_cut ? projectHeads(i, kv, rows, place, HeadsWanted::Keys)
                                     : runLayerFused(i, kv, x, place, HeadsWanted::All, has_blocks);
                }
                if (outcome.has_value()) {
                    home->row_steps = DeviceScratch::RowSteps::Taken;
                } else if (outcome.error().code != ErrorCode::Unsupported ||
                           home->row_steps == DeviceScratch::RowSteps::Taken) {
                    return outcome.error();
                } else {
                    home->row_steps = DeviceScratch::RowSteps::Refused;
                    place = {first_row};
                    is_fused = false;
                }
                if (is_fused && !is_cut) {
                    ENGINE_TRY(observeLayer(i, *home, x));
                    continue;
                }
            }
            const auto norm = [&](MutF32 to) {
                return checkStatus(home->ops().rms_norm(home->queue(), x, layer.input_norm,
                                                        static_cast<float>(text.rms_norm_eps), to),
                                   "input norm", layer.q.name);
            };
            MutF32 h = home->matrix("h", x.rows, text.hidden_size);
            if (!is_fused) {
                ENGINE_TRY(norm(h));
                if (!text.layers[static_cast<size_t>(i)].is_kv_shared) {
                    ENGINE_TRY(storeKv(layer, i, kv, h));
                }
            }
            if (is_cut) {
                // The cut: only the rows whose logits are wanted go on.
                if (input.logits_rows == 0) {
                    logits.clear();
                    return {};
                }
                first_row = rows - input.logits_rows;
                place = {first_row};
                x = rowsOf(x, first_row, input.logits_rows);
                h = rowsOf(h, first_row, input.logits_rows);
            }
            if (is_cut && is_fused) {
                const bool is_last_row =
                    x.rows == 1 && observer == nullptr && (!has_blocks || block_host_.back() < 0);
                if (DecodeStep* rest = is_last_row ? decodeStep(kv) : nullptr; rest != nullptr) {
                    Result<void> outcome = rest->finish(i, x.data, first_row, kv, logits);
                    if (outcome.has_value() || outcome.error().code != ErrorCode::Unsupported) {
                        return outcome;
                    }
                }
                place = {first_row, first_row, i};
                if (canFuseRows(i, kv, x.rows)) {
                    ENGINE_TRY(runLayerFused(i, kv, x, place, HeadsWanted::Queries, has_blocks));
                    ENGINE_TRY(observeLayer(i, *home, x));
                    continue;
                }
                h = home->matrix("h", x.rows, text.hidden_size);
                ENGINE_TRY(norm(h));
            }
            ENGINE_TRY(runLayer(i, kv, x, h, first_row, has_blocks));
            ENGINE_TRY(observeLayer(i, *home, x));
        }
        if (split != nullptr && split->hasHeadPart()) {
            DeviceScratch& where = *head_home_;
            const MutF32 there = where.matrix("x", 1, text.hidden_size);
            ENGINE_TRY(context_->move(*home, x.data, where, there.data, sizeBytes(x)));
            Result<void> outcome =
                split->run(static_cast<int>(text.num_layers), input.ids.front(), kv);
            if (!outcome.has_value() && outcome.error().code != ErrorCode::Unsupported) {
                return outcome;
            }
            home = &where;
            x = there;
        }
        if (split != nullptr && split->hasHead()) {
            return split->takeResult(input.choice, logits);
        }
        // Without a head of theirs, or behind one that was refused.
        Result<void> outcome = head(*home, x, logits, observer);
        if (split != nullptr && outcome.has_value()) {
            split->noteEnded();
        }
        return outcome;
    };
    Result<void> outcome = run();
    if (!outcome.has_value()) {
        // Rows of a failed call must not be visible to the next one. A long call has overwritten
        // the window before it: then nothing is left.
        const bool is_rolled_back = kv.takeBack();
        assert(is_rolled_back || stage_.is_used);
        if (!is_rolled_back) {
            kv.clear();
        }
    }
    return outcome;
}

} // namespace engine
