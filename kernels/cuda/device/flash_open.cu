// SPDX-License-Identifier: Apache-2.0
// Attention of a tower: every query sees every key, heads of 64, operands and results bf16. 128
// queries of one head a block, 16 a warp; keys and values in tiles of 64, two in shared memory at a
// time; scores and weights stay in registers. Needs sm_80.
#include "kernels/cuda/device/common.cuh"

using namespace kernels::cuda;

namespace {

[[maybe_unused]] constexpr int kThreads = 256;
[[maybe_unused]] constexpr int kQueries = 128;
[[maybe_unused]] constexpr int kKeys = 64;
[[maybe_unused]] constexpr int kHead = 64;
[[maybe_unused]] constexpr int kChunks = kHead / 8; // 16-byte chunks of a row
[[maybe_unused]] constexpr uint32_t kTileBytes = kKeys * kHead * 2;

[[maybe_unused]] __device__ __forceinline__ uint32_t chunkAt(int row, int chunk) {
    return static_cast<uint32_t>(row * kChunks + (chunk ^ (row & 7))) * 16U;
}

/// Rows [first, first + ROWS) of one head to a tile; rows beyond `rows` become zeros.
template <int ROWS>
__device__ __forceinline__ void
fillRows(uint32_t tile, const void* data, int64_t first, int64_t rows, int heads, int head) {
#pragma unroll
    for (int i = 0; i < ROWS * kChunks / kThreads; ++i) {
        const int at = i * kThreads + static_cast<int>(threadIdx.x);
        const int row = at / kChunks;
        const int chunk = at % kChunks;
        const bool is_valid = first + row < rows;
        const __nv_bfloat16* from = static_cast<const __nv_bfloat16*>(data) +
                                    ((is_valid ? first + row : 0) * heads + head) * kHead +
                                    chunk * 8;
        copyAsync16(tile + chunkAt(row, chunk), from, is_valid);
    }
}

[[maybe_unused]] __device__ __forceinline__ uint32_t halves(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
}

} // namespace

extern "C" {

/// grid (ceil(queries / 128), num_heads), block 256, 49152 bytes of shared memory.
__global__ void __launch_bounds__(kThreads, 2)
    belfry_flash_open_64(const __grid_constant__ AttentionKernelArgs a) {
#if __CUDA_ARCH__ >= 800
    const uint32_t q_tile = sharedAddress(dynamicShared());
    const uint32_t k_tiles = q_tile + kQueries * kHead * 2;
    const uint32_t v_tiles = k_tiles + 2 * kTileBytes;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int head = blockIdx.y;
    const int64_t q0 = static_cast<int64_t>(blockIdx.x) * kQueries;
    const int tiles = static_cast<int>((a.keys + kKeys - 1) / kKeys);
    const auto fill = [&](int tile) {
        const auto slot = static_cast<uint32_t>(tile & 1) * kTileBytes;
        const int64_t first = static_cast<int64_t>(tile) * kKeys;
        fillRows<kKeys>(k_tiles + slot, a.k, first, a.keys, a.num_heads, head);
        fillRows<kKeys>(v_tiles + slot, a.v, first, a.keys, a.num_heads, head);
    };
    fillRows<kQueries>(q_tile, a.q, q0, a.queries, a.num_heads, head);
    fill(0);
    commitCopies();

    // Scores in units of log2(e): one instruction less an exponential.
    const float scale = a.scale * 1.44269504F;
    uint32_t q[kHead / 16][4];
    float out[kHead / 8][4] = {};
    float largest[2] = {-INFINITY, -INFINITY};
    float sum[2] = {};
    for (int tile = 0; tile < tiles; ++tile) {
        waitForCopyGroups<0>();
        __syncthreads(); // this tile is there, and nobody reads the other one any more
        if (tile + 1 < tiles) {
            fill(tile + 1);
        }
        commitCopies();
        if (tile == 0) {
#pragma unroll
            for (int kk = 0; kk < kHead / 16; ++kk) {
                loadMatrix4(q[kk], q_tile + chunkAt(warp * 16 + (lane & 15), kk * 2 + (lane >> 4)));
            }
        }
        const uint32_t k_tile = k_tiles + static_cast<uint32_t>(tile & 1) * kTileBytes;
        const uint32_t v_tile = v_tiles + static_cast<uint32_t>(tile & 1) * kTileBytes;
        float scores[kKeys / 8][4] = {};
#pragma unroll
        for (int kk = 0; kk < kHead / 16; ++kk) {
#pragma unroll
            for (int j = 0; j < kKeys / 16; ++j) {
                uint32_t b[4];
                loadMatrix4(b, k_tile + chunkAt(j * 16 + (lane & 7) + ((lane >> 4) << 3),
                                                kk * 2 + ((lane >> 3) & 1)));
                multiplyAdd(scores[2 * j], q[kk], b[0], b[1]);
                multiplyAdd(scores[2 * j + 1], q[kk], b[2], b[3]);
            }
        }
        const int64_t left = a.keys - static_cast<int64_t>(tile) * kKeys;
        if (left < kKeys) { // the last tile: keys that are not there
#pragma unroll
            for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    if (j * 8 + (lane & 3) * 2 + (e & 1) >= left) {
                        scores[j][e] = -INFINITY;
                    }
                }
            }
        }
        float correction[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            float most = largest[r];
#pragma unroll
            for (int j = 0; j < kKeys / 8; ++j) {
                most = fmaxf(most, fmaxf(scores[j][2 * r], scores[j][2 * r + 1]) * scale);
            }
            most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, 1));
            most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, 2));
            // Every tile has a key: most is finite unless a score is not.
            correction[r] = exp2f(largest[r] - most);
            largest[r] = most;
            sum[r] *= correction[r];
        }
#pragma unroll
        for (int j = 0; j < kKeys / 8; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                scores[j][e] = exp2f(fmaf(scores[j][e], scale, -largest[e >> 1]));
                sum[e >> 1] += scores[j][e];
            }
        }
#pragma unroll
        for (int j = 0; j < kHead / 8; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                out[j][e] *= correction[e >> 1];
            }
        }
#pragma unroll
        for (int kk = 0; kk < kKeys / 16; ++kk) {
            // The scores' places in a warp are those of a left operand.
            const uint32_t p[4] = {halves(scores[2 * kk][0], scores[2 * kk][1]),
                                   halves(scores[2 * kk][2], scores[2 * kk][3]),
                                   halves(scores[2 * kk + 1][0], scores[2 * kk + 1][1]),
                                   halves(scores[2 * kk + 1][2], scores[2 * kk + 1][3])};
#pragma unroll
            for (int j = 0; j < kHead / 16; ++j) {
                uint32_t b[4];
                loadMatrix4Transposed(b,
                                      v_tile + chunkAt(kk * 16 + (lane & 15), j * 2 + (lane >> 4)));
                multiplyAdd(out[2 * j], p, b[0], b[1]);
                multiplyAdd(out[2 * j + 1], p, b[2], b[3]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        sum[r] += __shfl_xor_sync(0xffffffffU, sum[r], 1);
        sum[r] += __shfl_xor_sync(0xffffffffU, sum[r], 2);
        const int64_t query = q0 + warp * 16 + lane / 4 + r * 8;
        if (query >= a.queries) {
            continue;
        }
        const float inverse = 1.0F / sum[r];
        __nv_bfloat16* to = reinterpret_cast<__nv_bfloat16*>(a.out) +
                            (query * a.num_heads + head) * kHead + (lane & 3) * 2;
#pragma unroll
        for (int j = 0; j < kHead / 8; ++j) {
            *reinterpret_cast<__nv_bfloat162*>(to + j * 8) =
                __floats2bfloat162_rn(out[j][2 * r] * inverse, out[j][2 * r + 1] * inverse);
        }
    }
#endif
}

} // extern "C"
