// SPDX-License-Identifier: Apache-2.0
// Products of a projection step with rows of GGUF's blocks (kernels/block_formats.h). A lane takes
// a run of 16 values, which share scale and offset: its codes are put together as bytes, become
// fp16 as 1024 + byte, and are multiplied as in project_step.cuh; the offset meets the sum of the
// input. Weights of one step may have different formats.
#pragma once

#include "kernels/cuda/device/common/block_codes.cuh"
#include "kernels/cuda/device/decode/project_input.cuh"

namespace kernels::cuda {

/// <16 codes, input> with x as two fp16 values a word.
template <WeightFormat F>
__device__ __forceinline__ float dotCodes(const uint32_t (&words)[4], const uint32_t (&x)[8]) {
    __half2 sum = __float2half2_rn(0.0F);
    const __half2 bias = __float2half2_rn(1024.0F + kCodeZero<F>);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const uint32_t low = __byte_perm(words[i], 0x64646464U, 0x4140);
        const uint32_t high = __byte_perm(words[i], 0x64646464U, 0x4342);
        sum = __hfma2(__hsub2(asHalf2(low), bias), asHalf2(x[2 * i]), sum);
        sum = __hfma2(__hsub2(asHalf2(high), bias), asHalf2(x[2 * i + 1]), sum);
    }
    const float2 parts = __half22float2(sum);
    return parts.x + parts.y;
}

/// The sum of 16 fp16 values.
__device__ __forceinline__ float sumOfHalves(const uint32_t (&x)[8]) {
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const float2 two = __half22float2(asHalf2(x[i]));
        sum += two.x + two.y;
    }
    return sum;
}

/// A run of codes times x, added to sum. inputs: the sum of x, where hasOffset().
template <WeightFormat F>
__device__ __forceinline__ float addRun(const uint32_t (&words)[4],
                                        const BlockRange& range,
                                        const uint32_t (&x)[8],
                                        float inputs,
                                        float sum) {
    sum = fmaf(dotCodes<F>(words, x), range.scale, sum);
    return hasOffset<F>() ? fmaf(range.offset, inputs, sum) : sum;
}

/// A lane's part of R rows times the input: slabs `part`, `part` + k_split and so on. The codes of
/// all rows are on their way before the first is multiplied.
template <WeightFormat F, int R>
__device__ __forceinline__ void rowParts(const ProjectKernelArgs& a,
                                         const Shared& s,
                                         const uint8_t* const (&rows)[R],
                                         int part,
                                         float (&sums)[R]) {
    constexpr int per_block = BlockFormat<F>::kValues;
    const int lane = threadIdx.x & 31;
    const int slabs = a.x_elements / kSlab;
#pragma unroll 1
    for (int slab = part; slab < slabs; slab += a.k_split) {
        const int column = slab * kSlab + lane * kRunValues;
        if (column >= a.cols) {
            break;
        }
        const int at = column / per_block * BlockFormat<F>::kBytes;
        const int run = column % per_block / kRunValues;
        uint32_t words[R][4];
        BlockRange ranges[R];
#pragma unroll
        for (int r = 0; r < R; ++r) {
            codeWords<F>(codesAt<F>(rows[r] + at, run), words[r]);
            ranges[r] = rangeOf<F>(rows[r] + at, run);
        }
        const uint4 x0 = s.x[slab * 64 + lane];
        const uint4 x1 = s.x[slab * 64 + 32 + lane];
        const uint32_t x[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
        const float inputs = hasOffset<F>() ? sumOfHalves(x) : 0.0F;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            sums[r] = addRun<F>(words[r], ranges[r], x, inputs, sums[r]);
        }
    }
}

/// All rows of the block times the input; leaves the sums in Shared::partial. `rowAt`: weight and
/// row of a local row.
template <int THREADS, typename RowAtFn>
__device__ __forceinline__ void
multiplyBlocks(const ProjectKernelArgs& a, const Shared& s, int local_rows, const RowAtFn& rowAt) {
    constexpr int kTogether = 4;
    const int warp = threadIdx.x / 32;
    const int part = warp % a.k_split;
    const int stride = THREADS / 32 / a.k_split * kTogether;
    const auto store = [&](int local, float sum) {
        sum = warpSum(sum);
        if ((threadIdx.x & 31) == 0 && local < local_rows) {
            s.partial[local * a.k_split + part] = sum;
        }
    };
    const auto rowOf = [&](int local) {
        const auto at = rowAt(local);
        return static_cast<const uint8_t*>(a.w[at.weight].data) +
               static_cast<int64_t>(at.row) * a.w[at.weight].block_size;
    };
    for (int first = warp / a.k_split * kTogether; first < local_rows; first += stride) {
        // Rows beyond the range repeat the last one; their sums are dropped.
        const int last = local_rows - 1;
        const WeightFormat format = a.w[rowAt(first).weight].format;
        bool is_one_format = true;
#pragma unroll
        for (int r = 1; r < kTogether; ++r) {
            const int local = first + r < last ? first + r : last;
            is_one_format = is_one_format && a.w[rowAt(local).weight].format == format;
        }
        if (is_one_format) {
            const uint8_t* rows[kTogether];
#pragma unroll
            for (int r = 0; r < kTogether; ++r) {
                rows[r] = rowOf(first + r < last ? first + r : last);
            }
            float sums[kTogether] = {};
            withBlockFormat(
                format, [&](auto f) { rowParts<decltype(f)::kFormat>(a, s, rows, part, sums); });
#pragma unroll
            for (int r = 0; r < kTogether; ++r) {
                store(first + r, sums[r]);
            }
            continue;
        }
#pragma unroll 1
        for (int local = first; local < first + kTogether && local < local_rows; ++local) {
            const uint8_t* const row[1] = {rowOf(local)};
            float sum[1] = {};
            withBlockFormat(a.w[rowAt(local).weight].format,
                            [&](auto f) { rowParts<decltype(f)::kFormat>(a, s, row, part, sum); });
            store(local, sum[0]);
        }
    }
}

} // namespace kernels::cuda
