// SPDX-License-Identifier: Apache-2.0
// The launch in front of the layers of a decoded token (device/decode/token_input.cuh).
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch_sizes.h"

#include <bit>

namespace kernels::cuda {

namespace {

bool isShapeRight(const TokenInputArgs& a) {
    const int64_t width = a.norm.rows * a.norm.cols;
    const bool has_row = a.embedding.data == nullptr;
    return (has_row || isWeight(a.embedding)) && isWeight(a.projection) && a.norm.data != nullptr &&
           width > 0 && a.projection.rows % width == 0 &&
           (has_row || a.embedding.cols == a.projection.cols) &&
           (a.token_part != nullptr || (isWeight(a.table) && a.table.cols == a.projection.rows)) &&
           a.token != nullptr && a.x != nullptr && a.t != nullptr && a.y != nullptr;
}

unsigned sharedBytes(const WeightView& projection) {
    const auto cols = static_cast<int32_t>(projection.cols);
    return static_cast<unsigned>(tokenInputBytes(
        cols, (cols + 511) / 512 * 512, hasCodes(projection) ? cols / projection.block_size : 0));
}

} // namespace

bool takesInputs(Queue q, const TokenInputArgs& a) {
    const Stream& s = streamOf(q);
    const int64_t width = a.norm.rows * a.norm.cols;
    // A slice is several blocks' or a block has several slices.
    const bool is_dealt = a.projection.rows % kTokenRows == 0 && width <= kMaxTokenWidth &&
                          (width % kTokenRows == 0 || kTokenRows % width == 0);
    return canProject(s, a.projection) && !hasBlocks(a.projection) && is_dealt &&
           a.projection.rows / width <= kMaxEdgeSlices && isAligned(a.projection.data) &&
           isAligned(a.x) && s.scratch_bytes >= kCounterBytes &&
           sharedBytes(a.projection) + 1024 <= static_cast<unsigned>(s.facts.shared_bytes);
}

Status tokenInputs(Queue q, const TokenInputArgs& a) {
    Stream& s = streamOf(q);
    if (!isShapeRight(a)) {
        return Status::BadShape;
    }
    if (!takesInputs(q, a)) {
        return Status::Unsupported;
    }
    const int64_t width = a.norm.rows * a.norm.cols;
    const int64_t cols = a.projection.cols;
    const int64_t blocks = a.projection.rows / kTokenRows;
    const bool is_four_bit = hasCodes(a.projection);
    TokenInputKernelArgs args{};
    args.embedding = a.embedding.data == nullptr ? WeightArgs{} : weightArgs(a.embedding);
    args.table = a.token_part == nullptr ? weightArgs(a.table) : WeightArgs{};
    args.projection = weightArgs(a.projection);
    args.norm = vectorArgs(a.norm);
    args.token = a.token;
    args.token_part = a.token_part;
    args.x = a.x;
    args.t = a.t;
    args.y = a.y;
    args.counters = static_cast<EdgeCounters*>(pointerOf(s.scratch + kEdgeOffset));
    args.width = static_cast<int32_t>(width);
    args.block_shift =
        is_four_bit ? std::countr_zero(static_cast<uint32_t>(a.projection.block_size)) : 0;
    args.x_elements = static_cast<int32_t>((cols + 511) / 512 * 512);
    args.embedding_scale = a.embedding_scale;
    args.table_scale = a.table_scale;
    args.eps = a.eps;
    args.before = a.before;
    args.after = a.after;
    const KernelId id = is_four_bit ? KernelId::token_inputs_four_bit
                        : a.projection.format == WeightFormat::Int8Row
                            ? KernelId::token_inputs_int8
                            : KernelId::token_inputs_bf16;
    return s.launch(id, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(kEdgeThreads),
                    sharedBytes(a.projection), args);
}

} // namespace kernels::cuda
