// SPDX-License-Identifier: Apache-2.0
// The OpTable of a CUDA device: argument checks, choice of kernel, grids. Nothing here waits or
// allocates. Tile and thread counts were chosen on an H200 (132 multiprocessors).
#include "kernels/cuda/blas.h"
#include "kernels/cuda/device/args.h"
#include "kernels/cuda/launch/lora.h"
#include "kernels/cuda/launch/quantize.h"
#include "kernels/cuda/launch/token_steps.h"
#include "kernels/cuda/ops.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/stream.h"

#include <algorithm>
#include <bit>

namespace kernels::cuda {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kProjectThreads = 512;
/// Up to this many rows, a weight is read once a row; more go through tensor cores.
constexpr int64_t kProjectRows = 4;
/// Products of fewer rows stay with our own kernels, whose sums do not depend on how many rows
/// there are.
constexpr int64_t kBlasRows = 256;

Stream& streamOf(Queue q) {
    return *static_cast<Stream*>(q.context);
}

/// A device address as kernels take it.
void* pointerOf(CuPointer address) {
    return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr): the driver's type
}

unsigned tiles(int64_t count, int64_t size) {
    return static_cast<unsigned>((count + size - 1) / size);
}

bool isMatrix(const MatF32& m) {
    return m.rows == 0 ||
           (m.rows > 0 && m.cols > 0 && m.data != nullptr && (m.stride >= m.cols || m.rows == 1));
}

bool isSameShape(const MatF32& a, const MatF32& b) {
    return isMatrix(a) && isMatrix(b) && a.rows == b.rows && a.cols == b.cols;
}

VectorArgs vectorArgs(const MatView& v) {
    return {v.data, static_cast<int32_t>(v.type), 0};
}

WeightArgs weightArgs(const WeightView& w) {
    WeightArgs args{};
    args.data = w.data;
    args.row_scale = w.row_scale;
    args.absmax = w.absmax;
    args.absmax_q = w.absmax_q;
    args.nested_absmax = w.nested_absmax;
    args.nested_code = w.nested_code;
    args.rows = w.rows;
    args.cols = w.cols;
    args.nested_offset = w.nested_offset;
    args.block_size = w.block_size;
    args.format = static_cast<int32_t>(w.format);
    args.expand_type = static_cast<int32_t>(w.expand_type);
    return args;
}

bool isWeight(const WeightView& w) {
    if (w.data == nullptr || w.rows <= 0 || w.cols <= 0) {
        return false;
    }
    switch (w.format) {
    case WeightFormat::Nf4:
    case WeightFormat::Fp4:
        return w.block_size > 0 &&
               (w.absmax != nullptr ||
                (w.absmax_q != nullptr && w.nested_absmax != nullptr && w.nested_code != nullptr));
    case WeightFormat::Int8Row:
        return w.row_scale != nullptr;
    default:
        return true;
    }
}

bool isFourBit(const WeightView& w) {
    return w.format == WeightFormat::Nf4 || w.format == WeightFormat::Fp4;
}

/// The projection kernel takes this weight.
bool canProject(const Stream& s, const WeightView& w) {
    if (s.is_reference || w.cols % 16 != 0 || w.cols > 32768) {
        return false;
    }
    if (isFourBit(w)) {
        return w.block_size >= 16 && w.cols % w.block_size == 0 &&
               std::has_single_bit(static_cast<uint32_t>(w.block_size)) &&
               w.expand_type != DType::F32;
    }
    return w.format == WeightFormat::Int8Row || w.format == WeightFormat::BF16;
}

KernelId projectKernel(const WeightView& w) {
    return isFourBit(w)                        ? KernelId::project_four_bit
           : w.format == WeightFormat::Int8Row ? KernelId::project_int8
                                               : KernelId::project_bf16;
}

/// The operands of a low-rank update that the step's loads of eight elements can read.
bool canAdd(const ProjectLora& lora) {
    const auto at = reinterpret_cast<uintptr_t>(lora.a.data);
    return at % 16 == 0 && lora.a.cols % 16 == 0;
}

Status addLora(ProjectKernelArgs& args, const ProjectArgs& step) {
    if (step.lora_count < 0 || step.lora_count > ProjectArgs::kMaxLora || step.tap_count < 0 ||
        step.tap_count > ProjectArgs::kMaxTaps) {
        return Status::BadShape;
    }
    int32_t ranks = 0;
    for (int i = 0; i < step.lora_count; ++i) {
        const ProjectLora& lora = step.lora[i];
        const int before = i == 0 ? 0 : step.lora[i - 1].weight;
        if (lora.weight < before || lora.weight >= step.count || lora.a.data == nullptr ||
            lora.b.data == nullptr || lora.factor == nullptr || lora.a.rows <= 0 ||
            lora.b.cols != lora.a.rows || lora.a.cols != step.w[0].cols ||
            lora.b.rows != step.w[lora.weight].rows) {
            return Status::BadShape;
        }
        if (!canAdd(lora)) {
            return Status::Unsupported;
        }
        args.lora[i] = {lora.a.data,
                        lora.b.data,
                        lora.factor,
                        static_cast<int32_t>(lora.a.rows),
                        ranks,
                        lora.weight,
                        static_cast<int32_t>(lora.a.type),
                        static_cast<int32_t>(lora.b.type),
                        0};
        ranks += args.lora[i].rank;
        for (int j = lora.weight + 1; j < 4; ++j) {
            args.lora_first[j] = ranks;
        }
    }
    for (int j = 0; j < 3; ++j) {
        args.lora_width = std::max(args.lora_width, args.lora_first[j + 1] - args.lora_first[j]);
    }
    args.lora_count = step.lora_count;
    args.lora_sums = step.lora_sums;
    args.lora_parts = step.lora_parts;
    for (int i = 0; i < step.tap_count; ++i) {
        const MatView& tap = step.tap[i];
        if (tap.data == nullptr || tap.rows <= 0 || tap.cols != step.w[0].rows) {
            return Status::BadShape;
        }
        args.tap[i] = {tap.data, static_cast<int32_t>(tap.rows), args.tap_ranks,
                       static_cast<int32_t>(tap.type), 0};
        args.tap_ranks += args.tap[i].rank;
    }
    args.tap_count = step.tap_count;
    args.tap_sums = step.tap_sums;
    args.tap_parts = step.tap_parts;
    const bool is_one = step.count == 1 || step.output == ProjectArgs::Output::GeluPair;
    const bool has_sums = step.tap_count == 0 || (step.tap_sums != nullptr && is_one);
    return has_sums ? Status::Ok : Status::BadShape;
}

int32_t outputsOf(const ProjectArgs& step) {
    int64_t outputs = 0;
    for (int i = 0; i < step.count; ++i) {
        outputs += step.w[i].rows;
    }
    return static_cast<int32_t>(step.output == ProjectArgs::Output::GeluPair ? outputs / 2
                                                                             : outputs);
}

/// How a step is dealt out, its updates included: more blocks where few need more shared memory
/// than there is. shared_bytes may still be too much.
ProjectPlan planStep(const Stream& s, const ProjectKernelArgs& args, const ProjectArgs& step) {
    const bool is_pair = step.output == ProjectArgs::Output::GeluPair;
    ProjectPlan plan;
    for (int blocks = 1; blocks <= 16; blocks *= 2) {
        plan = planProject(blocks * s.facts.multiprocessors, outputsOf(step), step.w[0].cols,
                           is_pair, isFourBit(step.w[0]) ? step.w[0].block_size : 0);
        plan.shared_bytes +=
            loraSharedBytes(plan, is_pair, args.lora_first[3], args.lora_width, args.tap_ranks) +
            static_cast<unsigned>(inputRowBytes(args.input, args.cols, false));
        if (plan.shared_bytes <= static_cast<unsigned>(s.facts.shared_bytes)) {
            break;
        }
    }
    return plan;
}

Status launchProject(Stream& s, ProjectKernelArgs args, const ProjectArgs& step) {
    if (s.steps.is_collecting) {
        const Status status = collectProject(s, args, outputsOf(step));
        if (status != Status::Unsupported) {
            return status;
        }
    }
    const ProjectPlan plan = planStep(s, args, step);
    const int64_t cols = step.w[0].cols;
    if (plan.shared_bytes > static_cast<unsigned>(s.facts.shared_bytes)) {
        return Status::Unsupported;
    }
    if (args.tap_count > 0 && args.tap_parts != plan.grid) {
        return Status::Unsupported; // the parts were asked for as a collected step's
    }
    args.rows_per_warp = plan.rows_per_warp;
    args.k_split = plan.k_split;
    args.block_shift =
        isFourBit(step.w[0]) ? std::countr_zero(static_cast<uint32_t>(step.w[0].block_size)) : 0;
    args.x_elements = static_cast<int32_t>((cols + 511) / 512 * 512);
    args.outputs = outputsOf(step);
    args.local_rows = plan.local_rows;
    return s.launch(projectKernel(step.w[0]), static_cast<unsigned>(plan.grid), 1, 1,
                    kProjectThreads, plan.shared_bytes, args);
}

/// Kernel arguments from a step's, but for what planStep() decides.
Status projectArgs(const Stream& s, const ProjectArgs& step, ProjectKernelArgs& args) {
    if (step.count < 1 || step.count > 3 || step.x == nullptr) {
        return Status::BadShape;
    }
    // The kernels read four elements at a time.
    const auto is_aligned = [](const void* at) {
        return reinterpret_cast<uintptr_t>(at) % 16 == 0;
    };
    if (!is_aligned(step.x) || !is_aligned(step.t) || !is_aligned(step.x_out) ||
        !is_aligned(step.t_norm.data) || !is_aligned(step.norm.data)) {
        return Status::Unsupported;
    }
    for (int i = 0; i < step.count; ++i) {
        const WeightView& w = step.w[i];
        if (!isWeight(w) || w.cols != step.w[0].cols) {
            return Status::BadShape;
        }
        if (!canProject(s, w) || w.format != step.w[0].format ||
            w.block_size != step.w[0].block_size) {
            return Status::Unsupported;
        }
        args.w[i] = weightArgs(w);
        args.y[i] = step.y[i];
    }
    args.count = step.count;
    args.input = static_cast<int32_t>(step.input);
    args.output = static_cast<int32_t>(step.output);
    args.cols = static_cast<int32_t>(step.w[0].cols);
    args.x = step.x;
    args.t = step.t;
    args.x_out = step.x_out;
    args.multiply = step.multiply;
    args.t_norm = vectorArgs(step.t_norm);
    args.norm = vectorArgs(step.norm);
    args.scalar = step.scalar;
    args.eps = step.eps;
    return step.lora_count == 0 && step.tap_count == 0 ? Status::Ok : addLora(args, step);
}

Status project(Queue q, const ProjectArgs& step) {
    Stream& s = streamOf(q);
    ProjectKernelArgs args{};
    const Status status = projectArgs(s, step, args);
    return status == Status::Ok ? launchProject(s, args, step) : status;
}

int projectParts(Queue q, const ProjectArgs& step) {
    const Stream& s = streamOf(q);
    ProjectKernelArgs args{};
    ProjectArgs tapless = step;
    tapless.tap_count = 0;
    if (projectArgs(s, tapless, args) != Status::Ok) {
        return 0;
    }
    for (int i = 0; i < step.tap_count; ++i) {
        args.tap_ranks += static_cast<int32_t>(step.tap[i].rows);
    }
    const bool shares = std::all_of(step.tap, step.tap + step.tap_count,
                                    [](const MatView& a) { return a.rows % 8 == 0; });
    if (s.steps.is_collecting && s.steps.has_units && shares) {
        return 0; // the step behind makes A h over all blocks
    }
    if (s.steps.is_collecting && canCollect(s, args, outputsOf(step))) {
        return s.facts.multiprocessors;
    }
    const ProjectPlan plan = planStep(s, args, step);
    return plan.shared_bytes > static_cast<unsigned>(s.facts.shared_bytes) ? 0 : plan.grid;
}

Status linearReference(Stream& s, MatF32 x, const WeightView& w, MutF32 y) {
    return s.launch(KernelId::linear_reference, tiles(w.rows, 32), tiles(x.rows, 32), 1, kThreads,
                    0, x.data, x.stride, weightArgs(w), y.data, y.stride, x.rows);
}

Status expand(Stream& s, const WeightView& w, int64_t first, int64_t rows, CuPointer out) {
    const bool is_fast = isFourBit(w) && w.cols % 16 == 0 && w.block_size % 16 == 0;
    const int64_t count = rows * w.cols / (is_fast ? 16 : 1);
    return s.launch(is_fast ? KernelId::expand_four_bit : KernelId::expand_any,
                    tiles(count, kThreads), 1, 1, kThreads, 0, weightArgs(w), first, rows,
                    pointerOf(out));
}

Status gemm(Stream& s,
            CuPointer a,
            CuPointer b,
            float* y,
            int64_t stride,
            int64_t m,
            int64_t n,
            int64_t k) {
    if (s.blas != nullptr && m >= kBlasRows && stride % 4 == 0 &&
        reinterpret_cast<uintptr_t>(y) % 16 == 0 && s.flush() == Status::Ok) {
        if (s.times != nullptr) {
            s.times->before(KernelId::gemm_128, s.handle);
        }
        const Status status =
            s.blas->multiply(s.handle, a, b, reinterpret_cast<CuPointer>(y), stride, m, n, k,
                             s.scratch + (s.scratch_bytes - kBlasBytes) / 256 * 256, kBlasBytes);
        if (s.times != nullptr) {
            s.times->after(s.handle);
        }
        if (status == Status::Ok) {
            return status;
        }
    }
    const bool is_large = usesLargeTiles(s.facts.multiprocessors, m, n);
    const int64_t tile = is_large ? 128 : 64;
    return s.launch(is_large ? KernelId::gemm_128 : KernelId::gemm_64, tiles(m, tile),
                    tiles(n, tile), 1, is_large ? 256U : 128U, is_large ? 98304U : 65536U,
                    static_cast<const void*>(pointerOf(a)), static_cast<const void*>(pointerOf(b)),
                    y, stride, m, n, k);
}

/// Tensor cores: the input rounded to bf16, the weight expanded panel by panel.
Status linearTensor(Stream& s, MatF32 x, const WeightView& w, MutF32 y) {
    const size_t input_bytes = (static_cast<size_t>(x.rows * x.cols) * 2U + 255U) / 256U * 256U;
    if (s.scratch_bytes < kWorkOffset + input_bytes) {
        return Status::OutOfMemory;
    }
    const CuPointer input = s.scratch + kWorkOffset;
    const CuPointer panel = input + input_bytes;
    Status status =
        s.launch(KernelId::to_bf16, tiles(x.rows * x.cols / 2, kThreads), 1, 1, kThreads, 0, x.data,
                 x.stride, pointerOf(input), x.rows, static_cast<int>(x.cols));
    if (status != Status::Ok) {
        return status;
    }
    if (w.format == WeightFormat::BF16) {
        return gemm(s, input, reinterpret_cast<CuPointer>(w.data), y.data, y.stride, x.rows, w.rows,
                    w.cols);
    }
    const int64_t reserved = s.blas != nullptr ? static_cast<int64_t>(kBlasBytes) + 256 : 0;
    const auto room =
        (static_cast<int64_t>(s.scratch_bytes - kWorkOffset - input_bytes) - reserved) /
        (w.cols * 2);
    const int64_t step = std::min(w.rows, room / 128 * 128);
    if (step <= 0) {
        return Status::OutOfMemory;
    }
    for (int64_t first = 0; first < w.rows; first += step) {
        const int64_t rows = std::min(step, w.rows - first);
        status = expand(s, w, first, rows, panel);
        if (status == Status::Ok) {
            status = gemm(s, input, panel, y.data + first, y.stride, x.rows, rows, w.cols);
        }
        if (status != Status::Ok) {
            return status;
        }
    }
    return Status::Ok;
}

Status linear(Queue q, MatF32 x, WeightView w, MutF32 y) {
    Stream& s = streamOf(q);
    if (!isMatrix(x) || !isMatrix(y) || !isWeight(w) || x.rows != y.rows || x.cols != w.cols ||
        y.cols != w.rows) {
        return Status::BadShape;
    }
    if (x.rows == 0) {
        return Status::Ok;
    }
    const bool has_tensor_cores = s.facts.compute_capability >= 80;
    if (!s.is_reference && (x.rows <= kProjectRows || !has_tensor_cores) && canProject(s, w)) {
        Status status = Status::Ok;
        for (int64_t t = 0; t < x.rows && status == Status::Ok; ++t) {
            ProjectArgs step;
            step.x = x.data + t * x.stride;
            step.w[0] = w;
            step.y[0] = y.data + t * y.stride;
            step.count = 1;
            status = project(q, step);
        }
        if (status != Status::Unsupported) {
            return status;
        }
        // More shared memory than this card has: the slower kernels below.
    }
    const bool is_aligned =
        w.cols % 8 == 0 && x.stride % 2 == 0 && reinterpret_cast<uintptr_t>(x.data) % 8 == 0 &&
        (w.format != WeightFormat::BF16 || reinterpret_cast<uintptr_t>(w.data) % 16 == 0);
    if (s.is_reference || !has_tensor_cores || !is_aligned) {
        return linearReference(s, x, w, y);
    }
    return linearTensor(s, x, w, y);
}

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
    args.kv_type = static_cast<int32_t>(a.kv_type);
    args.is_causal = a.mask.causal ? 1 : 0;
    args.scale = a.scale;
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
    const bool is_flash = !s.is_reference && s.facts.compute_capability >= 80 &&
                          (a.head_dim == 64 || a.head_dim == 256 || a.head_dim == 512);
    if (is_flash) {
        const int64_t keys = a.head_dim == 512 ? 32 : 64;
        const KernelId id = a.head_dim == 512   ? KernelId::flash_512
                            : a.head_dim == 256 ? KernelId::flash_256
                                                : KernelId::flash_64;
        const unsigned shared = flashSharedBytes(a.head_dim, keys);
        if (shared <= static_cast<unsigned>(s.facts.shared_bytes)) {
            return s.launch(id, tiles(a.queries, 64), static_cast<unsigned>(a.num_heads), 1,
                            kThreads, shared, attentionArgs(a));
        }
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

Status geluMul(Queue q, MatF32 gate, MatF32 up, MutF32 y) {
    if (!isSameShape(gate, y) || !isSameShape(up, y)) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::gelu_mul, y.rows, y.cols, gate.data, gate.stride, up.data,
                       up.stride, y.data, y.stride, static_cast<int>(y.cols));
}

Status silu(Queue q, MatF32 x, MutF32 y) {
    if (!isSameShape(x, y)) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::sigmoid_mul, y.rows, y.cols, x.data, x.stride, 0, y.data,
                       y.stride, static_cast<int>(y.cols));
}

Status glu(Queue q, MatF32 x, MutF32 y) {
    if (!isMatrix(x) || !isMatrix(y) || x.rows != y.rows || x.cols != 2 * y.cols) {
        return Status::BadShape;
    }
    const auto cols = static_cast<int>(y.cols);
    return elementwise(q, KernelId::sigmoid_mul, y.rows, y.cols, x.data, x.stride, cols, y.data,
                       y.stride, cols);
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

Status
storeRows(Queue q, MatF32 src, const int32_t* slot, DType type, void* dst, int64_t capacity) {
    if (!isMatrix(src) || (src.rows > 0 && (slot == nullptr || dst == nullptr))) {
        return Status::BadShape;
    }
    return elementwise(q, KernelId::store_rows, src.rows, src.cols, src.data, src.stride, slot,
                       static_cast<int>(type), dst, capacity, static_cast<int>(src.cols));
}

Status attendStep(Queue q, const AttendStepArgs& a) {
    Stream& s = streamOf(q);
    if (a.num_heads <= 0 || a.num_kv_heads <= 0 || a.num_heads % a.num_kv_heads != 0 ||
        a.head_dim <= 0 || a.q == nullptr || a.out == nullptr) {
        return Status::BadShape;
    }
    const int64_t per_kv = a.num_heads / a.num_kv_heads;
    const int64_t heads = std::min<int64_t>(per_kv, 4);
    const bool is_possible = !s.is_reference && a.kv_type == DType::BF16 && a.head_dim % 8 == 0 &&
                             std::has_single_bit(static_cast<uint64_t>(a.head_dim)) &&
                             a.head_dim >= 16 && a.head_dim <= 512 && per_kv % heads == 0;
    const int splits = attendSplits(s.facts.multiprocessors, a.num_heads, a.capacity);
    const int64_t partial = a.num_heads * splits * (a.head_dim + 2) * 4;
    if (!is_possible || static_cast<size_t>(partial) + kPartialOffset > kPartialBytes) {
        return Status::Unsupported;
    }
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
    args.window = a.window;
    args.capacity = static_cast<int32_t>(a.capacity);
    args.is_ring = a.is_ring ? 1 : 0;
    args.num_heads = static_cast<int32_t>(a.num_heads);
    args.num_kv_heads = static_cast<int32_t>(a.num_kv_heads);
    args.head_dim = static_cast<int32_t>(a.head_dim);
    args.splits = splits;
    args.scale = a.scale;
    args.eps = a.eps;
    if (s.steps.is_collecting) {
        const Status status = collectAttend(s, args);
        if (status != Status::Unsupported) {
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
    table.gelu_mul = geluMul;
    table.silu = silu;
    table.glu = glu;
    table.causal_conv1d = causalConv1d;
    table.clamp = clamp;
    table.add_scaled = addScaled;
    table.scale = scale;
    table.scale_columns = scaleColumns;
    table.add_columns = addColumns;
    table.soft_cap = softCap;
    table.gather_rows = gatherRows;
    table.store_rows = storeRows;
    if (!is_reference) {
        table.project = project;
        table.project_parts = projectParts;
        table.attend_step = attendStep;
        table.begin_steps = beginSteps;
        table.end_steps = endSteps;
    }
    table.argmax = argmax;
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
