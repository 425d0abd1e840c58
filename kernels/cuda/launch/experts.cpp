// SPDX-License-Identifier: Apache-2.0
// The launch of a token's routed experts (device/decode/experts.cu).
#include "kernels/cuda/device/common/expert_args.h"
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace kernels::cuda {

namespace {

/// The kernels of experts take this weight: bf16 in whole pieces of 16 bytes, 4-bit codes of which
/// a chunk of 16 is within a block, or GGUF's blocks.
bool canRead(const WeightView& w) {
    if (hasBlocks(w)) {
        return isAligned(w.data);
    }
    if (hasCodes(w)) {
        return w.cols % 16 == 0 && w.block_size >= 16 &&
               std::has_single_bit(static_cast<uint32_t>(w.block_size)) &&
               w.expand_type != DType::F32 && isAligned(w.data);
    }
    return w.format == WeightFormat::BF16 && w.cols % 8 == 0 && isAligned(w.data);
}

/// Formats of blocks may differ.
bool areAlike(const WeightView& a, const WeightView& b) {
    return hasBlocks(a) ? hasBlocks(b) : a.format == b.format && a.block_size == b.block_size;
}

unsigned sharedBytes(const ExpertsStepArgs& a) {
    const int64_t widest = std::max(a.router.cols, a.top_k * a.down.cols);
    return static_cast<unsigned>(expertBytes(static_cast<int32_t>(widest), hasCodes(a.gate_up)));
}

/// Of all but the experts' own weights.
bool areShapesRight(const ExpertsStepArgs& a) {
    return isWeight(a.router) && a.x != nullptr && a.t != nullptr && a.router_scale != nullptr &&
           a.expert_scale != nullptr && a.scores != nullptr && a.chosen != nullptr &&
           a.act != nullptr && a.sum != nullptr && a.t_norm.data != nullptr &&
           a.norm.data != nullptr && a.out_norm.data != nullptr && a.top_k >= 1 &&
           a.top_k <= a.experts && a.router.rows == a.experts;
}

/// Those without the experts' own weights, and what their kernel needs for itself.
ExpertsKernelArgs kernelArgs(const ExpertsStepArgs& a) {
    ExpertsKernelArgs args{};
    args.router = weightArgs(a.router);
    args.x = a.x;
    args.t = a.t;
    args.router_scale = a.router_scale;
    args.expert_scale = a.expert_scale;
    args.t_norm = vectorArgs(a.t_norm);
    args.norm = vectorArgs(a.norm);
    args.out_norm = vectorArgs(a.out_norm);
    args.scores = a.scores;
    args.chosen = reinterpret_cast<ChosenExperts*>(a.chosen);
    args.act = a.act;
    args.sum = a.sum;
    args.hidden = static_cast<int32_t>(a.router.cols);
    args.experts = static_cast<int32_t>(a.experts);
    args.top_k = static_cast<int32_t>(a.top_k);
    args.activation = a.activation;
    args.input_scale = a.input_scale;
    args.eps = a.eps;
    return args;
}

/// The kernels at both ends of experts that lie elsewhere take these operands.
bool takesEnds(const Stream& s, const ExpertsStepArgs& a) {
    return !s.is_reference && s.steps.rows == nullptr && a.experts <= kMostExperts &&
           a.top_k <= kMostChosen && a.router.cols <= kMostExpertHidden && a.router.cols % 4 == 0 &&
           isAligned(a.x) && isAligned(a.t) && isAligned(a.act) && isAligned(a.sum) &&
           isAligned(a.norm.data) && isAligned(a.t_norm.data) && isAligned(a.out_norm.data);
}

} // namespace

Status routerScores(Queue q,
                    MatF32 x,
                    WeightView router,
                    const float* scale,
                    float factor,
                    float eps,
                    MutF32 scores) {
    if (!isMatrix(x) || !isMatrix(scores) || !isWeight(router) || scale == nullptr ||
        x.rows != scores.rows || x.cols != router.cols || scores.cols != router.rows) {
        return Status::BadShape;
    }
    if (x.rows == 0) {
        return Status::Ok;
    }
    const unsigned row_tiles = tiles(x.rows, kScoreRows);
    if (row_tiles > 65535) { // of a grid
        return Status::Unsupported;
    }
    return streamOf(q).launch(KernelId::router_scores, tiles(router.rows, kScoreExperts), row_tiles,
                              1, kScoreThreads, 0, x.data, x.stride, x.rows, weightArgs(router),
                              scale, factor, eps, scores.data, scores.stride);
}

Status chooseExperts(Queue q, MatF32 scores, int64_t top_k, int32_t* chosen, float* share) {
    if (!isMatrix(scores) || chosen == nullptr || share == nullptr || top_k < 1 ||
        top_k > scores.cols) {
        return Status::BadShape;
    }
    if (scores.cols > kMostExperts) {
        return Status::Unsupported;
    }
    if (scores.rows == 0) {
        return Status::Ok;
    }
    return streamOf(q).launch(KernelId::choose_experts, tiles(scores.rows, kThreads / 32), 1, 1,
                              kThreads, 0, scores.data, scores.stride, scores.rows,
                              static_cast<int>(scores.cols), static_cast<int>(top_k), chosen,
                              share);
}

Status takeExpertRows(Queue q, MatF32 x, const int32_t* rows, int64_t count, void* y) {
    if (!isMatrix(x) || y == nullptr || (rows == nullptr && count > x.rows)) {
        return Status::BadShape;
    }
    if (count == 0) {
        return Status::Ok;
    }
    if (x.cols % 2 != 0) {
        return Status::Unsupported;
    }
    return streamOf(q).launch(KernelId::take_rows, static_cast<unsigned>(count), 1, 1, kThreads, 0,
                              x.data, x.stride, rows, y, static_cast<int>(x.cols));
}

Status expertProducts(Queue q, const ExpertProductArgs& a) {
    if (!isWeight(a.w) || a.x == nullptr || a.y == nullptr || a.first == nullptr || a.experts < 1 ||
        a.begin < 0 || a.end <= a.begin || a.end > a.experts || a.w.rows % a.experts != 0 ||
        a.most < 1 || a.count < 1) {
        return Status::BadShape;
    }
    Stream& s = streamOf(q);
    const int64_t outputs = a.w.rows / a.experts / (a.is_gated ? 2 : 1);
    const int64_t experts = a.end - a.begin;
    // A few hundred rows of one expert at most are the rule, and the grid is as high as that.
    constexpr int64_t kMostTiles = 65535;
    if (s.is_reference || s.facts.compute_capability < 80 || experts > kMostTiles ||
        outputs % 2 != 0 || a.w.rows >= (int64_t{1} << 31) || !isAligned(a.x) ||
        !isAligned(a.w.data) || reinterpret_cast<uintptr_t>(a.y) % 8 != 0) {
        return Status::Unsupported;
    }
    ExpertProductKernelArgs args{};
    ProductKernelArgs& product = args.codes.product;
    product.x = a.x;
    product.m = a.count;
    product.k = a.w.cols;
    product.count = 1;
    product.activation = a.activation;
    product.y[0] = a.y;
    args.codes.w[0] = weightArgs(a.w);
    args.codes.w[1] = args.codes.w[0];
    product.n[0] = static_cast<int32_t>(outputs);
    product.n[1] = product.n[0];
    product.stride[0] = product.n[0];
    product.k_part = static_cast<int32_t>(a.w.cols);
    args.first = a.first;
    args.expert = static_cast<int32_t>(a.begin);
    args.place = static_cast<int32_t>(a.place);
    const auto depth = static_cast<unsigned>(experts);
    if (a.w.format == WeightFormat::BF16 && !a.is_gated && a.w.cols % 8 == 0) {
        return s.launch(KernelId::gemm_experts, tiles(a.most, 64), tiles(outputs, 64), depth, 128,
                        65536U, args);
    }
    if (hasBlocks(a.w) && !a.is_gated) {
        return s.launch(KernelId::gemm_experts_blocks, tiles(a.most, 64), tiles(outputs, 64), depth,
                        128, 65536U, args);
    }
    if (!hasCodes(a.w) || a.w.block_size != 64 || a.w.cols % 64 != 0) {
        return Status::Unsupported;
    }
    // Tiles as high as the rows that an expert has on average.
    const int64_t rows = (a.count + experts - 1) / experts;
    int fragments = rows <= 16 ? 1 : rows <= 32 ? 2 : 4;
    int groups = fragments == 1 ? 3 : fragments == 2 ? 2 : 1;
    if (s.facts.shared_bytes < productCodesShared(fragments, groups)) {
        fragments = 4;
        groups = 1;
    }
    if (s.facts.shared_bytes < productCodesShared(fragments, groups)) {
        return Status::Unsupported;
    }
    const KernelId kernel = fragments == 1   ? a.is_gated ? KernelId::product_experts_16_gated
                                                          : KernelId::product_experts_16
                            : fragments == 2 ? a.is_gated ? KernelId::product_experts_32_gated
                                                          : KernelId::product_experts_32
                            : a.is_gated     ? KernelId::product_experts_gated
                                             : KernelId::product_experts;
    return s.launch(kernel, tiles(a.most, int64_t{16} * fragments),
                    tiles(outputs, a.is_gated ? 64 : 128), depth,
                    static_cast<unsigned>(groups * 128),
                    static_cast<unsigned>(productCodesShared(fragments, groups)), args);
}

Status sumExperts(Queue q,
                  MatF32 x,
                  const int32_t* places,
                  int64_t top_k,
                  const float* weights,
                  int64_t place,
                  MutF32 total) {
    if (!isMatrix(x) || !isMatrix(total) || x.cols != total.cols || top_k < 1 ||
        places == nullptr || weights == nullptr) {
        return Status::BadShape;
    }
    if (x.rows == 0 || total.rows == 0) {
        return Status::Ok;
    }
    return streamOf(q).launch(KernelId::sum_experts, static_cast<unsigned>(total.rows),
                              tiles(x.cols, kThreads), 1, kThreads, 0, x.data, x.stride, places,
                              static_cast<int>(top_k), weights, place, x.rows, total.data,
                              total.stride, static_cast<int>(x.cols));
}

bool takesExperts(Queue q, const ExpertsStepArgs& a) {
    const Stream& s = streamOf(q);
    if (a.gate_up.data == nullptr) {
        return takesEnds(s, a);
    }
    const int64_t hidden = a.router.cols;
    const int64_t inner = a.down.cols;
    const bool is_four_bit = hasCodes(a.gate_up);
    const bool is_nested = is_four_bit && a.gate_up.absmax == nullptr;
    const auto blocks = static_cast<size_t>(s.facts.multiprocessors);
    // Static shared memory of the blocks comes to what is asked for.
    constexpr unsigned kStaticBytes = 9216;
    // A row's blocks have two outer absmax at most.
    const int64_t most_cols = is_nested ? int64_t{255} * a.gate_up.block_size : int64_t{1} << 20;
    return !s.is_reference && s.steps.rows == nullptr &&
           s.scratch_bytes >= kPartialOffset + blocks * sizeof(float) &&
           a.experts <= kMostExperts && a.top_k <= kMostChosen && hidden <= kMostExpertHidden &&
           a.top_k * inner < (int64_t{1} << 20) && std::max(hidden, inner) <= most_cols &&
           is_nested == (is_four_bit && a.down.absmax == nullptr) && canRead(a.gate_up) &&
           canRead(a.down) && areAlike(a.gate_up, a.down) &&
           sharedBytes(a) + kStaticBytes <= static_cast<unsigned>(s.facts.shared_bytes) &&
           isAligned(a.x) && isAligned(a.act) && isAligned(a.norm.data);
}

Status routeExperts(Queue q, const ExpertsStepArgs& a) {
    if (!areShapesRight(a)) {
        return Status::BadShape;
    }
    Stream& s = streamOf(q);
    if (!takesEnds(s, a)) {
        return Status::Unsupported;
    }
    const int64_t hidden = a.router.cols;
    const Status status = routerScores(q, {a.x, 1, hidden, hidden}, a.router, a.router_scale,
                                       a.input_scale, a.eps, {a.scores, 1, a.experts, a.experts});
    return status == Status::Ok
               ? s.launch(KernelId::route_experts, 1, 1, 1, kExpertThreads, 0, kernelArgs(a))
               : status;
}

Status mergeExperts(Queue q, const ExpertsStepArgs& a) {
    if (!areShapesRight(a)) {
        return Status::BadShape;
    }
    Stream& s = streamOf(q);
    return takesEnds(s, a)
               ? s.launch(KernelId::merge_experts, 1, 1, 1, kExpertThreads, 0, kernelArgs(a))
               : Status::Unsupported;
}

Status expertsStep(Queue q, const ExpertsStepArgs& a) {
    static_assert(offsetof(ChosenExperts, pick) == 2 * sizeof(float) &&
                  sizeof(ChosenExpert) == 2 * sizeof(float));
    if (!areShapesRight(a) || !isWeight(a.gate_up) || !isWeight(a.down) ||
        a.gate_up.rows != a.experts * 2 * a.down.cols || a.gate_up.cols != a.router.cols ||
        a.down.rows != a.experts * a.router.cols) {
        return Status::BadShape;
    }
    if (!takesExperts(q, a)) {
        return Status::Unsupported;
    }
    Stream& s = streamOf(q);
    const bool is_four_bit = hasCodes(a.gate_up);
    const bool is_nested = is_four_bit && a.gate_up.absmax == nullptr;
    const KernelId kernel = is_nested              ? KernelId::experts_nested
                            : is_four_bit          ? KernelId::experts_four_bit
                            : hasBlocks(a.gate_up) ? KernelId::experts_blocks
                                                   : KernelId::experts_bf16;
    ExpertsKernelArgs args = kernelArgs(a);
    args.gate_up = weightArgs(a.gate_up);
    args.down = weightArgs(a.down);
    args.squares = static_cast<float*>(pointerOf(s.scratch + kPartialOffset));
    args.inner = static_cast<int32_t>(a.down.cols);
    args.block_shift =
        is_four_bit ? std::countr_zero(static_cast<uint32_t>(a.gate_up.block_size)) : 0;
    args.barrier = static_cast<int32_t*>(pointerOf(s.scratch + kBarrierOffset));
    void* parameters[] = {static_cast<void*>(&args)};
    return s.launchResident(kernel, static_cast<unsigned>(s.facts.multiprocessors), kExpertThreads,
                            sharedBytes(a), parameters);
}

} // namespace kernels::cuda
