// SPDX-License-Identifier: Apache-2.0
// Attention of many queries on tensor cores with an online softmax: 64 queries of one head a block,
// keys in tiles. Eight warps: four groups of 16 queries, and within a group one warp for each half
// of the keys (scores) and of the head's columns (output), so that the accumulators of head size
// 512 fit the registers. Operands bf16, sums fp32. Keys may lie in any order (ring buffers):
// visibility comes from positions; a tile that nobody in the block sees is skipped. Needs sm_80.
#include "kernels/cuda/device/prompt/flash_tiles.cuh"

using namespace kernels::cuda;

namespace {

[[maybe_unused]] constexpr int kThreads = 256;
[[maybe_unused]] constexpr int kQueries = 64; // unused below sm_80

#if __CUDA_ARCH__ >= 800
/// One block's queries. STAGES: tiles of keys in shared memory at a time; with two, the next one is
/// on its way while this one is multiplied.
template <int HEAD, int KEYS, int STAGES>
struct Flash {
    static constexpr int kChunks = HEAD / 8;
    static constexpr int kHalfKeys = KEYS / 2;
    static constexpr int kScoreTiles = kHalfKeys / 8;
    static constexpr int kColumnTiles = HEAD / 16; // 8-column tiles of half the head
    static constexpr int kWeightChunks = KEYS / 8;
    static constexpr int kTileBytes = KEYS * HEAD * 2;

    const AttentionKernelArgs& a;
    char* q_tile = dynamicShared();
    char* k_tile = q_tile + kQueries * HEAD * 2;
    char* p_tile = k_tile + 2 * STAGES * kTileBytes;
    int* key_positions = reinterpret_cast<int*>(p_tile + kQueries * KEYS * 2); // [STAGES, KEYS]
    int* key_blocks = key_positions + STAGES * KEYS;
    float* row_max = reinterpret_cast<float*>(key_blocks + STAGES * KEYS); // [2, 64]
    float* row_sum = row_max + 2 * kQueries;                               // [2, 64]
    int* query_position = reinterpret_cast<int*>(row_sum + 2 * kQueries);
    int* query_block = query_position + kQueries;

    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int group = warp & 3; // 16 queries
    const int half = warp >> 2;
    const int head = blockIdx.y;
    const int kv_head = head / (a.num_heads / a.num_kv_heads);
    // Long rows of work first: the last queries see the most keys.
    const int64_t q0 = static_cast<int64_t>(gridDim.x - 1 - blockIdx.x) * kQueries;
    const bool has_blocks = a.query_block != nullptr;
    const int row0 = group * 16 + lane / 4; // and row0 + 8

    int lowest = 0x7fffffff; // positions of the queries
    int highest = -1;
    float out[kColumnTiles][4] = {};
    float largest[2] = {-INFINITY, -INFINITY};
    float sum[2] = {};

    __device__ __forceinline__ void loadQueries() {
        for (int i = threadIdx.x; i < kQueries; i += kThreads) {
            const bool is_valid = q0 + i < a.queries;
            query_position[i] = is_valid ? a.query_position[q0 + i] : -1;
            query_block[i] = is_valid && has_blocks ? a.query_block[q0 + i] : -1;
        }
        for (int i = threadIdx.x; i < kQueries * kChunks; i += kThreads) {
            const int row = i / kChunks;
            const int chunk = i % kChunks;
            __nv_bfloat162 values[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                float2 pair = make_float2(0.0F, 0.0F);
                const int64_t at = ((q0 + row) * a.num_heads + head) * HEAD + chunk * 8 + 2 * e;
                if (q0 + row < a.queries) {
                    pair = a.is_half != 0
                               ? __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(
                                     reinterpret_cast<const __nv_bfloat16*>(a.q) + at))
                               : *reinterpret_cast<const float2*>(a.q + at);
                }
                values[e] = __float22bfloat162_rn(make_float2(pair.x * a.scale, pair.y * a.scale));
            }
            *reinterpret_cast<uint4*>(q_tile + chunkAt<kChunks>(row, chunk)) =
                *reinterpret_cast<const uint4*>(values);
        }
        __syncthreads();
        for (int i = 0; i < kQueries; ++i) {
            const int p = query_position[i];
            if (p >= 0) {
                lowest = p < lowest ? p : lowest;
                highest = p > highest ? p : highest;
            }
        }
    }

    /// The first tile from `first` on that somebody here sees, its positions in place `slot`, its
    /// keys and values on their way there.
    __device__ __forceinline__ int64_t fetch(int64_t first, int slot) {
        int* positions = key_positions + slot * KEYS;
        int* blocks = key_blocks + slot * KEYS;
        for (; first < a.keys; first += KEYS) {
            bool is_seen = false;
            if (threadIdx.x < KEYS) {
                const int64_t key = first + threadIdx.x;
                const int p = key < a.keys ? a.key_position[key] : -1;
                const int b = key < a.keys && has_blocks ? a.key_block[key] : -1;
                positions[threadIdx.x] = p;
                blocks[threadIdx.x] = b;
                is_seen = p >= 0 && (a.is_causal == 0 || p <= highest || b >= 0) &&
                          (a.window == 0 || p > lowest - a.window);
            }
            if (__syncthreads_or(is_seen ? 1 : 0) != 0) {
                break;
            } // the barrier keeps the next tile's positions apart from this one's
        }
        if (first < a.keys) {
            char* to = k_tile + slot * 2 * kTileBytes;
            fillTile<KEYS, HEAD, kThreads>(to, a.k, a.rows, first, positions, kv_head);
            fillTile<KEYS, HEAD, kThreads>(to + kTileBytes, a.v, a.rows, first, positions, kv_head);
        } else {
            commitCopies(); // as many groups as with a tile
            commitCopies();
        }
        return first;
    }

    __device__ __forceinline__ void makeScores(float (&scores)[kScoreTiles][4],
                                               const char* k_now) const {
#pragma unroll 4
        for (int kk = 0; kk < HEAD / 16; ++kk) {
            uint32_t fa[4];
            loadMatrix4(fa, sharedAddress(q_tile) +
                                chunkAt<kChunks>(group * 16 + (lane & 15), kk * 2 + (lane >> 4)));
#pragma unroll
            for (int j = 0; j < kScoreTiles / 2; ++j) {
                uint32_t fb[4];
                const int row = half * kHalfKeys + j * 16 + (lane & 7) + ((lane >> 4) << 3);
                loadMatrix4(fb, sharedAddress(k_now) +
                                    chunkAt<kChunks>(row, kk * 2 + ((lane >> 3) & 1)));
                multiplyAdd(scores[2 * j], fa, fb[0], fb[1]);
                multiplyAdd(scores[2 * j + 1], fa, fb[2], fb[3]);
            }
        }
    }

    /// Hides keys, and leaves the largest score of each row over this warp's half of the keys.
    __device__ __forceinline__ void
    maskScores(float (&scores)[kScoreTiles][4], const int* key_position, const int* key_block) {
        float tile_max[2] = {-INFINITY, -INFINITY};
#pragma unroll
        for (int j = 0; j < kScoreTiles; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int row = row0 + (e >> 1) * 8;
                const int key = half * kHalfKeys + j * 8 + (lane & 3) * 2 + (e & 1);
                const int kp = key_position[key];
                const int qp = query_position[row];
                bool is_visible = kp >= 0 && qp >= 0;
                if (a.is_causal != 0 && kp > qp) {
                    is_visible =
                        is_visible && query_block[row] >= 0 && query_block[row] == key_block[key];
                }
                is_visible = is_visible && (a.window == 0 || kp > qp - a.window);
                scores[j][e] = is_visible ? scores[j][e] : -INFINITY;
                tile_max[e >> 1] = fmaxf(tile_max[e >> 1], scores[j][e]);
            }
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            tile_max[r] = fmaxf(tile_max[r], __shfl_xor_sync(0xffffffffU, tile_max[r], 1));
            tile_max[r] = fmaxf(tile_max[r], __shfl_xor_sync(0xffffffffU, tile_max[r], 2));
            if ((lane & 3) == 0) {
                row_max[half * kQueries + row0 + r * 8] = tile_max[r];
            }
        }
    }

    /// Makes weights of the scores; what is there so far shrinks where a larger score has come.
    __device__ __forceinline__ void weigh(const float (&scores)[kScoreTiles][4]) {
        float correction[2];
        float tile_sum[2] = {};
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const float next =
                fmaxf(largest[r], fmaxf(row_max[row0 + r * 8], row_max[kQueries + row0 + r * 8]));
            correction[r] =
                largest[r] == -INFINITY ? 0.0F : exp2f((largest[r] - next) * 1.44269504F);
            largest[r] = next;
        }
#pragma unroll
        for (int j = 0; j < kScoreTiles; ++j) {
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const float base = largest[r] == -INFINITY ? 0.0F : largest[r];
                const float w0 = exp2f((scores[j][2 * r] - base) * 1.44269504F);
                const float w1 = exp2f((scores[j][2 * r + 1] - base) * 1.44269504F);
                tile_sum[r] += w0 + w1;
                const int row = row0 + r * 8;
                const int chunk = (half * kHalfKeys + j * 8) / 8;
                // Rows of KEYS * 2 bytes: the swizzle spans at most kWeightChunks chunks.
                const int swizzled = chunk ^ (row & (kWeightChunks < 8 ? kWeightChunks - 1 : 7));
                *reinterpret_cast<__nv_bfloat162*>(p_tile + (row * kWeightChunks + swizzled) * 16 +
                                                   (lane & 3) * 4) = __floats2bfloat162_rn(w0, w1);
            }
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            tile_sum[r] += __shfl_xor_sync(0xffffffffU, tile_sum[r], 1);
            tile_sum[r] += __shfl_xor_sync(0xffffffffU, tile_sum[r], 2);
            sum[r] = sum[r] * correction[r] + tile_sum[r]; // of this half; added up at the end
        }
#pragma unroll
        for (int j = 0; j < kColumnTiles; ++j) {
            out[j][0] *= correction[0];
            out[j][1] *= correction[0];
            out[j][2] *= correction[1];
            out[j][3] *= correction[1];
        }
    }

    __device__ __forceinline__ void addValues(const char* v_now) {
#pragma unroll
        for (int kk = 0; kk < KEYS / 16; ++kk) {
            uint32_t fa[4];
            {
                const int row = group * 16 + (lane & 15);
                const int chunk = kk * 2 + (lane >> 4);
                const int swizzled = chunk ^ (row & (kWeightChunks < 8 ? kWeightChunks - 1 : 7));
                loadMatrix4(fa, sharedAddress(p_tile) +
                                    static_cast<uint32_t>(row * kWeightChunks + swizzled) * 16U);
            }
#pragma unroll
            for (int j = 0; j < kColumnTiles / 2; ++j) {
                uint32_t fb[4];
                const int row = kk * 16 + (lane & 15);
                const int chunk = half * (kChunks / 2) + j * 2 + (lane >> 4);
                loadMatrix4Transposed(fb, sharedAddress(v_now) + chunkAt<kChunks>(row, chunk));
                multiplyAdd(out[2 * j], fa, fb[0], fb[1]);
                multiplyAdd(out[2 * j + 1], fa, fb[2], fb[3]);
            }
        }
    }

    __device__ __forceinline__ void store() {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            if ((lane & 3) == 0) {
                row_sum[half * kQueries + row0 + r * 8] = sum[r];
            }
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int64_t query = q0 + row0 + r * 8;
            if (query >= a.queries) {
                continue;
            }
            const float total = row_sum[row0 + r * 8] + row_sum[kQueries + row0 + r * 8];
            const float inverse = total > 0.0F ? 1.0F / total : 0.0F;
            const int64_t at =
                (query * a.num_heads + head) * HEAD + half * (HEAD / 2) + (lane & 3) * 2;
            if (a.is_half != 0) {
                __nv_bfloat16* to = reinterpret_cast<__nv_bfloat16*>(a.out) + at;
#pragma unroll
                for (int j = 0; j < kColumnTiles; ++j) {
                    *reinterpret_cast<__nv_bfloat162*>(to + j * 8) =
                        __floats2bfloat162_rn(out[j][2 * r] * inverse, out[j][2 * r + 1] * inverse);
                }
                continue;
            }
            float* to = a.out + at;
#pragma unroll
            for (int j = 0; j < kColumnTiles; ++j) {
                *reinterpret_cast<float2*>(to + j * 8) =
                    make_float2(out[j][2 * r] * inverse, out[j][2 * r + 1] * inverse);
            }
        }
    }

    __device__ __forceinline__ void run() {
        loadQueries();
        int slot = 0;
        int64_t first = fetch(0, 0);
        while (first < a.keys) {
            int64_t next = 0;
            if constexpr (STAGES == 2) {
                next = fetch(first + KEYS, slot ^ 1);
            }
            char* const k_now = k_tile + slot * 2 * kTileBytes;
            waitForCopyGroups<STAGES == 2 ? 3 : 1>();
            __syncthreads();
            float scores[kScoreTiles][4] = {};
            makeScores(scores, k_now);
            maskScores(scores, key_positions + slot * KEYS, key_blocks + slot * KEYS);
            __syncthreads();
            weigh(scores);
            waitForCopyGroups<STAGES == 2 ? 2 : 0>();
            __syncthreads();
            addValues(k_now + kTileBytes);
            __syncthreads();
            if constexpr (STAGES == 2) {
                slot ^= 1;
            } else {
                next = fetch(first + KEYS, 0);
            }
            first = next;
        }
        waitForCopyGroups<0>();
        store();
    }
};
#endif

template <int HEAD, int KEYS, int STAGES>
__device__ __forceinline__ void flash(const AttentionKernelArgs& a) {
#if __CUDA_ARCH__ >= 800
    Flash<HEAD, KEYS, STAGES>{a}.run();
#endif
}

} // namespace

extern "C" {

// grid (ceil(queries / 64), num_heads), block 256; shared memory: flashSharedBytes(head, keys,
// stages).
__global__ void __launch_bounds__(kThreads, 2)
    belfry_flash_64(const __grid_constant__ AttentionKernelArgs a) {
    flash<64, 64, 1>(a);
}
__global__ void __launch_bounds__(kThreads, 2)
    belfry_flash_256(const __grid_constant__ AttentionKernelArgs a) {
    flash<256, 64, 1>(a);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_flash_512(const __grid_constant__ AttentionKernelArgs a) {
    flash<512, 32, 1>(a);
}
__global__ void __launch_bounds__(kThreads, 1)
    belfry_flash_512_double(const __grid_constant__ AttentionKernelArgs a) {
    flash<512, 32, 2>(a);
}

} // extern "C"
