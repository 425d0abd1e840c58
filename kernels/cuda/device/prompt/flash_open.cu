// SPDX-License-Identifier: Apache-2.0
// Attention of a tower: every query sees every key, heads of 64 or 72, operands and results bf16.
// 128 queries of one head a block, 16 a warp; keys and values in tiles of 64, two in shared memory
// at a time; scores and weights stay in registers. Heads of 72 are 80 in shared memory, the last
// eight zero. Needs sm_80.
#include "kernels/cuda/device/common/common.cuh"

using namespace kernels::cuda;

namespace {

[[maybe_unused]] constexpr int kThreads = 256;
[[maybe_unused]] constexpr int kQueries = 128;
[[maybe_unused]] constexpr int kKeys = 64;

/// 16-byte chunks of a row that are multiplied: whole steps of 16 elements.
template <int HEAD>
constexpr int kChunks = (HEAD + 15) / 16 * 2;
/// And places of a row. Eight rows must not meet in a bank: a swizzle where they are eight, else an
/// odd number.
template <int HEAD>
constexpr int kPitch = HEAD == 64 ? 8 : kChunks<HEAD> | 1;

template <int HEAD>
__device__ __forceinline__ uint32_t chunkAt(int row, int chunk) {
    return static_cast<uint32_t>(row * kPitch<HEAD> + (HEAD == 64 ? chunk ^ (row & 7) : chunk)) *
           16U;
}

/// Rows [first, first + ROWS) of one head to a tile; rows beyond `rows` and columns beyond the head
/// become zeros.
template <int ROWS, int HEAD>
__device__ __forceinline__ void
fillRows(uint32_t tile, const void* data, int64_t first, int64_t rows, int heads, int head) {
    constexpr int kRowChunks = kChunks<HEAD>;
#pragma unroll
    for (int i = 0; i < (ROWS * kRowChunks + kThreads - 1) / kThreads; ++i) {
        const int at = i * kThreads + static_cast<int>(threadIdx.x);
        if (ROWS * kRowChunks % kThreads != 0 && at >= ROWS * kRowChunks) {
            break;
        }
        const int row = at / kRowChunks;
        const int chunk = at % kRowChunks;
        const bool is_row = first + row < rows;
        const bool is_valid = is_row && chunk < HEAD / 8;
        const __nv_bfloat16* from = static_cast<const __nv_bfloat16*>(data) +
                                    ((is_row ? first + row : 0) * heads + head) * HEAD +
                                    (chunk < HEAD / 8 ? chunk * 8 : 0);
        copyAsync16(tile + chunkAt<HEAD>(row, chunk), from, is_valid);
    }
}

[[maybe_unused]] __device__ __forceinline__ uint32_t halves(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
}

#if __CUDA_ARCH__ >= 800
/// Scores of a warp's queries, which are in registers, and a tile's keys.
template <int HEAD>
__device__ __forceinline__ void multiplyKeys(float (&scores)[kKeys / 8][4],
                                             const uint32_t (&q)[kChunks<HEAD> / 2][4],
                                             uint32_t k_tile) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int kk = 0; kk < kChunks<HEAD> / 2; ++kk) {
#pragma unroll
        for (int j = 0; j < kKeys / 16; ++j) {
            uint32_t b[4];
            loadMatrix4(b, k_tile + chunkAt<HEAD>(j * 16 + (lane & 7) + ((lane >> 4) << 3),
                                                  kk * 2 + ((lane >> 3) & 1)));
            multiplyAdd(scores[2 * j], q[kk], b[0], b[1]);
            multiplyAdd(scores[2 * j + 1], q[kk], b[2], b[3]);
        }
    }
}

/// Stores the rows of this lane's two queries, which are eight apart.
template <int HEAD>
__device__ __forceinline__ void storeRows(const AttentionKernelArgs& a,
                                          const float (&out)[kChunks<HEAD>][4],
                                          const float (&own_sum)[2],
                                          int64_t first_query,
                                          int head) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float sum = own_sum[r];
        sum += __shfl_xor_sync(0xffffffffU, sum, 1);
        sum += __shfl_xor_sync(0xffffffffU, sum, 2);
        const int64_t query = first_query + r * 8;
        if (query >= a.queries) {
            continue;
        }
        const float inverse = 1.0F / sum;
        __nv_bfloat16* to = reinterpret_cast<__nv_bfloat16*>(a.out) +
                            (query * a.num_heads + head) * HEAD + (lane & 3) * 2;
#pragma unroll
        for (int j = 0; j < HEAD / 8; ++j) {
            *reinterpret_cast<__nv_bfloat162*>(to + j * 8) =
                __floats2bfloat162_rn(out[j][2 * r] * inverse, out[j][2 * r + 1] * inverse);
        }
    }
}
#endif

template <int HEAD>
__device__ __forceinline__ void flashOpen(const AttentionKernelArgs& a) {
#if __CUDA_ARCH__ >= 800
    constexpr uint32_t kTileBytes = kKeys * kPitch<HEAD> * 16;
    constexpr int kSteps = kChunks<HEAD> / 2;
    const uint32_t q_tile = sharedAddress(dynamicShared());
    const uint32_t k_tiles = q_tile + kQueries * kPitch<HEAD> * 16;
    const uint32_t v_tiles = k_tiles + 2 * kTileBytes;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int head = blockIdx.y;
    const int64_t q0 = static_cast<int64_t>(blockIdx.x) * kQueries;
    const int tiles = static_cast<int>((a.keys + kKeys - 1) / kKeys);
    const auto fill = [&](int tile) {
        const auto slot = static_cast<uint32_t>(tile & 1) * kTileBytes;
        const int64_t first = static_cast<int64_t>(tile) * kKeys;
        fillRows<kKeys, HEAD>(k_tiles + slot, a.k, first, a.keys, a.num_heads, head);
        fillRows<kKeys, HEAD>(v_tiles + slot, a.v, first, a.keys, a.num_heads, head);
    };
    fillRows<kQueries, HEAD>(q_tile, a.q, q0, a.queries, a.num_heads, head);
    fill(0);
    commitCopies();

    // Scores in units of log2(e): one instruction less an exponential.
    const float scale = a.scale * 1.44269504F;
    uint32_t q[kSteps][4];
    float out[2 * kSteps][4] = {};
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
            for (int kk = 0; kk < kSteps; ++kk) {
                loadMatrix4(q[kk],
                            q_tile + chunkAt<HEAD>(warp * 16 + (lane & 15), kk * 2 + (lane >> 4)));
            }
        }
        const uint32_t k_tile = k_tiles + static_cast<uint32_t>(tile & 1) * kTileBytes;
        const uint32_t v_tile = v_tiles + static_cast<uint32_t>(tile & 1) * kTileBytes;
        float scores[kKeys / 8][4] = {};
        multiplyKeys<HEAD>(scores, q, k_tile);
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
        for (int j = 0; j < HEAD / 8; ++j) {
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
            for (int j = 0; j < kSteps; ++j) {
                uint32_t b[4];
                loadMatrix4Transposed(
                    b, v_tile + chunkAt<HEAD>(kk * 16 + (lane & 15), j * 2 + (lane >> 4)));
                multiplyAdd(out[2 * j], p, b[0], b[1]);
                if (2 * j + 1 < HEAD / 8) {
                    multiplyAdd(out[2 * j + 1], p, b[2], b[3]);
                }
            }
        }
    }
    storeRows<HEAD>(a, out, sum, q0 + warp * 16 + lane / 4, head);
#endif
}

} // namespace

extern "C" {

// grid (ceil(queries / 128), num_heads), block 256, shared memory: flashOpenBytes(head).
__global__ void __launch_bounds__(kThreads, 2)
    belfry_flash_open_64(const __grid_constant__ AttentionKernelArgs a) {
    flashOpen<64>(a);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_flash_open_72(const __grid_constant__ AttentionKernelArgs a) {
    flashOpen<72>(a);
}

} // extern "C"
