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

/// Those of all but the experts' own weights.
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
    args.own_sum = a.own_sum;
    args.place_of = a.place_of;
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
    Stream& s = streamOf(q);
    const unsigned row_tiles = tiles(x.rows, kScoreRows);
    if (s.facts.compute_capability < 80 || row_tiles > 65535 || x.cols % 4 != 0 ||
        x.stride % 4 != 0 || !isAligned(x.data) || !isAligned(scale) ||
        (router.format == WeightFormat::BF16 && !isAligned(router.data, 8))) {
        return Status::Unsupported;
    }
    return s.launch(KernelId::router_scores, tiles(router.rows, kScoreExperts), row_tiles, 1,
                    kScoreThreads, 0, x.data, x.stride, x.rows, weightArgs(router), scale, factor,
                    eps, scores.data, scores.stride);
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

Status orderExperts(Queue q, const ExpertOrderArgs& a) {
    if (a.chosen == nullptr || a.scale == nullptr || a.share == nullptr || a.row == nullptr ||
        a.place == nullptr || a.first == nullptr || a.rows < 0 || a.top_k < 1 || a.experts < 1) {
        return Status::BadShape;
    }
    if (a.rows * a.top_k >= (int64_t{1} << 30) || a.experts > kMostExperts) {
        return Status::Unsupported;
    }
    return streamOf(q).launch(KernelId::order_experts, static_cast<unsigned>(a.experts), 1, 1,
                              kThreads, 0, a.chosen, static_cast<int>(a.rows * a.top_k),
                              static_cast<int>(a.top_k), a.scale, a.share, a.row, a.place, a.first);
}

namespace {

/// Kernels of 4-bit codes by rows of a tile.
struct CodesForm {
    int fragments, groups;
    KernelId store, gated;
};

/// Tiles as high as the rows that an expert has on average, where a block has room for them.
CodesForm codesForm(const Stream& s, int64_t rows) {
    constexpr CodesForm k16 = {1, 3, KernelId::product_experts_16,
                               KernelId::product_experts_16_gated};
    constexpr CodesForm k32 = {2, 2, KernelId::product_experts_32,
                               KernelId::product_experts_32_gated};
    constexpr CodesForm k64 = {4, 1, KernelId::product_experts, KernelId::product_experts_gated};
    const CodesForm& form = rows <= 16 ? k16 : rows <= 32 ? k32 : k64;
    return s.facts.shared_bytes < productCodesShared(form.fragments, form.groups) ? k64 : form;
}

int blocksShared(WeightFormat format) {
    if (format == WeightFormat::BF16) {
        return BlockPiece<WeightFormat::BF16>::kShared;
    }
    if (format == WeightFormat::Int4) {
        return BlockPiece<WeightFormat::Int4>::kShared;
    }
    return withBlockFormat(format,
                           [](auto f) { return BlockPiece<decltype(f)::kFormat>::kShared; });
}

} // namespace

Status expertProducts(Queue q, const ExpertProductArgs& a) {
    const int64_t halves = a.is_gated ? 2 : 1;
    if (!isWeight(a.w) || a.x == nullptr || a.y == nullptr || a.first == nullptr || a.experts < 1 ||
        a.w.rows % (a.experts * halves) != 0 || a.begin < 0 || a.end <= a.begin ||
        a.end > a.w.rows / a.experts / halves || a.places < 1) {
        return Status::BadShape;
    }
    Stream& s = streamOf(q);
    const int64_t outputs = a.w.rows / a.experts / halves;
    const bool is_int4 = a.w.format == WeightFormat::Int4 && a.w.block_size == 32 &&
                         a.w.cols % 32 == 0 && a.w.absmax != nullptr;
    const bool is_blocks = hasBlocks(a.w) || a.w.format == WeightFormat::BF16 || is_int4;
    const bool is_codes = hasCodes(a.w) && a.w.block_size == 64 && a.w.cols % 64 == 0;
    constexpr int64_t kMost = int64_t{1} << 31;
    if (s.is_reference || s.facts.compute_capability < 80 || (!is_blocks && !is_codes) ||
        outputs % 2 != 0 || a.begin % 2 != 0 || a.end % 2 != 0 || a.w.cols % 8 != 0 ||
        a.w.rows >= kMost || valueBytes(a.w.format, a.w.rows / a.experts * a.w.cols) >= kMost ||
        a.places >= kMost || !isAligned(a.x) || !isAligned(a.w.data) ||
        !isAligned(a.y, a.is_gated ? 4 : 8)) {
        return Status::Unsupported;
    }
    ExpertProductKernelArgs args{};
    ProductKernelArgs& product = args.codes.product;
    product.x = a.x;
    product.m = a.places;
    product.k = a.w.cols;
    product.count = 1;
    product.activation = a.activation;
    product.y[0] = a.y;
    args.codes.w[0] = weightArgs(a.w);
    args.codes.w[1] = args.codes.w[0];
    product.n[0] = static_cast<int32_t>(outputs);
    product.n[1] = product.n[0];
    product.stride[0] = static_cast<int32_t>(a.end - a.begin);
    product.k_part = static_cast<int32_t>(a.w.cols);
    args.first = a.first;
    args.rows = a.rows;
    args.experts = static_cast<int32_t>(a.experts);
    args.begin = static_cast<int32_t>(a.begin);
    args.end = static_cast<int32_t>(a.end);
    args.is_gated = a.is_gated ? 1 : 0;
    const unsigned columns = tiles(a.end - a.begin, a.is_gated ? 64 : 128);
    const auto launch = [&](KernelId kernel, int64_t rows, int threads, int shared) {
        // Only the card knows how many rows each expert has; a tile of one that has none is none.
        const int64_t most = a.places / rows + std::min(a.experts, a.places);
        return s.facts.shared_bytes < shared
                   ? Status::Unsupported
                   : s.launch(kernel, static_cast<unsigned>(most), columns, 1,
                              static_cast<unsigned>(threads), static_cast<unsigned>(shared), args);
    };
    if (is_blocks) {
        return launch(KernelId::product_experts_blocks, 64, 128, blocksShared(a.w.format));
    }
    const CodesForm form = codesForm(s, (a.places + a.experts - 1) / a.experts);
    return launch(a.is_gated ? form.gated : form.store, int64_t{16} * form.fragments,
                  128 * form.groups, productCodesShared(form.fragments, form.groups));
}

Status sumExperts(Queue q, const ExpertSumArgs& a) {
    if (!isMatrix(a.x) || !isMatrix(a.total) || a.x.cols != a.total.cols || a.top_k < 1 ||
        a.places == nullptr || a.weights == nullptr || (a.first != nullptr && a.experts < 1)) {
        return Status::BadShape;
    }
    if (a.x.rows == 0 || a.total.rows == 0) {
        return Status::Ok;
    }
    return streamOf(q).launch(KernelId::sum_experts, static_cast<unsigned>(a.total.rows),
                              tiles(a.x.cols, kThreads), 1, kThreads, 0, a.x.data, a.x.stride,
                              a.places, static_cast<int>(a.top_k), a.weights, a.place,
                              a.place + a.x.rows, a.first, static_cast<int>(a.experts),
                              a.total.data, a.total.stride, static_cast<int>(a.x.cols));
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

namespace {

/// Kernels of a token's experts by what their weights are.
struct ExpertKernels {
    KernelId bf16, four_bit, nested, blocks;
};

/// Whose gate_up and down have room for `experts` of them.
Status launchExperts(Queue q, const ExpertsStepArgs& a, int64_t experts, const ExpertKernels& of) {
    static_assert(offsetof(ChosenExperts, pick) == 2 * sizeof(float) &&
                  sizeof(ChosenExpert) == 2 * sizeof(float));
    if (!areShapesRight(a) || !isWeight(a.gate_up) || !isWeight(a.down) ||
        a.gate_up.rows != experts * 2 * a.down.cols || a.gate_up.cols != a.router.cols ||
        a.down.rows != experts * a.router.cols) {
        return Status::BadShape;
    }
    if (!takesExperts(q, a)) {
        return Status::Unsupported;
    }
    Stream& s = streamOf(q);
    const bool is_four_bit = hasCodes(a.gate_up);
    const bool is_nested = is_four_bit && a.gate_up.absmax == nullptr;
    const KernelId kernel = is_nested              ? of.nested
                            : is_four_bit          ? of.four_bit
                            : hasBlocks(a.gate_up) ? of.blocks
                                                   : of.bf16;
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

} // namespace

Status expertsStep(Queue q, const ExpertsStepArgs& a) {
    return launchExperts(q, a, a.experts,
                         {KernelId::experts_bf16, KernelId::experts_four_bit,
                          KernelId::experts_nested, KernelId::experts_blocks});
}

Status placedExperts(Queue q, const ExpertsStepArgs& a) {
    return a.place_of == nullptr
               ? Status::BadShape
               : launchExperts(q, a, a.places,
                               {KernelId::placed_experts_bf16, KernelId::placed_experts_four_bit,
                                KernelId::placed_experts_nested, KernelId::placed_experts_blocks});
}

} // namespace kernels::cuda
