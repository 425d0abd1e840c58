// SPDX-License-Identifier: Apache-2.0
// Low-rank updates inside products of many rows: y += B h, with h = factor * (A x) in bf16 made by
// belfry_product_ranks for all updates of a product. To a tile they are more columns of k, whose
// operands come straight from memory. Needs sm_80.
//
// The products of a row may be summed in any order: a lane takes four neighbouring columns of h (4 t
// to 4 t + 3 of 16) for the two pairs that the instruction wants, and the same ranks of B.
#pragma once

#include "kernels/cuda/device/prompt/lora_rows.cuh"

namespace kernels::cuda {

/// Adds the updates of a warp's rows [row0, ...) and outputs [output0, output0 + 8 FRAGMENTS) of
/// `weight`; IS_PAIR: of half as many outputs of both weights, in turns of eight. What lies behind
/// the last row or output repeats it; nobody stores it.
template <bool IS_PAIR, int ROW_FRAGMENTS, int FRAGMENTS>
__device__ __forceinline__ void addUpdates(float (&sums)[ROW_FRAGMENTS][FRAGMENTS][4],
                                           const ProductUpdatesArgs& u,
                                           int weight,
                                           int64_t row0,
                                           int output0,
                                           int outputs) {
#if __CUDA_ARCH__ >= 800
    constexpr int kGroups = IS_PAIR ? FRAGMENTS / 2 : FRAGMENTS;
    const int lane = threadIdx.x % 32;
    const int group = lane / 4;
    const int place = lane % 4 * 4;
    const int64_t width = u.first_block[3] * kUpdateBlock;
    const __nv_bfloat16* const h = static_cast<const __nv_bfloat16*>(u.h) + place;
    const int end = u.first_block[IS_PAIR ? 2 : weight + 1];
#pragma unroll 1
    for (int block = u.first_block[IS_PAIR ? 0 : weight]; block < end; ++block) {
        const int column = block * kUpdateBlock;
        uint2 x[ROW_FRAGMENTS][2];
#pragma unroll
        for (int i = 0; i < ROW_FRAGMENTS; ++i) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int64_t row = row0 + i * 16 + half * 8 + group;
                x[i][half] = *reinterpret_cast<const uint2*>(
                    h + (row < u.m ? row : u.m - 1) * width + column);
            }
        }
        const int owner = u.owner[(column + place) / kUpdatePiece];
        const ProductUpdateArgs& update = u.update[owner == kNoUpdate ? 0 : owner];
        const int rank = column + place - update.first;
        const int valid = owner == kNoUpdate ? 0 : update.rank - rank;
        uint2 b[kGroups] = {};
        const auto at = [&](int j) {
            const int output = output0 + j * 8 + group;
            return static_cast<int64_t>(output < outputs ? output : outputs - 1) * update.rank +
                   rank;
        };
        // One branch around all loads, so that they are under way together.
        if (valid > 0 && update.is_whole != 0 && update.b_type == kElementBf16) {
            const uint16_t* const from = static_cast<const uint16_t*>(update.b);
#pragma unroll
            for (int j = 0; j < kGroups; ++j) {
                b[j] = __ldg(reinterpret_cast<const uint2*>(from + at(j)));
            }
        } else if (valid > 0) {
#pragma unroll
            for (int j = 0; j < kGroups; ++j) {
                b[j] = loadFour(update.b, update.b_type, at(j), valid, false);
            }
        }
        const bool is_odd = IS_PAIR && block >= u.first_block[1];
#pragma unroll
        for (int i = 0; i < ROW_FRAGMENTS; ++i) {
            const uint32_t a[4] = {x[i][0].x, x[i][1].x, x[i][0].y, x[i][1].y};
#pragma unroll
            for (int j = 0; j < kGroups; ++j) {
                if constexpr (!IS_PAIR) {
                    multiplyAdd(sums[i][j], a, b[j].x, b[j].y);
                } else if (is_odd) {
                    multiplyAdd(sums[i][2 * j + 1], a, b[j].x, b[j].y);
                } else {
                    multiplyAdd(sums[i][2 * j], a, b[j].x, b[j].y);
                }
            }
        }
    }
#endif
}

} // namespace kernels::cuda
