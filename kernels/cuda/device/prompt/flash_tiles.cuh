// SPDX-License-Identifier: Apache-2.0
// Tiles of attention in shared memory (flash.cu, flash_small.cu): rows of one head in bf16, in an
// order in which ldmatrix meets no bank twice. Needs sm_80.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

/// Byte offset of a 16-byte chunk in a tile of `chunks` chunks a row, swizzled for ldmatrix.
template <int CHUNKS>
__device__ __forceinline__ uint32_t chunkAt(int row, int chunk) {
    return static_cast<uint32_t>(row * CHUNKS + (chunk ^ (row & 7))) * 16U;
}

/// Rows [first, first + ROWS) of K or V, bf16 or fp32, to a bf16 tile. Rows without a position
/// (empty slots, beyond the end) become zeros: memory nobody wrote may hold NaN.
template <int ROWS, int HEAD, int THREADS>
__device__ __forceinline__ void fillTile(char* tile,
                                         const void* data,
                                         int type,
                                         int64_t first,
                                         const int* key_position,
                                         int64_t row_elements,
                                         int64_t offset) {
#if __CUDA_ARCH__ >= 800
    constexpr int kChunks = HEAD / 8;
    for (int i = threadIdx.x; i < ROWS * kChunks; i += THREADS) {
        const int row = i / kChunks;
        const int chunk = i % kChunks;
        const bool is_valid = key_position[row] >= 0;
        const int64_t at = (first + row) * row_elements + offset + chunk * 8;
        char* to = tile + chunkAt<kChunks>(row, chunk);
        if (type == kElementBf16) {
            const void* from = is_valid ? static_cast<const __nv_bfloat16*>(data) + at : data;
            copyAsync16(sharedAddress(to), from, is_valid);
        } else {
            __nv_bfloat162 values[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                float2 pair = make_float2(0.0F, 0.0F);
                if (is_valid) {
                    pair.x = loadElement(data, type, at + 2 * e);
                    pair.y = loadElement(data, type, at + 2 * e + 1);
                }
                values[e] = __float22bfloat162_rn(pair);
            }
            *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(values);
        }
    }
    commitCopies();
#endif
}

} // namespace kernels::cuda
