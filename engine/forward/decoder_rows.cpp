// SPDX-License-Identifier: Apache-2.0
// Decoder layers of a prompt in fused steps of many rows: the same formulas as storeKv(), attend()
// and runLayer(), with bf16 rows between the products, as the products round them anyway. Buffers
// are those of the single steps; "h", "o", "gate" and "ple_gate" hold bf16 here.
#include "engine/forward/model.h"
#include "engine/forward/row_steps.h"

#include <algorithm>

namespace engine {

using kernels::MatF32;
using kernels::MatView;
using kernels::ProductArgs;

namespace {

/// Up to so many rows, a weight is read once a row: no tensor cores.
constexpr int64_t kFewRows = 4;

} // namespace

bool Model::canFuseRows(int index, const KvCache& kv, int64_t rows) const {
    const TextConfig& text = config_.text;
    const DecoderLayer& layer = layers_[static_cast<size_t>(index)];
    const LayerConfig& shape = text.layers[static_cast<size_t>(index)];
    const DeviceScratch& home = *layer.home;
    return home.row_steps != DeviceScratch::RowSteps::Refused && rows > kFewRows &&
           home.ops().product != nullptr && !text.has_moe && kv.type() == kernels::DType::BF16 &&
           layer.attention == &home && text.hidden_size % 8 == 0 &&
           std::max<int64_t>(0, text.ple_size) % 8 == 0 && shape.intermediate_size % 8 == 0 &&
           shape.head_dim % 2 == 0 && text.num_heads * shape.head_dim % 8 == 0 &&
           areFusible({&layer.q, &layer.o, &layer.gate, &layer.up, &layer.down}, home, *context_) &&
           (text.ple_size <= 0 ||
            areFusible({&layer.ple_gate, &layer.ple_projection}, home, *context_)) &&
           (shape.is_kv_shared || (isFusible(layer.k, home, *context_) &&
                                   (shape.k_is_v || isFusible(layer.v, home, *context_))));
}

Result<void> Model::normInput(int index, DeviceScratch& home, kernels::MutF32 x) {
    kernels::NormRowsArgs norm;
    norm.x = x.data;
    norm.rows = x.rows;
    norm.cols = x.cols;
    norm.eps = static_cast<float>(config_.text.rms_norm_eps);
    norm.norm = layers_[static_cast<size_t>(index)].input_norm;
    norm.h = home.buffer("h");
    return checkStatus(home.ops().norm_rows(home.queue(), norm), "input norm",
                       layers_[static_cast<size_t>(index)].q.name);
}

Result<void> Model::projectHeads(
    int index, KvCache& kv, int64_t rows, const RowPlace& place, HeadsWanted wanted) {
    const TextConfig& text = config_.text;
    const LayerConfig& shape = text.layers[static_cast<size_t>(index)];
    DecoderLayer& layer = layers_[static_cast<size_t>(index)];
    DeviceScratch& home = *layer.home;
    const bool is_full = shape.type == LayerType::Full;
    const int64_t q_width = text.num_heads * shape.head_dim;
    const int64_t kv_width = shape.num_kv_heads * shape.head_dim;
    const bool has_queries = wanted != HeadsWanted::Keys;
    const bool has_keys = wanted != HeadsWanted::Queries && !shape.is_kv_shared;

    RowProduct product;
    product.x =
        reinterpret_cast<const uint16_t*>(home.buffer("h")) + place.normed * text.hidden_size;
    product.rows = rows;
    product.parts = static_cast<int>(
        std::min(home.size("q") / (rows * q_width), home.size("k") / (rows * kv_width)));
    std::vector<RowProduct::Part> parts;
    if (has_queries) {
        parts.push_back({&layer.q, home.buffer("q")});
    }
    if (has_keys) {
        parts.push_back({&layer.k, home.buffer("k")});
        if (!shape.k_is_v) {
            parts.push_back({&layer.v, home.buffer("v")});
        }
    }
    kernels::HeadRowsArgs args;
    ENGINE_ASSIGN(args.parts, runProducts(*context_, home, product, parts));
    args.q = home.buffer("q");
    args.q_norm = layer.q_norm;
    args.k_norm = layer.k_norm;
    args.position = reinterpret_cast<const int32_t*>(home.buffer("query_position")) + place.first;
    args.inv_freq = home.buffer(is_full ? "inv_freq_full" : "inv_freq_sliding");
    args.q_to = home.buffer("o");
    args.rows = rows;
    args.num_heads = has_queries ? text.num_heads : 0;
    args.num_kv_heads = shape.num_kv_heads;
    args.head_dim = shape.head_dim;
    args.eps = static_cast<float>(text.rms_norm_eps);
    if (has_keys) {
        args.k = home.buffer("k");
        args.v = shape.k_is_v ? args.k : home.buffer("v");
        const KvCache::LayerKv& cache = kv.owner(index);
        const std::vector<int32_t>& slots = is_full ? kv.fullSlots() : kv.slidingSlots();
        args.to[0].k = cache.primary.k;
        args.to[0].v = cache.primary.v;
        args.to[0].slot =
            reinterpret_cast<const int32_t*>(home.buffer(is_full ? "slots_full" : "slots_sliding"));
        args.to[0].first = rows - static_cast<int64_t>(slots.size());
        args.to[0].capacity = cache.capacity;
        if (stage_.is_used && !is_full) {
            // The ring as it was, behind it all rows of this call; the ring takes the last rows.
            args.to[1].k = home.buffer("stage_k");
            args.to[1].v = home.buffer("stage_v");
            args.to[1].slot = reinterpret_cast<const int32_t*>(home.buffer("slots_stage"));
            args.to[1].capacity = static_cast<int64_t>(stage_.positions.size());
            const auto held = static_cast<size_t>(stage_.held * cache.row_bytes);
            if (held > 0) {
                ENGINE_TRY(context_->move(home, cache.primary.k, home, args.to[1].k, held));
                ENGINE_TRY(context_->move(home, cache.primary.v, home, args.to[1].v, held));
            }
        }
    }
    ENGINE_KERNEL(home.ops().head_rows(home.queue(), args), "head norms and RoPE", layer.q.name);
    return has_keys ? updateMirrors(index, kv) : Result<void>();
}

Result<void> Model::runLayerFused(int index,
                                  KvCache& kv,
                                  kernels::MutF32 x,
                                  RowPlace& place,
                                  HeadsWanted wanted,
                                  bool has_blocks) {
    const TextConfig& text = config_.text;
    const LayerConfig& shape = text.layers[static_cast<size_t>(index)];
    DecoderLayer& layer = layers_[static_cast<size_t>(index)];
    DeviceScratch& home = *layer.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const std::string& name = layer.q.name;
    const int64_t rows = x.rows;
    const int64_t q_width = text.num_heads * shape.head_dim;
    auto* const q = reinterpret_cast<uint16_t*>(home.buffer("o"));

    ENGINE_TRY(projectHeads(index, kv, rows, place, wanted));
    kernels::AttentionArgs attention = attentionOf(layer, index, kv, rows, place.first, has_blocks);
    attention.q = reinterpret_cast<const float*>(q);
    attention.out = reinterpret_cast<float*>(q + rows * q_width);
    attention.is_half = true;
    ENGINE_KERNEL(ops.attention(queue, attention), "attention", name);

    kernels::NormRowsArgs norm;
    norm.x = x.data;
    norm.rows = rows;
    norm.cols = text.hidden_size;
    norm.eps = static_cast<float>(text.rms_norm_eps);
    norm.h = home.buffer("h");
    // The sums of `linear` go to buffer `to`, in as many parts as it has room for.
    const auto residual = [&](const Linear& linear, const void* from, const char* to,
                              MatView t_norm, MatView next_norm, float scalar) -> Result<void> {
        float* const t = home.buffer(to);
        RowProduct product;
        product.x = from;
        product.rows = rows;
        product.parts = static_cast<int>(home.size(to) / (rows * text.hidden_size));
        ENGINE_ASSIGN(norm.parts, runProduct(*context_, home, product, {{&linear, t}}));
        norm.t = t;
        norm.t_norm = t_norm;
        norm.norm = next_norm;
        norm.scalar = scalar;
        return checkStatus(ops.norm_rows(queue, norm), "norm", linear.name);
    };
    ENGINE_TRY(
        residual(layer.o, attention.out, "t", layer.post_attention_norm, layer.pre_mlp_norm, 1.0F));

    RowProduct gated;
    gated.x = norm.h;
    gated.rows = rows;
    gated.output = ProductArgs::Output::GeluPair;
    ENGINE_TRY(runProduct(*context_, home, gated,
                          {{&layer.gate, home.buffer("gate")}, {&layer.up, nullptr}}));
    // Products of the pair need no memory: there is room for many parts of a long sum.
    const char* const widest = home.size("up") >= home.size("t") ? "up" : "t";
    const int next = index + 1;
    const bool has_next = next < static_cast<int>(layers_.size()) &&
                          layers_[static_cast<size_t>(next)].home == &home &&
                          canFuseRows(next, kv, rows);
    const MatView after = has_next ? layers_[static_cast<size_t>(next)].input_norm : MatView{};
    const int64_t first_row = place.first;
    place.normed = 0;
    place.normed_layer = has_next ? next : -1;
    if (text.ple_size <= 0) {
        return residual(layer.down, home.buffer("gate"), widest, layer.post_mlp_norm, after,
                        layer.layer_scalar);
    }
    ENGINE_TRY(residual(layer.down, home.buffer("gate"), widest, layer.post_mlp_norm, {}, 1.0F));
    const int64_t width = text.num_layers * text.ple_size;
    gated.output = ProductArgs::Output::GeluMultiply;
    gated.multiply = {ple_home_->buffer("ple") + first_row * width + index * text.ple_size, rows,
                      text.ple_size, width};
    if (ple_home_ != &home) {
        const kernels::MutF32 copy = home.matrix("ple_slice", rows, text.ple_size);
        ENGINE_TRY(moveSlice(gated.multiply, home, copy));
        gated.multiply = copy;
    }
    ENGINE_TRY(runProduct(*context_, home, gated, {{&layer.ple_gate, home.buffer("ple_gate")}}));
    return residual(layer.ple_projection, home.buffer("ple_gate"), "t", layer.ple_norm, after,
                    layer.layer_scalar);
}

} // namespace engine
