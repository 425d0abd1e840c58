// SPDX-License-Identifier: Apache-2.0
// Tiles of attention in shared memory (flash.cu, flash_small.cu): rows of one head in bf16, in an
// order in which ldmatrix meets no bank twice. Needs sm_80.
#pragma once

#include "kernels/cuda/device/common/kv_codes.cuh"

namespace kernels::cuda {

/// Byte offset of a 16-byte chunk in a tile of `chunks` chunks a row, swizzled for ldmatrix.
template <int CHUNKS>
__device__ __forceinline__ uint32_t chunkAt(int row, int chunk) {
    return static_cast<uint32_t>(row * CHUNKS + (chunk ^ (row & 7))) * 16U;
}

/// Codes `first` and first + 1 of a word times scale as bf16.
__device__ __forceinline__ uint32_t scaledCodes(uint32_t word, int first, float scale) {
    const auto value = [&](int i) {
        return static_cast<float>(static_cast<int8_t>(word >> (8 * (first + i)))) * scale;
    };
    const __nv_bfloat162 pair = __floats2bfloat162_rn(value(0), value(1));
    return *reinterpret_cast<const uint32_t*>(&pair);
}

/// Rows [first, first + ROWS) of one head of K or V to a bf16 tile. Rows without a position (empty
/// slots, beyond the end) become zeros: memory nobody wrote may hold NaN.
template <int ROWS, int HEAD, int THREADS>
__device__ __forceinline__ void fillTile(char* tile,
                                         const void* data,
                                         const KvRowArgs& rows,
                                         int64_t first,
                                         const int* key_position,
                                         int kv_head) {
#if __CUDA_ARCH__ >= 800
    constexpr int kChunks = HEAD / 8;
    for (int i = threadIdx.x; i < ROWS * kChunks; i += THREADS) {
        const int row = i / kChunks;
        const int chunk = i % kChunks;
        const bool is_valid = key_position[row] >= 0;
        const char* const from = kvRow(rows, data, is_valid ? first + row : 0);
        const int column = kv_head * HEAD + chunk * 8;
        char* to = tile + chunkAt<kChunks>(row, chunk);
        if (rows.type == kElementBf16) {
            copyAsync16(sharedAddress(to), from + 2 * column, is_valid);
        } else if (rows.scales_at != 0) {
            uint4 values = make_uint4(0, 0, 0, 0);
            if (is_valid) {
                const float scale =
                    *reinterpret_cast<const float*>(from + rows.scales_at + 4 * kv_head);
                const uint2 codes = *reinterpret_cast<const uint2*>(from + column);
                values = make_uint4(scaledCodes(codes.x, 0, scale), scaledCodes(codes.x, 2, scale),
                                    scaledCodes(codes.y, 0, scale), scaledCodes(codes.y, 2, scale));
            }
            *reinterpret_cast<uint4*>(to) = values;
        } else {
            __nv_bfloat162 values[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                float2 pair = make_float2(0.0F, 0.0F);
                if (is_valid) {
                    pair.x = loadElement(from, rows.type, column + 2 * e);
                    pair.y = loadElement(from, rows.type, column + 2 * e + 1);
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
