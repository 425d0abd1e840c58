// SPDX-License-Identifier: Apache-2.0
// flash.cu for cards whose blocks have 99 KiB of shared memory (compute capability 8.6, 8.9, 12.0):
// 64 queries of one head a block, tiles of 16 keys. A warp has 16 queries and 256 columns of the
// results, so that heads of 256 take four warps and 47 KiB (two blocks a multiprocessor), heads of
// 512 eight warps and 98 KiB. Weights go from the scores to the values in registers; the two warps
// that share the queries of a wide head make the scores of half the keys each and hand over their
// largest scores and weights. Values are on their way while scores are made, the next keys while
// values are added. Needs sm_80.
#include "kernels/cuda/device/prompt/flash_tiles.cuh"

using namespace kernels::cuda;

namespace {

[[maybe_unused]] constexpr int kQueries = 64; // unused below sm_80
[[maybe_unused]] constexpr int kKeys = 16;
[[maybe_unused]] constexpr int kColumns = 256; // of a warp

[[maybe_unused]] __device__ __forceinline__ uint32_t halves(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
}

/// Byte offset of a 16-byte chunk of a query. The first two are in registers, which leaves an odd
/// number of places a row: no bank twice without a swizzle, and the rest fits.
template <int CHUNKS>
__device__ __forceinline__ uint32_t queryAt(int row, int chunk) {
    return static_cast<uint32_t>(row * (CHUNKS - 1) + chunk - 2) * 16U;
}

#if __CUDA_ARCH__ >= 800
/// One block's queries.
template <int HEAD>
struct FlashSmall {
    static constexpr int kParts = HEAD / kColumns; // warps with the same queries
    static constexpr int kWarps = kQueries / 16 * kParts;
    static constexpr int kThreads = kWarps * 32;
    static constexpr int kChunks = HEAD / 8;
    static constexpr int kTileBytes = kKeys * HEAD * 2;
    static constexpr int kWarpKeys = kKeys / kParts; // whose scores a warp makes
    static constexpr uint32_t kAll = 0xffffffffU;
    static constexpr float kLog2e = 1.44269504F;

    const AttentionKernelArgs& a;
    char* q_tile = dynamicShared();
    char* k_tile = q_tile + kQueries * (kChunks - 1) * 16;
    char* v_tile = k_tile + kTileBytes;
    int* key_positions = reinterpret_cast<int*>(v_tile + kTileBytes); // [2, kKeys]
    int* key_blocks = key_positions + 2 * kKeys;
    uint32_t* seen_words = reinterpret_cast<uint32_t*>(key_blocks + 2 * kKeys); // [2, 8]
    int2* ends = reinterpret_cast<int2*>(seen_words + 16);                      // [8]
    // For two parts only.
    uint2* weights = reinterpret_cast<uint2*>(ends + 8);            // [kThreads]
    float2* maxima = reinterpret_cast<float2*>(weights + kThreads); // [kWarps, 8]

    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int group = warp & 3; // 16 queries
    const int part = warp >> 2;
    const int head = blockIdx.y;
    const int kv_head = head / (a.num_heads / a.num_kv_heads);
    // Long rows of work first: the last queries see the most keys.
    const int64_t q0 = static_cast<int64_t>(gridDim.x - 1 - blockIdx.x) * kQueries;
    const bool has_blocks = a.query_block != nullptr;
    const int row0 = group * 16 + lane / 4; // and row0 + 8

    uint32_t q_first[4];
    int query_position[2];
    int query_block[2];
    int lowest = 0x7fffffff; // positions of the queries
    int highest = -1;
    // Every thread knows one of kThreads keys and which of their tiles somebody here sees.
    int64_t stretch = -kThreads; // the first of these keys
    int position = -1;
    int block = -1;
    uint32_t seen = 0; // a bit a tile, those that were taken are gone
    int turn = 0;
    float out[kColumns / 8][4] = {};
    float largest[2] = {-INFINITY, -INFINITY}; // in units of log2(e)
    float sum[2] = {};                         // of this lane's keys

    __device__ __forceinline__ uint32_t queryPair(int row, int column) const {
        if (q0 + row >= a.queries) {
            return 0;
        }
        const int64_t at = ((q0 + row) * a.num_heads + head) * HEAD + column;
        const float2 pair = a.is_half != 0
                                ? __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(
                                      reinterpret_cast<const __nv_bfloat16*>(a.q) + at))
                                : *reinterpret_cast<const float2*>(a.q + at);
        return halves(pair.x * a.scale, pair.y * a.scale);
    }
    __device__ __forceinline__ void loadQueries() {
        for (int i = threadIdx.x; i < kQueries * (kChunks - 2); i += kThreads) {
            const int row = i / (kChunks - 2);
            const int chunk = i % (kChunks - 2) + 2;
            uint4 values;
            values.x = queryPair(row, chunk * 8);
            values.y = queryPair(row, chunk * 8 + 2);
            values.z = queryPair(row, chunk * 8 + 4);
            values.w = queryPair(row, chunk * 8 + 6);
            *reinterpret_cast<uint4*>(q_tile + queryAt<kChunks>(row, chunk)) = values;
        }
        q_first[0] = queryPair(row0, (lane & 3) * 2);
        q_first[1] = queryPair(row0 + 8, (lane & 3) * 2);
        q_first[2] = queryPair(row0, (lane & 3) * 2 + 8);
        q_first[3] = queryPair(row0 + 8, (lane & 3) * 2 + 8);
    }
    /// The lowest and the highest position of all queries.
    __device__ __forceinline__ void findEnds() {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int64_t query = q0 + row0 + r * 8;
            const bool is_valid = query < a.queries;
            query_position[r] = is_valid ? a.query_position[query] : -1;
            query_block[r] = is_valid && has_blocks ? a.query_block[query] : -1;
            if (query_position[r] >= 0) {
                lowest = min(lowest, query_position[r]);
                highest = max(highest, query_position[r]);
            }
        }
#pragma unroll
        for (int lanes = 16; lanes >= 4; lanes /= 2) {
            lowest = min(lowest, __shfl_xor_sync(kAll, lowest, lanes));
            highest = max(highest, __shfl_xor_sync(kAll, highest, lanes));
        }
        if (lane == 0) {
            ends[warp] = {lowest, highest};
        }
        __syncthreads();
        for (int i = 0; i < kWarps; ++i) {
            lowest = min(lowest, ends[i].x);
            highest = max(highest, ends[i].y);
        }
    }

    /// The first key of the next tile that somebody sees, its positions in place `slot`.
    __device__ __forceinline__ int64_t findTile(int slot) {
        while (seen == 0) {
            stretch += kThreads;
            if (stretch >= a.keys) {
                return stretch;
            }
            const int64_t key = stretch + threadIdx.x;
            position = key < a.keys ? a.key_position[key] : -1;
            block = key < a.keys && has_blocks ? a.key_block[key] : -1;
            const bool is_seen = position >= 0 &&
                                 (a.is_causal == 0 || position <= highest || block >= 0) &&
                                 (a.window == 0 || position > lowest - a.window);
            const uint32_t votes = __ballot_sync(kAll, is_seen ? 1 : 0);
            uint32_t* words = seen_words + turn * 8; // in turns: the others may still read
            turn ^= 1;
            if (lane == 0) {
                words[warp] = ((votes & 0xffffU) != 0 ? 1U : 0U) | ((votes >> 16U) != 0 ? 2U : 0U);
            }
            __syncthreads();
            for (int i = 0; i < kWarps; ++i) {
                seen |= words[i] << (2 * i);
            }
        }
        const int tile = __ffs(static_cast<int>(seen)) - 1;
        seen &= seen - 1;
        const int key = static_cast<int>(threadIdx.x) - tile * kKeys;
        if (key >= 0 && key < kKeys) {
            key_positions[slot * kKeys + key] = position;
            key_blocks[slot * kKeys + key] = block;
        }
        return stretch + tile * kKeys;
    }
    __device__ __forceinline__ void fill(char* tile, const void* data, int64_t first, int slot) {
        fillTile<kKeys, HEAD, kThreads>(tile, data, a.rows, first, key_positions + slot * kKeys,
                                        kv_head);
    }

    /// One part: keys 0 to 7 and 8 to 15. Two: even and odd steps of 16 columns, so that no product
    /// waits for the one before.
    __device__ __forceinline__ void makeScores(float (&scores)[2][4]) const {
        uint32_t two_steps[4] = {};
#pragma unroll
        for (int kk = 0; kk < HEAD / 16; ++kk) {
            uint32_t fa[4] = {q_first[0], q_first[1], q_first[2], q_first[3]};
            if (kk > 0) {
                loadMatrix4(fa, sharedAddress(q_tile) + queryAt<kChunks>(group * 16 + (lane & 15),
                                                                         kk * 2 + (lane >> 4)));
            }
            if constexpr (kParts == 1) {
                uint32_t fb[4];
                loadMatrix4(fb, sharedAddress(k_tile) +
                                    chunkAt<kChunks>((lane & 7) + ((lane >> 4) << 3),
                                                     kk * 2 + ((lane >> 3) & 1)));
                multiplyAdd(scores[0], fa, fb[0], fb[1]);
                multiplyAdd(scores[1], fa, fb[2], fb[3]);
            } else {
                if (kk % 2 == 0) {
                    loadMatrix4(two_steps,
                                sharedAddress(k_tile) +
                                    chunkAt<kChunks>(part * 8 + (lane & 7), kk * 2 + (lane >> 3)));
                }
                multiplyAdd(scores[kk % 2], fa, two_steps[kk % 2 * 2], two_steps[kk % 2 * 2 + 1]);
            }
        }
        if constexpr (kParts == 2) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                scores[0][e] += scores[1][e];
            }
        }
    }

    /// Hides keys; gives the largest score of each row.
    __device__ __forceinline__ void
    maskScores(float (&scores)[2][4], float (&tile_max)[2], int slot) {
        tile_max[0] = -INFINITY;
        tile_max[1] = -INFINITY;
#pragma unroll
        for (int j = 0; j < kWarpKeys / 8; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int key = slot * kKeys + part * 8 + j * 8 + (lane & 3) * 2 + (e & 1);
                const int kp = key_positions[key];
                const int qp = query_position[e >> 1];
                bool is_visible = kp >= 0 && qp >= 0;
                if (a.is_causal != 0 && kp > qp) {
                    is_visible = is_visible && query_block[e >> 1] >= 0 &&
                                 query_block[e >> 1] == key_blocks[key];
                }
                is_visible = is_visible && (a.window == 0 || kp > qp - a.window);
                scores[j][e] = is_visible ? scores[j][e] * kLog2e : -INFINITY;
                tile_max[e >> 1] = fmaxf(tile_max[e >> 1], scores[j][e]);
            }
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            tile_max[r] = fmaxf(tile_max[r], __shfl_xor_sync(kAll, tile_max[r], 1));
            tile_max[r] = fmaxf(tile_max[r], __shfl_xor_sync(kAll, tile_max[r], 2));
        }
        if constexpr (kParts == 2) {
            if ((lane & 3) == 0) {
                maxima[warp * 8 + lane / 4] = make_float2(tile_max[0], tile_max[1]);
            }
            syncSome(1 + group, 64);
            const float2 other = maxima[(warp ^ 4) * 8 + lane / 4];
            tile_max[0] = fmaxf(tile_max[0], other.x);
            tile_max[1] = fmaxf(tile_max[1], other.y);
        }
    }

    /// Makes weights of the scores (where these lie in a warp is where a left operand lies); what
    /// is there so far shrinks where a larger score has come.
    __device__ __forceinline__ void
    weigh(const float (&scores)[2][4], const float (&tile_max)[2], uint32_t (&fp)[4]) {
        float correction[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const float most = fmaxf(largest[r], tile_max[r]);
            correction[r] = largest[r] == -INFINITY ? 0.0F : exp2f(largest[r] - most);
            largest[r] = most;
            sum[r] *= correction[r];
            const float base = most == -INFINITY ? 0.0F : most;
#pragma unroll
            for (int j = 0; j < kWarpKeys / 8; ++j) {
                const float w0 = exp2f(scores[j][2 * r] - base);
                const float w1 = exp2f(scores[j][2 * r + 1] - base);
                sum[r] += w0 + w1;
                fp[2 * j + r] = halves(w0, w1);
            }
        }
        if constexpr (kParts == 2) {
            weights[threadIdx.x] = make_uint2(fp[0], fp[1]);
        }
        // After the first tiles the largest scores rarely change.
        if (__any_sync(kAll, correction[0] != 1.0F || correction[1] != 1.0F ? 1 : 0) != 0) {
#pragma unroll
            for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    out[j][e] *= correction[e >> 1];
                }
            }
        }
    }
    /// For two parts: both warps then have the weights of all keys.
    __device__ __forceinline__ void shareWeights(uint32_t (&fp)[4]) const {
        if constexpr (kParts == 2) {
            const uint2 own = make_uint2(fp[0], fp[1]);
            const uint2 other = weights[threadIdx.x ^ 128U];
            fp[0] = part == 0 ? own.x : other.x;
            fp[1] = part == 0 ? own.y : other.y;
            fp[2] = part == 0 ? other.x : own.x;
            fp[3] = part == 0 ? other.y : own.y;
        }
    }
    __device__ __forceinline__ void addValues(const uint32_t (&fp)[4]) {
#pragma unroll
        for (int j = 0; j < kColumns / 16; ++j) {
            uint32_t fb[4];
            loadMatrix4Transposed(
                fb, sharedAddress(v_tile) +
                        chunkAt<kChunks>(lane & 15, part * (kColumns / 8) + j * 2 + (lane >> 4)));
            multiplyAdd(out[2 * j], fp, fb[0], fb[1]);
            multiplyAdd(out[2 * j + 1], fp, fb[2], fb[3]);
        }
    }

    __device__ __forceinline__ void store() {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            sum[r] += __shfl_xor_sync(kAll, sum[r], 1);
            sum[r] += __shfl_xor_sync(kAll, sum[r], 2);
        }
        if constexpr (kParts == 2) {
            if ((lane & 3) == 0) {
                maxima[warp * 8 + lane / 4] = make_float2(sum[0], sum[1]);
            }
            syncSome(1 + group, 64);
            const float2 other = maxima[(warp ^ 4) * 8 + lane / 4];
            sum[0] += other.x;
            sum[1] += other.y;
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int64_t query = q0 + row0 + r * 8;
            if (query >= a.queries) {
                continue;
            }
            const float inverse = sum[r] > 0.0F ? 1.0F / sum[r] : 0.0F;
            const int64_t at =
                (query * a.num_heads + head) * HEAD + part * kColumns + (lane & 3) * 2;
            if (a.is_half != 0) {
                __nv_bfloat16* to = reinterpret_cast<__nv_bfloat16*>(a.out) + at;
#pragma unroll
                for (int j = 0; j < kColumns / 8; ++j) {
                    *reinterpret_cast<__nv_bfloat162*>(to + j * 8) =
                        __floats2bfloat162_rn(out[j][2 * r] * inverse, out[j][2 * r + 1] * inverse);
                }
                continue;
            }
            float* to = a.out + at;
#pragma unroll
            for (int j = 0; j < kColumns / 8; ++j) {
                *reinterpret_cast<float2*>(to + j * 8) =
                    make_float2(out[j][2 * r] * inverse, out[j][2 * r + 1] * inverse);
            }
        }
    }

    __device__ __forceinline__ void run() {
        loadQueries();
        findEnds();
        int slot = 0;
        int64_t first = findTile(0);
        __syncthreads();
        if (first < a.keys) {
            fill(k_tile, a.k, first, 0);
        }
        while (first < a.keys) {
            waitForCopyGroups<0>();
            __syncthreads(); // the keys are there, and nobody reads the last values any more
            fill(v_tile, a.v, first, slot);
            const int64_t next = findTile(slot ^ 1);
            float scores[2][4] = {};
            float tile_max[2];
            uint32_t fp[4];
            makeScores(scores);
            maskScores(scores, tile_max, slot);
            weigh(scores, tile_max, fp);
            waitForCopyGroups<0>();
            __syncthreads(); // the values are there, and nobody reads the keys any more
            slot ^= 1;
            first = next;
            if (first < a.keys) {
                fill(k_tile, a.k, first, slot);
            }
            shareWeights(fp);
            addValues(fp);
        }
        store();
    }
};
#endif

template <int HEAD>
__device__ __forceinline__ void flashSmall(const AttentionKernelArgs& a) {
#if __CUDA_ARCH__ >= 800
    FlashSmall<HEAD>{a}.run();
#endif
}

} // namespace

extern "C" {

// grid (ceil(queries / 64), num_heads), block head / 2, shared memory: flashSmallBytes(head).
__global__ void __launch_bounds__(128, 2)
    belfry_flash_small_256(const __grid_constant__ AttentionKernelArgs a) {
    flashSmall<256>(a);
}
__global__ void __launch_bounds__(256, 1)
    belfry_flash_small_512(const __grid_constant__ AttentionKernelArgs a) {
    flashSmall<512>(a);
}

} // extern "C"
