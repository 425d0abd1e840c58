// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layers/single_layers.h"

#include "engine/forward/layers/experts.h"
#include "engine/forward/layers/lent_rows.h"
#include "engine/forward/matrix_views.h"

#include <algorithm>
#include <limits>

namespace engine {

using kernels::MatF32;
using kernels::MatView;
using kernels::MutF32;

namespace {

constexpr MatView kNoScale{};

} // namespace

Result<MatF32> perLayerSlice(
    const BoundModel& model, DeviceScratch& home, int layer, int64_t first_row, int64_t rows) {
    const int64_t size = model.config.text.ple_size;
    const int64_t width = model.perLayerWidth();
    DeviceScratch& there = *model.text.per_layer_home;
    const MatF32 slice{there.buffer(Buffer::Ple) + first_row * width + layer * size, rows, size,
                       width};
    if (&there == &home) {
        return slice;
    }
    const MutF32 copy = home.matrix(Buffer::PleSlice, rows, size);
    // The rows lie far apart: laid together first, as one transfer a row costs more than the bytes.
    // The memory is that of the table's rows, which are done with before the layers.
    const int64_t at_once = rows == 1 ? 1 : there.size(Buffer::PleToken) / size;
    for (int64_t first = 0; first < rows; first += at_once) {
        MatF32 part{slice.data + first * width, std::min(at_once, rows - first), size, width};
        if (part.rows > 1) {
            constexpr float kAny = std::numeric_limits<float>::infinity();
            const MutF32 together = there.matrix(Buffer::PleToken, part.rows, part.cols);
            ENGINE_KERNEL(there.ops().clamp(there.queue(), part, -kAny, kAny, together),
                          "per-layer inputs", "ple");
            part = together;
        }
        ENGINE_TRY(model.context->move(there, part.data, home, copy.data + first * copy.stride,
                                       sizeBytes(part)));
    }
    return MatF32(copy);
}

Result<void>
takeQueries(DeviceScratch& home, MutF32 made, MutF32 queries, const std::string& name) {
    constexpr float kAny = std::numeric_limits<float>::infinity();
    return checkStatus(
        home.ops().clamp(home.queue(), queriesOf(made, queries.cols), -kAny, kAny, queries),
        "queries", name);
}

Result<void> gateOutput(DeviceScratch& home, MutF32 out, MutF32 made, const std::string& name) {
    return checkStatus(home.ops().sigmoid_mul(home.queue(), out, gatesOf(made, out.cols), out),
                       "gates", name);
}

Result<void> SingleLayers::storeKeys(const LayerCall& call, int index, MutF32 x) {
    const DecoderLayer& layer = call.stack.layer(index);
    DeviceScratch& home = *layer.home;
    const MutF32 h = home.matrix(call.stack.h, x.rows, x.cols);
    ENGINE_KERNEL(home.ops().rms_norm(home.queue(), x, layer.inputNorm(), call.stack.eps(), h),
                  "input norm", layer.attend.q.name);
    return storeNormed(call, index, h);
}

Result<void> SingleLayers::storeNormed(const LayerCall& call, int index, MatF32 normed) {
    const TextConfig& text = *call.stack.text;
    const LayerConfig& shape = call.stack.shape(index);
    const DecoderLayer& layer = call.stack.layer(index);
    ComputeContext& context = *model_->context;
    const KvCache& kv = call.kv;
    DeviceScratch& home = *layer.home;
    DeviceScratch& cache_home = *layer.attention;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const float eps = call.stack.eps();
    const std::string& name = layer.attend.k.name;
    const int64_t rows = normed.rows;
    const int64_t width = shape.num_kv_heads * shape.head_dim;
    const bool is_full = shape.type == LayerType::Full;

    const MutF32 k = home.matrix(Buffer::K, rows, width);
    const MutF32 v = home.matrix(Buffer::V, rows, width);
    ENGINE_TRY(product(layer.attend.k, home, normed, k));
    if (shape.k_is_v) {
        ENGINE_TRY(context.move(home, k.data, home, v.data, sizeBytes(k)));
    } else {
        ENGINE_TRY(product(layer.attend.v, home, normed, v));
    }
    if (text.recipe.has_head_norms) {
        const MutF32 heads = reshaped(k, shape.head_dim);
        ENGINE_KERNEL(ops.rms_norm(queue, heads, layer.attend.k_norm, eps, heads), "k norm", name);
    }
    ENGINE_KERNEL(ops.rope(queue, k, shape.head_dim, 0, shape.head_dim,
                           home.ints(call.stack.position),
                           home.buffer(is_full ? Buffer::InvFreqFull : Buffer::InvFreqSliding)),
                  "RoPE", name);
    if (text.recipe.has_value_norm) {
        const MutF32 heads = reshaped(v, shape.head_dim);
        ENGINE_KERNEL(ops.rms_norm(queue, heads, kNoScale, eps, heads), "v norm", name);
    }

    MutF32 k_there = k;
    MutF32 v_there = v;
    if (&cache_home != &home) {
        k_there = cache_home.matrix(Buffer::K, rows, width);
        v_there = cache_home.matrix(Buffer::V, rows, width);
        ENGINE_TRY(context.move(home, k.data, cache_home, k_there.data, sizeBytes(k)));
        ENGINE_TRY(context.move(home, v.data, cache_home, v_there.data, sizeBytes(v)));
    }
    const KvCache::LayerKv& cache = kv.owner(index);
    const std::vector<int32_t>& host_slots = is_full ? kv.fullSlots() : kv.slidingSlots();
    const auto& cache_ops = cache_home.ops();
    const auto store = [&](MutF32 from, Buffer slots, void* to, int64_t capacity) {
        return checkStatus(cache_ops.store_rows(cache_home.queue(), from, cache_home.ints(slots),
                                                kv.type(), shape.num_kv_heads, to, capacity),
                           "store K and V", name);
    };
    if (call.rows.isStaged() && !is_full) {
        // The ring as it was, behind it all rows of this call; then the ring takes the last rows.
        const auto held = static_cast<size_t>(call.rows.heldSlots() * cache.row_bytes);
        for (const bool is_k : {true, false}) {
            void* to = cache_home.buffer(is_k ? Buffer::StageK : Buffer::StageV);
            if (held > 0) {
                ENGINE_TRY(context.move(cache_home, is_k ? cache.primary.k : cache.primary.v,
                                        cache_home, to, held));
            }
            ENGINE_TRY(
                store(is_k ? k_there : v_there, Buffer::SlotsStage, to, call.rows.stageRows()));
        }
    }
    const auto kept = static_cast<int64_t>(host_slots.size());
    const Buffer slots = is_full ? Buffer::SlotsFull : Buffer::SlotsSliding;
    ENGINE_TRY(store(rowsOf(k_there, rows - kept, kept), slots, cache.primary.k, cache.capacity));
    ENGINE_TRY(store(rowsOf(v_there, rows - kept, kept), slots, cache.primary.v, cache.capacity));

    return updateMirrors(*model_, index, kv);
}

Result<void> SingleLayers::attend(const LayerCall& call, int index, MatF32 normed, MutF32 t) {
    const TextConfig& text = *call.stack.text;
    const LayerConfig& shape = call.stack.shape(index);
    const DecoderLayer& layer = call.stack.layer(index);
    ComputeContext& context = *model_->context;
    DeviceScratch& home = *layer.home;
    DeviceScratch& where = *layer.attention;
    const std::string& name = layer.attend.q.name;
    const int64_t rows = normed.rows;
    const int64_t q_width = text.num_heads * shape.head_dim;
    const int64_t parts = text.recipe.queryParts();
    const bool is_full = shape.type == LayerType::Full;

    const MutF32 made = home.matrix(call.stack.q, rows, q_width * parts);
    ENGINE_TRY(product(layer.attend.q, home, normed, made));
    MutF32 q = made;
    if (text.recipe.has_query_gate) {
        q = {home.buffer(call.stack.o) + rows * q_width, rows, q_width, q_width};
        ENGINE_TRY(takeQueries(home, made, reshaped(q, shape.head_dim), name));
    }
    if (text.recipe.has_head_norms) {
        const MutF32 heads = reshaped(q, shape.head_dim);
        ENGINE_KERNEL(
            home.ops().rms_norm(home.queue(), heads, layer.attend.q_norm, call.stack.eps(), heads),
            "q norm", name);
    }
    ENGINE_KERNEL(
        home.ops().rope(home.queue(), q, shape.head_dim, 0, shape.head_dim,
                        home.ints(call.stack.position) + call.rows.firstOf(rows),
                        home.buffer(is_full ? Buffer::InvFreqFull : Buffer::InvFreqSliding)),
        "RoPE", name);
    if (&where != &home) {
        const MutF32 there = where.matrix(call.stack.q, rows, q_width);
        ENGINE_TRY(context.move(home, q.data, where, there.data, sizeBytes(q)));
        q = there;
    }
    kernels::AttentionArgs args = call.rows.attention(call.stack, index, call.kv, rows);
    args.q = q.data;
    MutF32 out = where.matrix(call.stack.o, rows, q_width);
    args.out = out.data;
    if (&where == &home && !text.recipe.has_query_gate) {
        ENGINE_ASSIGN(
            const bool is_done,
            LentRows(*model_, home, rows)
                .attention(args, call.kv.owner(layer.kv_layer).row_bytes, layer.attend.o, t));
        if (is_done) {
            return {};
        }
    }
    ENGINE_KERNEL(where.ops().attention(where.queue(), args), "attention", name);
    if (&where != &home) {
        const MutF32 back = home.matrix(call.stack.o, rows, q_width);
        ENGINE_TRY(context.move(where, out.data, home, back.data, sizeBytes(out)));
        out = back;
    }
    if (text.recipe.has_query_gate) {
        ENGINE_TRY(gateOutput(home, reshaped(out, shape.head_dim), made, name));
    }
    return product(layer.attend.o, home, out, t);
}

Result<void> SingleLayers::product(const Linear& linear, DeviceScratch& home, MatF32 x, MutF32 y) {
    ENGINE_ASSIGN(const bool is_done, LentRows(*model_, home, x.rows).product(linear, x, y));
    return is_done ? Result<void>() : model_->context->linear(linear, home, x, y);
}

Result<void> SingleLayers::gatedMlp(const LayerCall& call, int index, MatF32 h, MutF32 t) {
    const TextConfig& text = *call.stack.text;
    const DecoderLayer& layer = call.stack.layer(index);
    const int64_t width = call.stack.shape(index).intermediate_size;
    DeviceScratch& home = *layer.home;
    ENGINE_ASSIGN(const bool is_done, LentRows(*model_, home, h.rows).mlp(layer.mlp, h, t));
    if (is_done) {
        return {};
    }
    const MutF32 gate = home.matrix(call.stack.gate, h.rows, width);
    const MutF32 up = home.matrix(call.stack.up, h.rows, width);
    ENGINE_TRY(product(layer.mlp.gate, home, h, gate));
    ENGINE_TRY(product(layer.mlp.up, home, h, up));
    ENGINE_KERNEL(home.ops().gated_mul(home.queue(), text.recipe.activation, gate, up, gate),
                  "activation", layer.mlp.gate.name);
    return product(layer.mlp.down, home, gate, t);
}

Result<void> SingleLayers::perLayerInput(const LayerCall& call, int index, MatF32 x, MutF32 t) {
    const TextConfig& text = *call.stack.text;
    const DecoderLayer& layer = call.stack.layer(index);
    DeviceScratch& home = *layer.home;
    ENGINE_ASSIGN(const MatF32 slice,
                  perLayerSlice(*model_, home, index, call.rows.firstOf(x.rows), x.rows));
    const MutF32 gated = home.matrix(Buffer::PleGate, x.rows, text.ple_size);
    ENGINE_TRY(model_->context->linear(layer.per_layer.gate, home, x, gated));
    ENGINE_KERNEL(home.ops().gated_mul(home.queue(), text.recipe.activation, gated, slice, gated),
                  "activation", layer.per_layer.gate.name);
    return model_->context->linear(layer.per_layer.back, home, gated, t);
}

Result<void>
SingleLayers::runLayer(const LayerCall& call, int index, MutF32 x, bool are_keys_stored) {
    const TextConfig& text = *call.stack.text;
    const DecoderLayer& layer = call.stack.layer(index);
    DeviceScratch& home = *layer.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const float eps = call.stack.eps();
    const std::string& name = layer.attend.q.name;
    const MutF32 h = home.matrix(call.stack.h, x.rows, x.cols);
    const MutF32 t = home.matrix(call.stack.t, x.rows, x.cols);

    for (const BoundBranch& branch : layer.branches) {
        MutF32 in = x;
        if (branch.pre.data != nullptr) {
            ENGINE_KERNEL(ops.rms_norm(queue, x, branch.pre, eps, h), "norm", name);
            in = h;
        }
        switch (branch.body) {
        case BranchBody::Attention:
            if (!call.stack.shape(index).is_kv_shared && !are_keys_stored) {
                ENGINE_TRY(storeNormed(call, index, in));
            }
            ENGINE_TRY(attend(call, index, in, t));
            break;
        case BranchBody::Mlp:
            ENGINE_TRY(gatedMlp(call, index, in, t));
            break;
        case BranchBody::MlpWithExperts:
            ENGINE_TRY(gatedMlp(call, index, in, t));
            ENGINE_TRY(addExperts(*model_, layer, x, t));
            break;
        case BranchBody::PerLayerInput:
            ENGINE_TRY(perLayerInput(call, index, in, t));
            break;
        case BranchBody::FeedForward:
        case BranchBody::RelativeAttention:
        case BranchBody::Convolution:
            return Error{ErrorCode::Internal, name + ": a branch of an audio layer in a decoder"};
        }
        if (branch.post.data != nullptr) {
            ENGINE_KERNEL(ops.rms_norm_add(queue, t, branch.post, eps, branch.weight, x),
                          "norm and residual", name);
        } else {
            ENGINE_KERNEL(ops.add_scaled(queue, t, branch.weight, x), "residual", name);
        }
    }
    return text.recipe.has_scalar
               ? checkStatus(ops.scale(queue, x, layer.scalar), "layer scalar", name)
               : Result<void>();
}

} // namespace engine
