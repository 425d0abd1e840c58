// SPDX-License-Identifier: Apache-2.0
// The OpTable of a CUDA device: argument checks, choice of kernel, grids. Nothing here waits or
// allocates. Tile and thread counts were chosen on an H200 (132 multiprocessors).
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch/lora.h"
#include "kernels/cuda/launch/quantize.h"
#include "kernels/cuda/launch/token_steps.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <bit>

namespace kernels::cuda {

namespace {

Status norm(Queue q, MatF32 x, MatView weight, float eps, float alpha, bool adds, MutF32 y) {
    if (!isSameShape(x, y) || (weight.data != nullptr && weight.rows * weight.cols != x.cols)) {
        return Status::BadShape;
    }
    if (x.rows == 0) {
        return Status::Ok;
    }
    const unsigned threads = x.cols <= 256 ? 64U : kThreads;
    return streamOf(q).launch(KernelId::rms_norm, static_cast<unsigned>(x.rows), 1, 1, threads, 0,
                              x.data, x.stride, vectorArgs(weight), y.data, y.stride,
                              static_cast<int>(x.cols), eps, alpha, adds ? 1 : 0);
}

Status rmsNorm(Queue q, MatF32 x, MatView weight, float eps, MutF32 y) {
    return norm(q, x, weight, eps, 1.0F, false, y);
}

Status rmsNormAdd(Queue q, MatF32 x, MatView weight, float eps, float alpha, MutF32 residual) {
    return norm(q, x, weight, eps, alpha, true, residual);
}

Status rope(Queue q,
            MutF32 x,
            int64_t head_dim,
            int64_t offset,
            int64_t dim,
            const int32_t* position,
            const float* inv_freq) {
    if (!isMatrix(x) || head_dim <= 0 || x.cols % head_dim != 0 || offset < 0 || dim < 0 ||
        dim % 2 != 0 || offset + dim > head_dim) {
        return Status::BadShape;
    }
    if (x.rows == 0 || dim == 0) {
        return Status::Ok;
    }
    return streamOf(q).launch(KernelId::rope, static_cast<unsigned>(x.rows),
                              static_cast<unsigned>(x.cols / head_dim), 1, 128, 0, x.data, x.stride,
                              static_cast<int>(head_dim), static_cast<int>(offset),
                              static_cast<int>(dim), position, inv_freq);
}

AttentionKernelArgs attentionArgs(const AttentionArgs& a) {
    AttentionKernelArgs args{};
    args.q = a.q;
    args.k = a.k;
    args.v = a.v;
    args.out = a.out;
    args.query_position = a.mask.query_position;
    args.key_position = a.mask.key_position;
    args.query_block = a.mask.query_block;
    args.key_block = a.mask.key_block;
    args.queries = a.queries;
    args.keys = a.keys;
    args.window = a.mask.window;
    args.num_heads = static_cast<int32_t>(a.num_heads);
    args.num_kv_heads = static_cast<int32_t>(a.num_kv_heads);
    args.head_dim = static_cast<int32_t>(a.head_dim);
    args.rows = kvRowArgs(a.kv_type, a.num_kv_heads, a.head_dim);
    args.is_causal = a.mask.causal ? 1 : 0;
    args.scale = a.scale;
    args.is_half = a.is_half ? 1 : 0;
    return args;
}

Status attention(Queue q, const AttentionArgs& a) {
    if (a.queries < 0 || a.keys < 0 || a.num_heads <= 0 || a.num_kv_heads <= 0 ||
        a.num_heads % a.num_kv_heads != 0 || a.head_dim <= 0 || a.head_dim > 512 ||
        a.mask.window < 0) {
        return Status::BadShape;
    }
    if (a.queries == 0) {
        return Status::Ok;
    }
    Stream& s = streamOf(q);
    if (a.is_half && (s.is_reference || (a.kv_type != KvType::BF16 && a.kv_type != KvType::Q8))) {
        return Status::Unsupported;
    }
    // Every key is visible: no masks, and scores that stay in registers.
    if (a.is_half && a.kv_type == KvType::BF16 && a.mask.is_open && !a.mask.causal &&
        a.mask.window == 0 && (a.head_dim == 64 || a.head_dim == 72) &&
        a.num_heads == a.num_kv_heads && a.keys > 0 && a.scale > 0.0F &&
        s.facts.compute_capability >= 80) {
        return s.launch(a.head_dim == 64 ? KernelId::flash_open_64 : KernelId::flash_open_72,
                        tiles(a.queries, 128), static_cast<unsigned>(a.num_heads), 1, kThreads,
                        flashOpenBytes(a.head_dim), attentionArgs(a));
    }
    const FlashSizes sizes =
        s.is_reference
            ? FlashSizes{}
            : flashSizes(s.facts.compute_capability, s.facts.shared_bytes, a.head_dim, a.is_half);
    if (sizes.kernel != KernelId::attention_reference) {
        return s.launch(sizes.kernel, tiles(a.queries, 64), static_cast<unsigned>(a.num_heads), 1,
                        sizes.threads, sizes.shared_bytes, attentionArgs(a));
    }
    return s.launch(KernelId::attention_reference, static_cast<unsigned>(a.queries),
                    static_cast<unsigned>(a.num_heads), 1, 128, 0, attentionArgs(a));
}

Status audioAttention(Queue q, const AudioAttentionArgs& a) {
    if (a.frames < 0 || a.num_heads <= 0 || a.head_dim <= 0 || a.reach <= 0 || !(a.cap > 0.0F)) {
        return Status::BadShape;
    }
    if (a.reach > 128) {
        return Status::Unsupported;
    }
    if (a.frames == 0) {
        return Status::Ok;
    }
    return streamOf(q).launch(KernelId::audio_attention, static_cast<unsigned>(a.frames),
                              static_cast<unsigned>(a.num_heads), 1, 128, 0, a.q, a.k, a.v, a.rel,
                              a.out, static_cast<int>(a.num_heads), static_cast<int>(a.head_dim),
                              static_cast<int>(a.reach), a.cap);
}

Status subsampleConv(Queue q, const SubsampleConvArgs& a) {
    if (a.time < 0 || a.mel <= 0 || a.in_ch <= 0 || a.out_ch <= 0) {
        return Status::BadShape;
    }
    if (a.out_ch > 1024 || a.in_ch > 1024) {
        return Status::Unsupported;
    }
    if (a.time == 0) {
        return Status::Ok;
    }
    const auto threads = static_cast<unsigned>((a.out_ch + 31) / 32 * 32);
    return streamOf(q).launch(KernelId::subsample_conv, static_cast<unsigned>((a.mel + 1) / 2),
                              static_cast<unsigned>((a.time + 1) / 2), 1, threads,
                              static_cast<unsigned>(9 * a.in_ch * 4), a.in, a.time, a.mel,
                              static_cast<int>(a.in_ch), static_cast<int>(a.out_ch), a.weight,
                              a.norm, a.eps, a.out);
}

/// Grid of the element-wise kernels: (rows, column tiles).
template <typename... Args>
Status elementwise(Queue q, KernelId id, int64_t rows, int64_t cols, Args... args) {
    if (rows == 0) {
        return Status::Ok;
    }
    return streamOf(q).launch(id, static_cast<unsigned>(rows), tiles(cols, kThreads), 1, kThreads,
                              0, args...);
}

Status gatedMul(Queue q, Activation activation, MatF32 gate, MatF32 up, MutF32 y) {
    if (!isSameShape(gate, y) || !isSameShape(up, y)) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::gated_mul, y.rows, y.cols, activation, gate.data, gate.stride,
                       up.data, up.stride, y.data, y.stride, static_cast<int>(y.cols));
}

Status sigmoidMul(Queue q, MatF32 x, MatF32 gate, MutF32 y) {
    if (!isSameShape(x, y) || !isSameShape(gate, y)) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::sigmoid_mul, y.rows, y.cols, x.data, x.stride, gate.data,
                       gate.stride, y.data, y.stride, static_cast<int>(y.cols));
}

Status causalConv1d(Queue q, MatF32 x, const float* w, int64_t taps, MutF32 y) {
    if (!isSameShape(x, y) || w == nullptr || taps <= 0) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::causal_conv1d, y.rows, y.cols, x.data, x.stride, w,
                       static_cast<int>(taps), y.data, y.stride, static_cast<int>(y.cols));
}

Status clamp(Queue q, MatF32 x, float lo, float hi, MutF32 y) {
    if (!isSameShape(x, y)) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::clamp, y.rows, y.cols, x.data, x.stride, lo, hi, y.data,
                       y.stride, static_cast<int>(y.cols));
}

Status addScaled(Queue q, MatF32 x, float alpha, MutF32 y) {
    if (!isSameShape(x, y)) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::axpby, y.rows, y.cols, x.data, x.stride, alpha, y.data,
                       y.stride, 1.0F, static_cast<int>(y.cols));
}

Status scale(Queue q, MutF32 x, float s) {
    if (!isMatrix(x)) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::axpby, x.rows, x.cols, static_cast<const float*>(nullptr),
                       int64_t{0}, 0.0F, x.data, x.stride, s, static_cast<int>(x.cols));
}

Status scaleColumns(Queue q, MutF32 x, const float* s) {
    if (!isMatrix(x) || s == nullptr) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::columns, x.rows, x.cols, x.data, x.stride, s,
                       static_cast<const float*>(nullptr), static_cast<int>(x.cols));
}

Status addColumns(Queue q, MutF32 x, const float* b) {
    if (!isMatrix(x) || b == nullptr) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::columns, x.rows, x.cols, x.data, x.stride,
                       static_cast<const float*>(nullptr), b, static_cast<int>(x.cols));
}

Status softCap(Queue q, MutF32 x, float cap) {
    if (!isMatrix(x) || !(cap > 0.0F)) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::soft_cap, x.rows, x.cols, x.data, x.stride, cap,
                       static_cast<int>(x.cols));
}

Status gatherRows(Queue q,
                  WeightView table,
                  const int32_t* ids,
                  int64_t count,
                  int64_t col_offset,
                  float scale_factor,
                  MutF32 y) {
    if (!isWeight(table) || !isMatrix(y) || count < 0 || y.rows != count || col_offset < 0 ||
        y.cols > table.cols - col_offset || (count > 0 && ids == nullptr)) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::gather_rows, count, y.cols, weightArgs(table), ids, col_offset,
                       scale_factor, y.data, y.stride, static_cast<int>(y.cols));
}

Status storeRows(Queue q,
                 MatF32 src,
                 const int32_t* slot,
                 KvType type,
                 int64_t heads,
                 void* dst,
                 int64_t capacity) {
    if (!isMatrix(src) || heads <= 0 || src.cols % heads != 0 ||
        (src.rows > 0 && (slot == nullptr || dst == nullptr))) {
        return Status::BadShape;
    }
    const int64_t dim = src.cols / heads;
    if (hasScales(type) && src.rows > 0) {
        return streamOf(q).launch(KernelId::store_code_rows, static_cast<unsigned>(src.rows),
                                  static_cast<unsigned>(heads), 1, 32, 0, src.data, src.stride,
                                  slot, kvRowArgs(type, heads, dim), dst, capacity,
                                  static_cast<int>(dim));
    }
    return elementwise(q, KernelId::store_rows, src.rows, src.cols, src.data, src.stride, slot,
                       static_cast<int>(type), dst, capacity, static_cast<int>(src.cols));
}

bool takesAttention(Queue q, const AttendStepArgs& a) {
    const Stream& s = streamOf(q);
    const int64_t per_kv = a.num_heads / a.num_kv_heads;
    const int splits = attendSplits(s.facts.multiprocessors, a.num_heads, a.capacity);
    const int64_t partial = a.num_heads * splits * (a.head_dim + 2) * 4;
    const bool is_known = a.kv_type == KvType::BF16 || a.kv_type == KvType::Q8;
    return !s.is_reference && is_known && a.head_dim % 8 == 0 &&
           std::has_single_bit(static_cast<uint64_t>(a.head_dim)) && a.head_dim >= 16 &&
           a.head_dim <= 512 && per_kv % std::min<int64_t>(per_kv, 4) == 0 &&
           static_cast<size_t>(partial) + kPartialOffset <= kPartialBytes;
}

Status attendStep(Queue q, const AttendStepArgs& a) {
    Stream& s = streamOf(q);
    if (a.num_heads <= 0 || a.num_kv_heads <= 0 || a.num_heads % a.num_kv_heads != 0 ||
        a.head_dim <= 0 || a.q == nullptr || a.out == nullptr || (a.turn != 0 && a.k != nullptr)) {
        return Status::BadShape;
    }
    if (!takesAttention(q, a)) {
        return Status::Unsupported;
    }
    const int64_t heads = std::min<int64_t>(a.num_heads / a.num_kv_heads, 4);
    const int splits = attendSplits(s.facts.multiprocessors, a.num_heads, a.capacity);
    AttendStepKernelArgs args{};
    args.q = a.q;
    args.k = a.k;
    args.v = a.v;
    args.q_norm = vectorArgs(a.q_norm);
    args.k_norm = vectorArgs(a.k_norm);
    args.inv_freq = a.inv_freq;
    args.position = a.position;
    args.slot = a.slot;
    args.key_position = a.key_position;
    args.key_count = a.key_count;
    args.cache_k = a.cache_k;
    args.cache_v = a.cache_v;
    args.out = a.out;
    // Scratch begins with the counters (zeroed when it is set), then the partial results.
    args.counter = static_cast<int32_t*>(pointerOf(s.scratch));
    args.partial = static_cast<float*>(pointerOf(s.scratch + kPartialOffset));
    args.rows = kvRowArgs(a.kv_type, a.num_kv_heads, a.head_dim);
    args.window = a.window;
    args.capacity = static_cast<int32_t>(a.capacity);
    args.is_ring = a.is_ring ? 1 : 0;
    args.norms_values = a.norms_values ? 1 : 0;
    args.turn = a.turn;
    args.num_heads = static_cast<int32_t>(a.num_heads);
    args.num_kv_heads = static_cast<int32_t>(a.num_kv_heads);
    args.head_dim = static_cast<int32_t>(a.head_dim);
    args.splits = splits;
    args.scale = a.scale;
    args.eps = a.eps;
    if (s.steps.is_collecting) {
        const Status status = collectAttend(s, args);
        if (status != Status::Unsupported || s.steps.rows != nullptr) {
            return status;
        }
    }
    return s.launch(a.head_dim > 256 ? KernelId::attend_step_512 : KernelId::attend_step_256,
                    static_cast<unsigned>(splits), static_cast<unsigned>(a.num_heads / heads), 1,
                    256, 0, args);
}

Status
argmax(Queue q, const float* logits, int64_t count, const uint32_t* suppressed, uint64_t* best) {
    if (logits == nullptr || best == nullptr || count <= 0) {
        return Status::BadShape;
    }
    Stream& s = streamOf(q);
    if (const Status flushed = s.flush(); flushed != Status::Ok) {
        return flushed;
    }
    const Status status =
        s.check(s.driver->memsetD8Async(reinterpret_cast<CuPointer>(best), 0, 8, s.handle),
                "cuMemsetD8Async");
    if (status != Status::Ok) {
        return status;
    }
    return s.launch(KernelId::argmax, static_cast<unsigned>(2 * s.facts.multiprocessors), 1, 1,
                    kThreads, 0, logits, static_cast<int>(count), suppressed,
                    reinterpret_cast<unsigned long long*>(best));
}

Status capArgmax(
    Queue q, float* logits, int64_t count, float cap, const uint32_t* suppressed, uint64_t* best) {
    if (logits == nullptr || best == nullptr || count <= 0 || cap < 0.0F) {
        return Status::BadShape;
    }
    Stream& s = streamOf(q);
    if (s.scratch_bytes < kCounterBytes || reinterpret_cast<uintptr_t>(logits) % 16 != 0) {
        return Status::Unsupported;
    }
    // Four logits a thread, all loads under way at once.
    const unsigned threads = 512;
    const unsigned blocks = std::min(tiles(count, int64_t{4} * threads),
                                     4 * static_cast<unsigned>(s.facts.multiprocessors));
    return s.launch(KernelId::cap_argmax, blocks, 1, 1, threads, 0, logits, static_cast<int>(count),
                    suppressed, reinterpret_cast<unsigned long long*>(best), cap,
                    static_cast<EdgeCounters*>(pointerOf(s.scratch + kEdgeOffset)));
}

OpTable makeTable(bool is_reference) {
    OpTable table{};
    table.name = is_reference ? "cuda-f32" : "cuda";
    table.linear = linear;
    table.lora_accumulate = loraAccumulate;
    table.lora_accumulate_all = loraAccumulateAll;
    table.rms_norm = rmsNorm;
    table.rms_norm_add = rmsNormAdd;
    table.rope = rope;
    table.attention = attention;
    table.audio_attention = audioAttention;
    table.subsample_conv = subsampleConv;
    table.gated_mul = gatedMul;
    table.sigmoid_mul = sigmoidMul;
    table.causal_conv1d = causalConv1d;
    table.clamp = clamp;
    table.add_scaled = addScaled;
    table.scale = scale;
    table.scale_columns = scaleColumns;
    table.add_columns = addColumns;
    table.soft_cap = softCap;
    table.gather_rows = gatherRows;
    table.store_rows = storeRows;
    table.sum_experts = sumExperts;
    if (!is_reference) {
        table.router_scores = routerScores;
        table.choose_experts = chooseExperts;
        table.order_experts = orderExperts;
        table.expert_products = expertProducts;
        table.takes_rows = takesRows;
        table.product = product;
        table.norm_rows = normRows;
        table.head_rows = headRows;
        table.scale_to_half = scaleToHalf;
        table.pool_rows = poolRows;
        table.per_layer_rows = perLayerRows;
        table.begin_once_steps = beginOnceSteps;
        table.takes_projection = takesProjection;
        table.project = project;
        table.project_parts = projectParts;
        table.takes_attention = takesAttention;
        table.attend_step = attendStep;
        table.takes_experts = takesExperts;
        table.experts_step = expertsStep;
        table.route_experts = routeExperts;
        table.merge_experts = mergeExperts;
        table.placed_experts = placedExperts;
        table.begin_steps = beginSteps;
        table.continue_steps = continueSteps;
        table.begin_side_steps = beginSideSteps;
        table.takes_draft_choice = takesDraftChoice;
        table.choose_draft = chooseDraft;
        table.begin_rows = beginRows;
        table.drop_rows = dropRows;
        table.end_steps = endSteps;
    }
    table.argmax = argmax;
    table.cap_argmax = capArgmax;
    table.most_top_logits = kMostTopRow;
    table.top_logits = topLogits;
    table.takes_inputs = takesInputs;
    table.token_inputs = is_reference ? nullptr : tokenInputs;
    table.quantize = quantize;
    return table;
}

} // namespace

const OpTable& cudaOps(bool is_reference) {
    static const OpTable kFast = makeTable(false);
    static const OpTable kReference = makeTable(true);
    return is_reference ? kReference : kFast;
}

} // namespace kernels::cuda
