// SPDX-License-Identifier: Apache-2.0
// Low-rank updates whose A h is made once in the grid: which part of which A a unit is
// (ProjectKernelArgs::lora_units).
#pragma once

#include "kernels/cuda/device/common/args.h"
#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

/// A of a unit: `bytes` from `at` on, which are `columns` elements of `type` from column `column`
/// on, of row `rank` of update `term`.
struct UnitPiece {
    const char* at = nullptr;
    int bytes = 0;
    int column = 0;
    int columns = 0; ///< Not above 0: there is nothing of this row in so late a chunk.
    int type = 0;
    int term = 0;
    int rank = 0;
    const float* factor = nullptr;

    UnitPiece() = default;
    /// row: among those of all updates.
    __device__ __forceinline__ UnitPiece(const ProjectKernelArgs& a, int row, int chunk) {
        while (row >= a.lora[term].first + a.lora[term].rank) {
            ++term;
        }
        const LoraArgs& update = a.lora[term];
        rank = row - update.first;
        factor = update.factor;
        type = update.a_type;
        column = chunk * a.lora_columns;
        columns = a.cols - column < a.lora_columns ? a.cols - column : a.lora_columns;
        const int width = elementBytes(type);
        bytes = columns * width;
        at = static_cast<const char*>(update.a) +
             (static_cast<int64_t>(rank) * a.cols + column) * width;
    }
};

/// Ranks in 16 bytes of a row of B.
template <int TYPE>
constexpr int kPieceRanks = TYPE == kElementF32 ? 4 : 8;

/// Those times A h, added to sum.
template <int TYPE>
__device__ __forceinline__ float dotPiece(const uint4& bits, const float* h, float sum) {
    const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if constexpr (TYPE == kElementF32) {
            sum = fmaf(__uint_as_float(words[i]), h[i], sum);
        } else if constexpr (TYPE == kElementBf16) {
            sum = fmaf(__uint_as_float(words[i] << 16), h[2 * i], sum);
            sum = fmaf(__uint_as_float(words[i] & 0xffff0000U), h[2 * i + 1], sum);
        } else {
            const float2 pair = __half22float2(asHalf2(words[i]));
            sum = fmaf(pair.x, h[2 * i], sum);
            sum = fmaf(pair.y, h[2 * i + 1], sum);
        }
    }
    return sum;
}

/// B of one row, in shared memory or not, times A h.
template <int TYPE>
__device__ __forceinline__ float dotRanks(const char* row, const float* h, int ranks) {
    constexpr int kStep = kPieceRanks<TYPE>;
    float sum = 0.0F;
#pragma unroll 2
    for (int k = 0; k < ranks; k += kStep) {
        sum = dotPiece<TYPE>(*reinterpret_cast<const uint4*>(row + k * (16 / kStep)), h + k, sum);
    }
    return sum;
}

} // namespace kernels::cuda
