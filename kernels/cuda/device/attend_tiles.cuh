// SPDX-License-Identifier: Apache-2.0
// Attention step of a decoded token inside the kernel that runs the whole token: head norms and
// RoPE, the store of the new key and value, and the softmax-weighted sum over one range of cache
// rows. Few ranges are left as parts that the next step merges while it reads its input; many are
// merged here, behind one more grid-wide barrier.
//
// A part is one range of rows for up to eight heads of one kv head: a row is read once for all of
// them. Rows travel into shared memory as tiles, the first ones before the wait: they are
// constants of the tokens before. Only the new token's row is not: its key and value are made here
// (or read after the wait, by layers that use another's cache) and put into the tile.
//
// Products run on tensor cores in bf16 without losing what bf16 loses: a query is the sum of two
// bf16 numbers (heads are 8 of the 16 rows of an operand, the second numbers are the other 8), and
// so is a softmax weight; keys and values are bf16 in the cache. A warp takes 16 keys of a tile and
// 64 elements of the head: the dot products of one group of keys are summed over the warps of its
// elements through shared memory, and every group of keys keeps its own maximum until the end.
#pragma once

#include "kernels/cuda/device/attend_range.cuh"
#include "kernels/cuda/device/grid_barrier.cuh"
#include "kernels/cuda/device/project_input.cuh"

namespace kernels::cuda {

constexpr int kTileMaxHead = 512;
constexpr int kTileMaxGroups = 16;

struct TileShared {
    float turns[kTileMaxHead];    // [dim / 2] cosine, [dim / 2] sine
    float norms[2][kTileMaxHead]; // of queries and keys
    // bf16 [16, dim] at the tile's pitch: rows of heads, then what they lack
    uint4 query[16 * tilePitch(kTileMaxHead) / 16];
    uint4 new_row[2][kTileMaxHead / 8];       // bf16 key and value of the new token
    float scores[2560];                       // [element groups, heads, keys + 8]
    float mask[2][256];                       // of a stage's keys: 0 or -infinity
    float2 stats[kTileMaxGroups][kTileHeads]; // maximum and sum of a group of keys
};

static_assert(sizeof(TileShared) == kTileSharedBytes, "the host plans with this size");

/// Two values as bf16, the first one in the low half.
__device__ __forceinline__ uint32_t packBf16(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
}

/// Four values as bf16, and what is lost by it as bf16 again.
__device__ __forceinline__ void splitFour(const float4& v, uint2& high, uint2& low) {
    high.x = packBf16(v.x, v.y);
    high.y = packBf16(v.z, v.w);
    low.x =
        packBf16(v.x - __uint_as_float(high.x << 16), v.y - __uint_as_float(high.x & 0xffff0000U));
    low.y =
        packBf16(v.z - __uint_as_float(high.y << 16), v.w - __uint_as_float(high.y & 0xffff0000U));
}

/// One warp: rms norm of a head that another block has written, then half-split RoPE and scale;
/// store(j, four) takes elements j to j + 3. norm, turns: shared memory or nullptr for none.
template <typename Store>
__device__ __forceinline__ void normedHead(const float* from,
                                           int dim,
                                           const float* norm,
                                           const float* turns,
                                           float eps,
                                           float scale,
                                           const Store& store) {
    const int half = dim / 2;
    const int first = (threadIdx.x & 31) * 4;
    float4 a[2];
    float4 b[2];
    float sum = 0.0F;
#pragma unroll
    for (int v = 0; v < 2; ++v) {
        const int j = first + v * 128;
        a[v] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        b[v] = a[v];
        if (j < half) {
            a[v] = loadFour(from + j);
            b[v] = loadFour(from + j + half);
        }
    }
#pragma unroll
    for (int v = 0; v < 2; ++v) {
        sum += sumOfSquares(a[v]) + sumOfSquares(b[v]);
    }
    const float inverse = rsqrtf(warpSum(sum) / static_cast<float>(dim) + eps);
#pragma unroll
    for (int v = 0; v < 2; ++v) {
        const int j = first + v * 128;
        if (j < half) {
            float x[4] = {a[v].x, a[v].y, a[v].z, a[v].w};
            float y[4] = {b[v].x, b[v].y, b[v].z, b[v].w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                x[i] *= inverse;
                y[i] *= inverse;
                if (norm != nullptr) {
                    x[i] *= norm[j + i];
                    y[i] *= norm[j + half + i];
                }
                if (turns != nullptr) {
                    const float cosine = turns[j + i];
                    const float sine = turns[half + j + i];
                    const float turned = x[i] * cosine - y[i] * sine;
                    y[i] = y[i] * cosine + x[i] * sine;
                    x[i] = turned;
                }
            }
            store(j, make_float4(x[0] * scale, x[1] * scale, x[2] * scale, x[3] * scale));
            store(j + half, make_float4(y[0] * scale, y[1] * scale, y[2] * scale, y[3] * scale));
        }
    }
}

/// One block's range of cache rows for one group of heads.
template <int THREADS>
struct TilePart {
    static_assert(THREADS >= kTileMaxHead / 2, "a thread prepares one element at most");
    const AttendStepKernelArgs& a;
    TileShared& s;
    char* tiles; // [stages, 2 (keys, values), keys, pitch]
    int dim, dim_shift, pitch;
    int keys; // of a tile
    int heads, head0, kv_head;
    int rows, first_row; // in reach; cache row of the first
    int begin, end;      // this part, counted from first_row
    int position, slot;
    int new_key; // the new token, counted from first_row

    __device__ __forceinline__ char* keyTile(int stage) const {
        return tiles + stage * 2 * keys * pitch;
    }

    /// Cache row of key i; rows behind the last one are the first ones.
    __device__ __forceinline__ int rowOf(int i) const {
        const int row = first_row + i;
        return row < a.capacity ? row : row - a.capacity;
    }

    /// Asks for keys first to first + keys - 1 and notes which of them are visible.
    __device__ __forceinline__ void fetch(int first, int stage) {
        const int chunk_shift = dim_shift - 3; // 16 bytes each
        char* const to = keyTile(stage);
#pragma unroll 1
        for (int c = threadIdx.x; c < keys << chunk_shift; c += THREADS) {
            const int key = c >> chunk_shift;
            const int at = (c & ((1 << chunk_shift) - 1)) * 16;
            const bool is_there = first + key < end;
            const int64_t row =
                static_cast<int64_t>(rowOf(is_there ? first + key : begin)) * a.num_kv_heads +
                kv_head;
            const int64_t from = (row << dim_shift) * 2 + at;
            const uint32_t place = sharedAddress(to + key * pitch + at);
            copyAsync16(place, static_cast<const char*>(a.cache_k) + from, is_there);
            copyAsync16(place + keys * pitch, static_cast<const char*>(a.cache_v) + from, is_there);
        }
        for (int i = threadIdx.x; i < keys; i += THREADS) {
            // In a ring, rows in reach are the positions up to this one.
            bool is_visible = first + i == new_key || (a.is_ring != 0 && first + i < end);
            if (a.is_ring == 0 && !is_visible && first + i < end) {
                const int at = a.key_position[rowOf(first + i)];
                is_visible =
                    at >= 0 && at <= position && (a.window == 0 || at > position - a.window);
            }
            s.mask[stage][i] = is_visible ? 0.0F : -INFINITY;
        }
    }

    /// What the tile's copies could not bring: the new token's row; zeros for hidden values, which
    /// may be anything, NaN included.
    __device__ __forceinline__ void complete(int first, int stage) {
        char* const tile = keyTile(stage);
        const int chunks = dim / 8;
        const int local = new_key - first;
        if (local >= 0 && local < keys && new_key < end) {
            for (int c = threadIdx.x; c < 2 * chunks; c += THREADS) {
                const int which = c >= chunks ? 1 : 0;
                const int at = c - which * chunks;
                *reinterpret_cast<uint4*>(tile + (which * keys + local) * pitch + at * 16) =
                    s.new_row[which][at];
            }
        }
        for (int i = threadIdx.x; i < keys && first + i < end; i += THREADS) {
            if (s.mask[stage][i] != 0.0F) { // as this thread has found in fetch()
                for (int c = 0; c < chunks; ++c) {
                    *reinterpret_cast<uint4*>(tile + (keys + i) * pitch + c * 16) =
                        make_uint4(0, 0, 0, 0);
                }
            }
        }
    }

    /// Queries of the heads, and the new row where this part holds it. Needs the step before.
    __device__ __forceinline__ void prepareHeads() {
        const int warp = threadIdx.x / 32;
        if (warp < heads) {
            char* const row = reinterpret_cast<char*>(s.query) + warp * pitch;
            normedHead(a.q + ((head0 + warp) << dim_shift), dim, s.norms[0], s.turns, a.eps,
                       a.scale, [&](int j, const float4& v) {
                           uint2 high;
                           uint2 low;
                           splitFour(v, high, low);
                           *reinterpret_cast<uint2*>(row + 2 * j) = high;
                           *reinterpret_cast<uint2*>(row + kTileHeads * pitch + 2 * j) = low;
                       });
        } else if (warp < heads + 2 && new_key >= begin && new_key < end) {
            const bool is_key = warp == heads;
            char* const to = reinterpret_cast<char*>(s.new_row[is_key ? 0 : 1]);
            char* const cache =
                static_cast<char*>(is_key ? a.cache_k : a.cache_v) +
                (((static_cast<int64_t>(slot) * a.num_kv_heads + kv_head) << dim_shift) * 2);
            if (a.k == nullptr) {
                for (int c = threadIdx.x & 31; c < dim / 8; c += 32) {
                    *reinterpret_cast<uint4*>(to + c * 16) =
                        __ldcg(reinterpret_cast<const uint4*>(cache + c * 16));
                }
                return;
            }
            // The first group of a kv head's heads stores.
            const bool stores = head0 % (a.num_heads / a.num_kv_heads) == 0;
            normedHead((is_key ? a.k : a.v) + (kv_head << dim_shift), dim,
                       is_key ? s.norms[1] : nullptr, is_key ? s.turns : nullptr, a.eps, 1.0F,
                       [&](int j, const float4& v) {
                           const uint2 bits = make_uint2(packBf16(v.x, v.y), packBf16(v.z, v.w));
                           *reinterpret_cast<uint2*>(to + 2 * j) = bits;
                           if (stores) {
                               *reinterpret_cast<uint2*>(cache + 2 * j) = bits;
                           }
                       });
        }
    }

    /// Columns and keys of this warp and this lane.
    struct Share {
        int lane;
        int dims; // of a warp
        int dim_groups, dim_group, key_group;
        int score_pitch;
    };

    /// What needs nothing of the step before: norms, turns, and the first tiles on their way.
    __device__ __forceinline__ void prepareStep() {
        // Loads of one round: a frequency or four norm weights a thread.
        const int thread = threadIdx.x;
        const float frequency = thread < dim / 2 ? a.inv_freq[thread] : 0.0F;
        float4 norm = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        const int norm_at = (thread & (kTileMaxHead / 4 - 1)) * 4;
        const bool is_key_norm = thread >= kTileMaxHead / 4;
        const bool has_norm = thread < kTileMaxHead / 2 && norm_at < dim;
        if (has_norm) {
            norm = loadFour(is_key_norm ? a.k_norm : a.q_norm, norm_at);
        }
        for (int i = 0; i < a.stages; ++i) {
            if (begin + i * keys < end) {
                fetch(begin + i * keys, i);
            }
            commitCopies(); // an empty group counts as well
        }
        if (has_norm) {
            *reinterpret_cast<float4*>(&s.norms[is_key_norm ? 1 : 0][norm_at]) = norm;
        }
        if (thread < dim / 2) {
            float sine = 0.0F;
            float cosine = 0.0F;
            sincosf(__fmul_rn(static_cast<float>(position + a.turn), frequency), &sine, &cosine);
            s.turns[thread] = cosine;
            s.turns[dim / 2 + thread] = sine;
        }
    }

    /// Scores of 16 keys and all heads over this warp's columns.
    __device__ __forceinline__ void
    makeScores(const Share& m, float* score, uint32_t query_at, uint32_t key_at) {
        float dot[2][4] = {};
#pragma unroll
        for (int k = 0; k < kTileDims / 16; ++k) {
            if (k * 16 < m.dims) {
                uint32_t q[4];
                uint32_t row[4];
                loadMatrix4(q, query_at + k * 32);
                loadMatrix4(row, key_at + k * 32);
                multiplyAdd(dot[0], q, row[0], row[1]);
                multiplyAdd(dot[1], q, row[2], row[3]);
            }
        }
#pragma unroll
        for (int n = 0; n < 2; ++n) {
            *reinterpret_cast<float2*>(score + m.dim_group * kTileHeads * m.score_pitch + n * 8) =
                make_float2(dot[n][0] + dot[n][2], dot[n][1] + dot[n][3]);
        }
    }

    /// Weights of this lane's four keys, for the head lane / 4; returns what the sums so far are
    /// to be multiplied by.
    __device__ __forceinline__ float weigh(const Share& m,
                                           const float* score,
                                           int stage,
                                           float (&weight)[4],
                                           float& largest,
                                           float& sum) {
#pragma unroll 4
        for (int g = 0; g < m.dim_groups; ++g) {
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const float2 pair = *reinterpret_cast<const float2*>(
                    score + g * kTileHeads * m.score_pitch + n * 8);
                weight[2 * n] += pair.x;
                weight[2 * n + 1] += pair.y;
            }
        }
        const float* const mask = s.mask[stage] + m.key_group * 16 + (m.lane & 3) * 2;
        float next = largest;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            // What was computed for a hidden key may be anything, NaN included.
            weight[i] = mask[(i >> 1) * 8 + (i & 1)] == 0.0F ? weight[i] : -INFINITY;
            next = fmaxf(next, weight[i]);
        }
        next = fmaxf(next, __shfl_xor_sync(0xffffffffU, next, 1));
        next = fmaxf(next, __shfl_xor_sync(0xffffffffU, next, 2));
        const float correction = largest == -INFINITY ? 0.0F : expf(largest - next);
        largest = next;
        sum *= correction;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            weight[i] = weight[i] == -INFINITY ? 0.0F : expf(weight[i] - next);
            sum += weight[i];
        }
        return correction;
    }

    __device__ __forceinline__ void addValues(const Share& m,
                                              const float (&weight)[4],
                                              float correction,
                                              uint32_t value_at,
                                              float (&out)[kTileDims / 16][4]) {
        uint2 high;
        uint2 low;
        splitFour(make_float4(weight[0], weight[1], weight[2], weight[3]), high, low);
        // The sums below are of heads 2 (lane % 4) and the next.
        const float even = __shfl_sync(0xffffffffU, correction, (m.lane & 3) * 8);
        const float odd = __shfl_sync(0xffffffffU, correction, (m.lane & 3) * 8 + 4);
#pragma unroll
        for (int i = 0; i < kTileDims / 16; ++i) {
            if (i * 16 < m.dims) {
                uint32_t value[4];
                loadMatrix4Transposed(value, value_at + i * 32);
                // Transposed: element pairs of a head are rows, keys columns.
                const uint32_t v[4] = {value[0], value[1], value[2], value[3]};
                out[i][0] *= even;
                out[i][1] *= odd;
                out[i][2] *= even;
                out[i][3] *= odd;
                multiplyAdd(out[i], v, high.x, high.y);
                multiplyAdd(out[i], v, low.x, low.y);
            }
        }
    }

    /// The groups of keys together, over the tiles' memory: no copy is under way any more.
    __device__ __forceinline__ void joinGroups(const Share& m,
                                               bool is_active,
                                               int split,
                                               float largest,
                                               float sum,
                                               const float (&out)[kTileDims / 16][4]) {
        float* const sums = reinterpret_cast<float*>(tiles);
        const int sum_pitch = dim + 4;
        if (is_active) {
            if (m.dim_group == 0 && (m.lane & 3) == 0) {
                s.stats[m.key_group][m.lane >> 2] = make_float2(largest, sum);
            }
            float* const to = sums + (m.key_group * kTileHeads + (m.lane & 3) * 2) * sum_pitch +
                              m.dim_group * m.dims + (m.lane >> 2);
#pragma unroll
            for (int i = 0; i < kTileDims / 16; ++i) {
                if (i * 16 < m.dims) {
                    to[i * 16] = out[i][0];
                    to[i * 16 + sum_pitch] = out[i][1];
                    to[i * 16 + 8] = out[i][2];
                    to[i * 16 + 8 + sum_pitch] = out[i][3];
                }
            }
        }
        __syncthreads();
        float2* const tails = reinterpret_cast<float2*>(
            a.partial + ((static_cast<int64_t>(a.num_heads) * a.range.splits) << dim_shift));
#pragma unroll 1
        for (int i = threadIdx.x; i < heads << (dim_shift - 2); i += THREADS) {
            const int h = i >> (dim_shift - 2);
            const int d = (i & ((dim >> 2) - 1)) * 4;
            float most = -INFINITY;
            for (int g = 0; g < a.key_groups; ++g) {
                most = fmaxf(most, s.stats[g][h].x);
            }
            float4 total = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
            float all = 0.0F;
#pragma unroll 4
            for (int g = 0; g < a.key_groups; ++g) {
                const float2 stats = s.stats[g][h];
                const float factor = stats.x == -INFINITY ? 0.0F : expf(stats.x - most);
                const float4 part =
                    *reinterpret_cast<const float4*>(sums + (g * kTileHeads + h) * sum_pitch + d);
                all = fmaf(factor, stats.y, all);
                total.x = fmaf(factor, part.x, total.x);
                total.y = fmaf(factor, part.y, total.y);
                total.z = fmaf(factor, part.z, total.z);
                total.w = fmaf(factor, part.w, total.w);
            }
            const int at = (head0 + h) * a.range.splits + split;
            *reinterpret_cast<float4*>(a.partial + (static_cast<int64_t>(at) << dim_shift) + d) =
                total;
            if (d == 0) {
                tails[at] = make_float2(most, all);
            }
        }
    }

    template <typename Wait>
    __device__ __forceinline__ void run(int group, int split, const Wait& wait) {
        const int warp = threadIdx.x / 32;
        Share m;
        m.lane = threadIdx.x & 31;
        m.dims = dim < kTileDims ? dim : kTileDims;
        m.dim_groups = dim / m.dims;
        m.dim_group = warp & (m.dim_groups - 1);
        m.key_group = warp >> (31 - __clz(m.dim_groups));
        m.score_pitch = keys + 8;
        const bool is_active = m.key_group < a.key_groups;
        const int lane = m.lane;
        prepareStep();
        wait();
        prepareHeads();

        float largest = -INFINITY; // of head lane / 4 among this group's keys so far
        float sum = 0.0F;          // this lane's keys only
        float out[kTileDims / 16][4] = {};
        // Where this lane points ldmatrix at: rows of queries; rows of keys or values.
        const uint32_t query_at = sharedAddress(s.query) + (lane & 15) * pitch + (lane >> 4) * 16 +
                                  m.dim_group * m.dims * 2;
        const int key_offset = (m.key_group * 16 + (lane & 7) + (lane >> 4) * 8) * pitch +
                               ((lane >> 3) & 1) * 16 + m.dim_group * m.dims * 2;
        int stage = 0;
#pragma unroll 1
        for (int first = begin; first < end; first += keys) {
            if (a.stages == 2) {
                waitForCopyGroups<1>();
            } else {
                waitForCopyGroups<0>();
            }
            __syncthreads();
            complete(first, stage);
            __syncthreads();
            const uint32_t key_at = sharedAddress(keyTile(stage)) + key_offset;
            float* const score =
                s.scores + (lane >> 2) * m.score_pitch + m.key_group * 16 + (lane & 3) * 2;
            if (is_active) {
                makeScores(m, score, query_at, key_at);
            }
            __syncthreads();
            if (is_active) {
                float weight[4] = {};
                const float correction = weigh(m, score, stage, weight, largest, sum);
                addValues(m, weight, correction, key_at + keys * pitch, out);
            }
            if (first + keys < end) {
                __syncthreads();
                if (first + a.stages * keys < end) {
                    fetch(first + a.stages * keys, stage);
                }
                commitCopies();
            }
            stage = a.stages == 2 ? stage ^ 1 : 0;
        }
        sum += __shfl_xor_sync(0xffffffffU, sum, 1);
        sum += __shfl_xor_sync(0xffffffffU, sum, 2);
        waitForCopies();
        __syncthreads();
        joinGroups(m, is_active, split, largest, sum, out);
    }
};

/// Merges the columns that fall to this block: sum over parts of exp(m - M) * part / L. All loads
/// of a column are under way at the same time. `sums`: [2 * THREADS] in shared memory.
template <int THREADS>
__device__ __forceinline__ void
mergeTiles(const AttendStepKernelArgs& a, float* sums, int parts, int block, int grid) {
    constexpr int kWarps = THREADS / 32;
    constexpr int kRounds = kMaxParts / 32;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim_shift = 31 - __clz(a.head_dim);
    const int width = a.head_dim < 32 ? a.head_dim : 32; // columns at a time: of one head
    const float2* const all_tails = reinterpret_cast<const float2*>(
        a.partial + ((static_cast<int64_t>(a.num_heads) * a.range.splits) << dim_shift));
#pragma unroll 1
    for (int first = block * width; first < a.num_heads << dim_shift; first += grid * width) {
        const int h = first >> dim_shift;
        const float2* const tails = all_tails + h * a.range.splits;
        const float* const from = a.partial +
                                  (static_cast<int64_t>(h * a.range.splits) << dim_shift) +
                                  (first & (a.head_dim - 1)) + (lane < width ? lane : 0);
        float2 tail[kRounds];
        float value[2 * kRounds];
#pragma unroll
        for (int i = 0; i < kRounds; ++i) {
            const int p = i * 32 + lane;
            tail[i] = p < parts ? __ldcg(tails + p) : make_float2(-INFINITY, 0.0F);
        }
#pragma unroll
        for (int i = 0; i < 2 * kRounds; ++i) {
            const int p = i * kWarps + warp;
            value[i] = p < parts ? __ldcg(from + (static_cast<int64_t>(p) << dim_shift)) : 0.0F;
        }
        float largest = -INFINITY;
#pragma unroll
        for (int i = 0; i < kRounds; ++i) {
            largest = fmaxf(largest, tail[i].x);
        }
        largest = warpMax(largest);
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < kRounds; ++i) {
            tail[i].x = tail[i].x == -INFINITY ? 0.0F : expf(tail[i].x - largest);
            sum = fmaf(tail[i].x, tail[i].y, sum);
        }
        sum = warpSum(sum);
        float total = 0.0F;
#pragma unroll
        for (int i = 0; i < 2 * kRounds; ++i) {
            // Part i * kWarps + warp: in round i / 2, since there are 16 warps.
            const int from_lane = (i & 1) * kWarps + warp;
            total = fmaf(__shfl_sync(0xffffffffU, tail[i / 2].x, from_lane), value[i], total);
        }
        sums[warp * 32 + lane] = total;
        __syncthreads();
        if (warp == 0 && lane < width) {
            total = 0.0F;
#pragma unroll
            for (int w = 0; w < kWarps; ++w) {
                total += sums[w * 32 + lane];
            }
            a.out[first + lane] = sum > 0.0F ? total / sum : 0.0F;
        }
        __syncthreads();
    }
}

/// The whole step of one resident block: its part where it has one, and its share of the merge
/// where there are more parts than the next step takes. `memory`: as planned, behind the table.
template <int THREADS>
__device__ __forceinline__ void attendTiles(
    const AttendStepKernelArgs& a, char* memory, int block, int grid, GridBarrier& barrier) {
    static_assert(THREADS == 512, "mergeTiles() deals parts out to 16 warps");
    TileShared& s = *reinterpret_cast<TileShared*>(memory);
    char* const tiles = memory + kTileSharedBytes;
    const int rows = attendRows(a.range);
    const int chunk = attendChunk(a.range, rows);
    const int parts = (rows + chunk - 1) / chunk;
    const int per_kv = a.num_heads / a.num_kv_heads;
    const int heads = per_kv < kTileHeads ? per_kv : kTileHeads;
    const int groups = a.num_heads / heads;
    const int group = block % groups;
    const int split = block / groups;
    if (split < parts) {
        const int slot = *a.slot;
        const int begin = split * chunk;
        int first_row = 0;
        if (a.is_ring != 0) {
            first_row = slot - rows + 1;
            first_row = first_row < 0 ? first_row + a.capacity : first_row;
        }
        TilePart<THREADS> part{a,
                               s,
                               tiles,
                               a.head_dim,
                               31 - __clz(a.head_dim),
                               tilePitch(a.head_dim),
                               a.range.tile,
                               heads,
                               group * heads,
                               group * heads / per_kv,
                               rows,
                               first_row,
                               begin,
                               begin + chunk < rows ? begin + chunk : rows,
                               *a.position,
                               slot,
                               a.is_ring != 0 ? rows - 1 : slot};
        part.run(group, split, [&] { barrier.wait(); });
    } else {
        barrier.wait();
    }
    if (parts > a.range.direct_splits) {
        barrier.arrive();
        barrier.wait();
        mergeTiles<THREADS>(a, reinterpret_cast<float*>(tiles), parts, block, grid);
    }
}

} // namespace kernels::cuda
