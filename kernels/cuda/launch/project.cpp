// SPDX-License-Identifier: Apache-2.0
// Launches of projection steps: norm, product, activation, low-rank updates and the sum in one
// kernel.
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch/lora.h"
#include "kernels/cuda/launch/token_steps.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <bit>

namespace kernels::cuda {

/// The projection kernel takes this weight.
bool canProject(const Stream& s, const WeightView& w) {
    if (s.is_reference || w.cols % 16 != 0 || w.cols > 32768) {
        return false;
    }
    if (hasCodes(w)) {
        return w.block_size >= 16 && w.cols % w.block_size == 0 &&
               std::has_single_bit(static_cast<uint32_t>(w.block_size)) &&
               w.expand_type != DType::F32;
    }
    return hasBlocks(w) || w.format == WeightFormat::Int8Row || w.format == WeightFormat::BF16;
}

namespace {

KernelId projectKernel(const WeightView& w) {
    return hasBlocks(w)                        ? KernelId::project_blocks
           : hasCodes(w)                       ? KernelId::project_four_bit
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
                        static_cast<int16_t>(lora.weight),
                        0,
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
    const bool is_one = step.count == 1 || step.output == ProjectArgs::Output::GatedPair;
    const bool has_sums = step.tap_count == 0 || (step.tap_sums != nullptr && is_one);
    return has_sums ? Status::Ok : Status::BadShape;
}

int32_t outputsOf(const ProjectArgs& step) {
    int64_t outputs = 0;
    for (int i = 0; i < step.count; ++i) {
        outputs += step.w[i].rows;
    }
    return static_cast<int32_t>(step.output == ProjectArgs::Output::GatedPair ? outputs / 2
                                                                              : outputs);
}

/// How a step is dealt out, its updates included: more blocks where few need more shared memory
/// than there is. shared_bytes may still be too much.
ProjectSizes stepSizes(const Stream& s, const ProjectKernelArgs& args, const ProjectArgs& step) {
    const bool is_pair = step.output == ProjectArgs::Output::GatedPair;
    ProjectSizes sizes;
    for (int blocks = 1; blocks <= 16; blocks *= 2) {
        sizes = projectSizes(blocks * s.facts.multiprocessors, outputsOf(step), step.w[0].cols,
                             is_pair, hasCodes(step.w[0]) ? step.w[0].block_size : 0);
        sizes.shared_bytes +=
            loraSharedBytes(sizes, is_pair, args.lora_first[3], args.lora_width, args.tap_ranks) +
            static_cast<unsigned>(inputRowBytes(args.input, args.cols));
        if (sizes.shared_bytes <= static_cast<unsigned>(s.facts.shared_bytes)) {
            break;
        }
    }
    return sizes;
}

Status launchProject(Stream& s, ProjectKernelArgs args, const ProjectArgs& step) {
    if (s.steps.is_collecting) {
        const Status status = collectProject(s, args, outputsOf(step));
        if (status != Status::Unsupported || s.steps.rows != nullptr) {
            return status;
        }
    }
    const ProjectSizes sizes = stepSizes(s, args, step);
    const int64_t cols = step.w[0].cols;
    if (sizes.shared_bytes > static_cast<unsigned>(s.facts.shared_bytes)) {
        return Status::Unsupported;
    }
    if (args.tap_count > 0 && args.tap_parts != sizes.grid) {
        return Status::BadShape;
    }
    args.rows_per_warp = sizes.rows_per_warp;
    args.k_split = sizes.k_split;
    args.block_shift =
        hasCodes(step.w[0]) ? std::countr_zero(static_cast<uint32_t>(step.w[0].block_size)) : 0;
    args.x_elements = static_cast<int32_t>((cols + 511) / 512 * 512);
    args.outputs = outputsOf(step);
    args.local_rows = sizes.local_rows;
    return s.launch(projectKernel(step.w[0]), static_cast<unsigned>(sizes.grid), 1, 1,
                    kProjectThreads, sizes.shared_bytes, args);
}

/// Kernel arguments from a step's, but for what stepSizes() decides.
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
        const bool is_alike =
            hasBlocks(w) ? hasBlocks(step.w[0])
                         : w.format == step.w[0].format && w.block_size == step.w[0].block_size;
        if (!canProject(s, w) || !is_alike) {
            return Status::Unsupported;
        }
        args.w[i] = weightArgs(w);
        args.y[i] = step.y[i];
    }
    args.count = step.count;
    args.input = static_cast<int32_t>(step.input);
    args.output = static_cast<int16_t>(step.output);
    args.activation = step.activation;
    args.cols = static_cast<int32_t>(step.w[0].cols);
    args.x = step.x;
    args.t = step.t;
    args.x_out = step.x_out;
    args.multiply = step.multiply;
    args.multiply_stride = static_cast<int32_t>(step.multiply_stride);
    args.t_norm = vectorArgs(step.t_norm);
    args.norm = vectorArgs(step.norm);
    args.scalar = step.scalar;
    args.eps = step.eps;
    return step.lora_count == 0 && step.tap_count == 0 ? Status::Ok : addLora(args, step);
}

} // namespace

bool takesProjection(Queue q, const ProjectArgs& step) {
    Stream& s = streamOf(q);
    ProjectKernelArgs args{};
    if (projectArgs(s, step, args) != Status::Ok) {
        return false;
    }
    const bool has_launch =
        s.functions[static_cast<size_t>(projectKernel(step.w[0]))] != nullptr &&
        stepSizes(s, args, step).shared_bytes <= static_cast<unsigned>(s.facts.shared_bytes);
    // A list may have room for more than a launch has.
    return has_launch || (s.steps.is_collecting && wouldCollect(s, args, outputsOf(step)));
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
    if (s.steps.is_collecting && shares) {
        return 0; // the step behind makes A h over all blocks
    }
    const ProjectSizes sizes = stepSizes(s, args, step);
    return sizes.shared_bytes > static_cast<unsigned>(s.facts.shared_bytes) ? 0 : sizes.grid;
}

} // namespace kernels::cuda
