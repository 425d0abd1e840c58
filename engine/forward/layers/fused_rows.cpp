// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layers/fused_rows.h"

#include "engine/forward/layers/experts.h"
#include "engine/forward/layers/single_layers.h"

#include <algorithm>

namespace engine {

using kernels::MatView;
using kernels::MutF32;
using kernels::ProductArgs;

namespace {

bool takesRows(const BoundModel& model, int index) {
    const TextConfig& text = model.config.text;
    const DecoderLayer& layer = model.text.layers[static_cast<size_t>(index)];
    const LayerConfig& shape = text.layers[static_cast<size_t>(index)];
    const DeviceScratch& home = *layer.home;
    const ComputeContext& context = *model.context;
    const kernels::OpTable& ops = home.ops();
    if (model.is_reference || layer.attention != &home || ops.takes_rows == nullptr ||
        !ops.takes_rows(home.queue(), text.hidden_size, shape.head_dim)) {
        return false;
    }
    const AttentionWeights& a = layer.attend;
    const MlpWeights& m = layer.mlp;
    const bool has_sizes = text.hidden_size % 8 == 0 && text.ple_size % 8 == 0 &&
                           shape.intermediate_size % 8 == 0 && shape.head_dim % 2 == 0 &&
                           text.num_heads * shape.head_dim % 8 == 0;
    return has_sizes && areFusible({&a.q, &a.o, &m.gate, &m.up, &m.down}, home, context) &&
           (text.ple_size <= 0 ||
            areFusible({&layer.per_layer.gate, &layer.per_layer.back}, home, context)) &&
           (shape.is_kv_shared ||
            (isFusible(a.k, home, context) && (shape.k_is_v || isFusible(a.v, home, context))));
}

} // namespace

void chooseFusedRows(BoundModel& model) {
    const LayerRecipe& recipe = model.config.text.recipe;
    const bool is_known = isFusible(recipe, true) && !recipe.has_query_gate;
    for (size_t i = 0; i < model.text.layers.size(); ++i) {
        model.text.layers[i].takes_rows = is_known && takesRows(model, static_cast<int>(i));
    }
}

Result<const uint16_t*> FusedRows::normInput(const LayerCall& call, int index, MutF32 x) {
    const DecoderLayer& layer = call.stack.layer(index);
    DeviceScratch& home = *layer.home;
    if (normed_layer_ != index) {
        kernels::NormRowsArgs norm;
        norm.x = x.data;
        norm.rows = x.rows;
        norm.cols = x.cols;
        norm.eps = call.stack.eps();
        norm.norm = layer.inputNorm();
        norm.h = home.buffer(Buffer::H);
        ENGINE_KERNEL(home.ops().norm_rows(home.queue(), norm), "input norm", layer.attend.q.name);
        normed_layer_ = index;
        normed_rows_ = x.rows;
    }
    return reinterpret_cast<const uint16_t*>(home.buffer(Buffer::H)) +
           (normed_rows_ - x.rows) * x.cols;
}

kernels::HeadRowsArgs::Target FusedRows::cacheTarget(const LayerCall& call, int index) {
    const bool is_full = call.stack.shape(index).type == LayerType::Full;
    const DeviceScratch& home = *call.stack.layer(index).home;
    const KvCache::LayerKv& cache = call.kv.owner(index);
    const std::vector<int32_t>& slots = is_full ? call.kv.fullSlots() : call.kv.slidingSlots();
    kernels::HeadRowsArgs::Target target;
    target.k = cache.primary.k;
    target.v = cache.primary.v;
    target.slot = home.ints(is_full ? Buffer::SlotsFull : Buffer::SlotsSliding);
    target.first = call.rows.count() - static_cast<int64_t>(slots.size());
    target.capacity = cache.capacity;
    return target;
}

Result<void>
FusedRows::openStage(const LayerCall& call, int index, kernels::HeadRowsArgs::Target& target) {
    // The ring as it was, behind it all rows of this call; the ring takes the last rows.
    DeviceScratch& home = *call.stack.layer(index).home;
    const KvCache::LayerKv& cache = call.kv.owner(index);
    target.k = home.buffer(Buffer::StageK);
    target.v = home.buffer(Buffer::StageV);
    target.slot = home.ints(Buffer::SlotsStage);
    target.capacity = call.rows.stageRows();
    const auto held = static_cast<size_t>(call.rows.heldSlots() * cache.row_bytes);
    if (held > 0) {
        ENGINE_TRY(model_->context->move(home, cache.primary.k, home, target.k, held));
        ENGINE_TRY(model_->context->move(home, cache.primary.v, home, target.v, held));
    }
    return {};
}

Result<void> FusedRows::projectHeads(
    const LayerCall& call, int index, const uint16_t* normed, int64_t rows, Heads wanted) {
    const TextConfig& text = *call.stack.text;
    const LayerConfig& shape = call.stack.shape(index);
    const DecoderLayer& layer = call.stack.layer(index);
    DeviceScratch& home = *layer.home;
    const bool is_full = shape.type == LayerType::Full;
    const int64_t q_width = text.num_heads * shape.head_dim;
    const int64_t kv_width = shape.num_kv_heads * shape.head_dim;
    const bool has_queries = wanted != Heads::Keys;
    const bool has_keys = wanted != Heads::Queries && !shape.is_kv_shared;

    RowProduct product;
    product.x = normed;
    product.rows = rows;
    product.parts = static_cast<int>(std::min(home.size(Buffer::Q) / (rows * q_width),
                                              home.size(Buffer::K) / (rows * kv_width)));
    std::vector<RowProduct::Part> parts;
    if (has_queries) {
        parts.push_back({&layer.attend.q, home.buffer(Buffer::Q)});
    }
    if (has_keys) {
        parts.push_back({&layer.attend.k, home.buffer(Buffer::K)});
        if (!shape.k_is_v) {
            parts.push_back({&layer.attend.v, home.buffer(Buffer::V)});
        }
    }
    kernels::HeadRowsArgs args;
    ENGINE_ASSIGN(args.parts, runProducts(*model_->context, home, product, parts));
    args.q = home.buffer(Buffer::Q);
    args.q_norm = layer.attend.q_norm;
    args.k_norm = layer.attend.k_norm;
    args.norms_values = text.recipe.has_value_norm;
    args.position = home.ints(Buffer::QueryPosition) + call.rows.firstOf(rows);
    args.inv_freq = home.buffer(is_full ? Buffer::InvFreqFull : Buffer::InvFreqSliding);
    args.q_to = home.buffer(Buffer::O);
    args.rows = rows;
    args.num_heads = has_queries ? text.num_heads : 0;
    args.kv_type = call.kv.type();
    args.num_kv_heads = shape.num_kv_heads;
    args.head_dim = shape.head_dim;
    args.eps = call.stack.eps();
    if (has_keys) {
        args.k = home.buffer(Buffer::K);
        args.v = shape.k_is_v ? args.k : home.buffer(Buffer::V);
        args.to[0] = cacheTarget(call, index);
        if (call.rows.isStaged() && !is_full) {
            ENGINE_TRY(openStage(call, index, args.to[1]));
        }
    }
    ENGINE_KERNEL(home.ops().head_rows(home.queue(), args), "head norms and RoPE",
                  layer.attend.q.name);
    return has_keys ? updateMirrors(*model_, index, call.kv) : Result<void>();
}

Result<void> FusedRows::storeKeys(const LayerCall& call, int index, MutF32 x) {
    ENGINE_ASSIGN(const uint16_t* normed, normInput(call, index, x));
    return projectHeads(call, index, normed, x.rows, Heads::Keys);
}

Result<FusedRows::Sums> FusedRows::project(DeviceScratch& home,
                                           const Linear& linear,
                                           const void* from,
                                           int64_t rows,
                                           Buffer to,
                                           int64_t most_parts) {
    RowProduct product;
    product.x = from;
    product.rows = rows;
    product.parts = static_cast<int>(std::min(most_parts, home.size(to) / (rows * linear.out)));
    Sums sums;
    sums.t = home.buffer(to);
    ENGINE_ASSIGN(sums.parts, runProduct(*model_->context, home, product, {{&linear, sums.t}}));
    return sums;
}

Result<FusedRows::Sums> FusedRows::attend(
    const LayerCall& call, int index, const uint16_t* normed, int64_t rows, bool are_keys_stored) {
    const DecoderLayer& layer = call.stack.layer(index);
    DeviceScratch& home = *layer.home;
    const int64_t q_width = call.stack.text->num_heads * call.stack.shape(index).head_dim;
    ENGINE_TRY(
        projectHeads(call, index, normed, rows, are_keys_stored ? Heads::Queries : Heads::All));
    auto* const q = reinterpret_cast<uint16_t*>(home.buffer(Buffer::O));
    kernels::AttentionArgs args = call.rows.attention(call.stack, index, call.kv, rows);
    args.q = reinterpret_cast<const float*>(q);
    args.out = reinterpret_cast<float*>(q + rows * q_width);
    args.is_half = true;
    ENGINE_KERNEL(home.ops().attention(home.queue(), args), "attention", layer.attend.q.name);
    return project(home, layer.attend.o, args.out, rows, Buffer::T);
}

Result<FusedRows::Sums>
FusedRows::gatedMlp(const LayerCall& call, int index, int64_t rows, bool is_whole) {
    const DecoderLayer& layer = call.stack.layer(index);
    DeviceScratch& home = *layer.home;
    RowProduct gated;
    gated.x = home.buffer(Buffer::H);
    gated.rows = rows;
    gated.output = ProductArgs::Output::GatedPair;
    gated.activation = call.stack.text->recipe.activation;
    ENGINE_TRY(
        runProduct(*model_->context, home, gated,
                   {{&layer.mlp.gate, home.buffer(Buffer::Gate)}, {&layer.mlp.up, nullptr}}));
    if (is_whole) {
        return project(home, layer.mlp.down, home.buffer(Buffer::Gate), rows, Buffer::T, 1);
    }
    // Products of the pair need no memory: there is room for many parts of a long sum.
    const Buffer widest = home.size(Buffer::Up) >= home.size(Buffer::T) ? Buffer::Up : Buffer::T;
    return project(home, layer.mlp.down, home.buffer(Buffer::Gate), rows, widest);
}

Result<FusedRows::Sums> FusedRows::perLayerInput(const LayerCall& call, int index, int64_t rows) {
    const DecoderLayer& layer = call.stack.layer(index);
    DeviceScratch& home = *layer.home;
    RowProduct gated;
    gated.x = home.buffer(Buffer::H);
    gated.rows = rows;
    gated.output = ProductArgs::Output::GatedMultiply;
    gated.activation = call.stack.text->recipe.activation;
    ENGINE_ASSIGN(gated.multiply,
                  perLayerSlice(*model_, home, index, call.rows.firstOf(rows), rows));
    ENGINE_TRY(runProduct(*model_->context, home, gated,
                          {{&layer.per_layer.gate, home.buffer(Buffer::PleGate)}}));
    return project(home, layer.per_layer.back, home.buffer(Buffer::PleGate), rows, Buffer::T);
}

Result<void> FusedRows::runLayer(const LayerCall& call, int index, MutF32 x, bool are_keys_stored) {
    const std::span<const DecoderLayer> layers = call.stack.layers;
    const DecoderLayer& layer = call.stack.layer(index);
    DeviceScratch& home = *layer.home;
    ENGINE_ASSIGN(const uint16_t* normed, normInput(call, index, x));
    const auto next = static_cast<size_t>(index) + 1;
    const bool has_next =
        next < layers.size() && layers[next].home == &home && layers[next].takes_rows && x.rows > 1;

    kernels::NormRowsArgs norm;
    norm.x = x.data;
    norm.rows = x.rows;
    norm.cols = x.cols;
    norm.eps = call.stack.eps();
    norm.h = home.buffer(Buffer::H);
    for (size_t i = 0; i < layer.branches.size(); ++i) {
        const BoundBranch& branch = layer.branches[i];
        Sums sums;
        if (branch.body == BranchBody::Attention) {
            ENGINE_ASSIGN(sums, attend(call, index, normed, x.rows, are_keys_stored));
        } else if (branch.body == BranchBody::Mlp) {
            ENGINE_ASSIGN(sums, gatedMlp(call, index, x.rows, false));
        } else if (branch.body == BranchBody::MlpWithExperts) {
            ENGINE_ASSIGN(sums, gatedMlp(call, index, x.rows, true));
            ENGINE_TRY(addExperts(*model_, layer, x, home.matrix(Buffer::T, x.rows, x.cols)));
        } else {
            ENGINE_ASSIGN(sums, perLayerInput(call, index, x.rows));
        }
        // Behind a branch stands what the next one reads: its norm, or x itself in bf16.
        const bool is_last = i + 1 == layer.branches.size();
        norm.t = sums.t;
        norm.parts = sums.parts;
        norm.t_norm = branch.post;
        norm.norm = !is_last   ? layer.branches[i + 1].pre
                    : has_next ? layers[next].inputNorm()
                               : MatView{};
        norm.scalar = is_last && call.stack.text->recipe.has_scalar ? layer.scalar : 1.0F;
        ENGINE_KERNEL(home.ops().norm_rows(home.queue(), norm), "norm", layer.attend.q.name);
    }
    normed_layer_ = has_next ? static_cast<int>(next) : -1;
    normed_rows_ = x.rows;
    return {};
}

} // namespace engine
