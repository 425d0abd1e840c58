// SPDX-License-Identifier: Apache-2.0
// Attention step of a decoded token in one launch: head norms and RoPE, the store of the new key
// and value, attention split over the key range, and the merge of the parts.
//
// grid (splits, num_heads / heads_per_block); a block serves up to four heads of one kv head and
// one range of cache rows. The new token's own key is never read back from the cache by the layer
// that owns it: split 0 stores it and adds its score from shared memory. Of rows with scales codes
// are multiplied: a key's scale belongs to its score, a value's to its weight.
#include "kernels/cuda/device/common/kv_codes.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kHeads = 4;     // heads a block serves at most
constexpr int kMaxHead = 512; // largest head_dim
constexpr int kTile = 128;    // keys whose weights are in shared memory at a time
constexpr int kAtOnce = 4;    // keys whose rows a warp has in flight

/// rms norm of one head in shared memory in place (is_normed), then half-split RoPE (turns nullptr:
/// none), then scale. One warp. turns: [dim / 2] cosine, [dim / 2] sine.
__device__ __forceinline__ void normAndTurn(float* head,
                                            int dim,
                                            bool is_normed,
                                            const float* norm,
                                            float eps,
                                            const float* turns,
                                            float scale) {
    const int lane = threadIdx.x & 31;
    float sum = 0.0F;
    for (int d = lane; d < dim; d += 32) {
        sum += head[d] * head[d];
    }
    const float squares = warpSum(sum);
    const float inverse = is_normed ? rsqrtf(squares / static_cast<float>(dim) + eps) : 1.0F;
    const int half = dim / 2;
    for (int j = lane; j < half; j += 32) {
        float a = head[j] * inverse;
        float b = head[j + half] * inverse;
        if (norm != nullptr) {
            a *= norm[j];
            b *= norm[j + half];
        }
        if (turns != nullptr) {
            const float cosine = turns[j];
            const float sine = turns[half + j];
            const float turned = a * cosine - b * sine;
            b = b * cosine + a * sine;
            a = turned;
        }
        head[j] = a * scale;
        head[j + half] = b * scale;
    }
    __syncwarp();
}

__device__ __forceinline__ void unpack8(const uint4& bits, float (&out)[8]) {
    const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        out[2 * i] = __uint_as_float(words[i] << 16);
        out[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000U);
    }
}

__device__ __forceinline__ void unpackCodes8(const uint4& bits, float (&out)[8]) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        out[i] =
            static_cast<float>(static_cast<int8_t>((i < 4 ? bits.x : bits.y) >> (8 * (i & 3))));
    }
}

/// The arrays in shared memory.
struct Shared {
    float (*query)[kMaxHead]; // [kHeads]
    float* new_key;
    float* new_value;
    float (*norms)[kMaxHead]; // of queries, of keys
    float* turns;
    float (*weights)[kTile]; // [kHeads]
    float (*running)[3];     // [kHeads]: max, sum, correction
};

/// Which heads and which rows of the cache are this block's.
struct Place {
    int dim, per_kv, heads, head0, kv_head;
    int position, count; // of the new token; rows of the cache
    int chunk, active;   // rows a split takes; splits that have any
    int split;
    bool is_owner, holds_new;
    int64_t base; // elements of a cached row before this head's
};

__device__ __forceinline__ void
normHeads(const AttendStepKernelArgs& a, const Shared& s, const Place& p) {
    const int warp = threadIdx.x / 32;
    // Everything the norms need in one round of loads.
    for (int i = threadIdx.x; i < p.heads * p.dim; i += kThreads) {
        s.query[i / p.dim][i % p.dim] = a.q[static_cast<int64_t>(p.head0) * p.dim + i];
    }
    for (int d = threadIdx.x; d < p.dim; d += kThreads) {
        s.norms[0][d] =
            a.q_norm.data == nullptr ? 1.0F : loadElement(a.q_norm.data, a.q_norm.type, d);
        if (p.holds_new) {
            s.norms[1][d] =
                a.k_norm.data == nullptr ? 1.0F : loadElement(a.k_norm.data, a.k_norm.type, d);
            s.new_key[d] = a.k[static_cast<int64_t>(p.kv_head) * p.dim + d];
            s.new_value[d] = a.v[static_cast<int64_t>(p.kv_head) * p.dim + d];
        }
    }
    const float at = static_cast<float>(p.position + a.turn);
    for (int j = threadIdx.x; j < p.dim / 2; j += kThreads) {
        float sine = 0.0F;
        float cosine = 0.0F;
        sincosf(__fmul_rn(at, a.inv_freq[j]), &sine, &cosine);
        s.turns[j] = cosine;
        s.turns[p.dim / 2 + j] = sine;
    }
    if (threadIdx.x < kHeads) {
        s.running[threadIdx.x][0] = -INFINITY;
        s.running[threadIdx.x][1] = 0.0F;
    }
    __syncthreads();
    if (warp < p.heads) {
        normAndTurn(s.query[warp], p.dim, a.q_norm.data != nullptr, s.norms[0], a.eps, s.turns,
                    a.scale);
    } else if (p.holds_new && warp == kWarps - 2) {
        normAndTurn(s.new_key, p.dim, a.k_norm.data != nullptr, s.norms[1], a.eps, s.turns, 1.0F);
    } else if (p.holds_new && warp == kWarps - 1) {
        normAndTurn(s.new_value, p.dim, a.norms_values != 0, nullptr, a.eps, nullptr, 1.0F);
    }
    __syncthreads();
}

/// One warp stores `head` as codes, and leaves it as it will be read back.
__device__ __forceinline__ void storeNewCodes(
    const AttendStepKernelArgs& a, const Place& p, bool stores, float* head, void* cache) {
    const int lane = threadIdx.x & 31;
    char* const row = static_cast<char*>(cache) + static_cast<int64_t>(*a.slot) * a.rows.bytes;
    uint32_t largest = 0;
    for (int d = lane; d < p.dim; d += 32) {
        largest = max(largest, magnitudeOf(head[d]));
    }
    const KvCoder coder(warpMaxBits(largest));
    for (int d = lane; d < p.dim; d += 32) {
        const uint32_t code = coder.code(head[d]);
        head[d] = static_cast<float>(static_cast<int8_t>(code)) * coder.scale;
        if (stores) {
            row[p.base + d] = static_cast<char>(code);
        }
    }
    if (stores && lane == 0) {
        *reinterpret_cast<float*>(row + a.rows.scales_at + 4 * p.kv_head) = coder.scale;
    }
}

/// As it will be read back: rounded to the cache's type.
template <bool HAS_SCALES>
__device__ __forceinline__ void
storeNewKey(const AttendStepKernelArgs& a, const Shared& s, const Place& p) {
    const bool stores = p.head0 % p.per_kv == 0;
    if (HAS_SCALES) {
        if (threadIdx.x < 32) {
            storeNewCodes(a, p, stores, s.new_key, a.cache_k);
        } else if (threadIdx.x < 64) {
            storeNewCodes(a, p, stores, s.new_value, a.cache_v);
        }
        __syncthreads();
        return;
    }
    const int64_t row = static_cast<int64_t>(*a.slot) * a.num_kv_heads * p.dim + p.base;
    for (int d = threadIdx.x; d < p.dim; d += kThreads) {
        const __nv_bfloat16 k = __float2bfloat16_rn(s.new_key[d]);
        const __nv_bfloat16 v = __float2bfloat16_rn(s.new_value[d]);
        s.new_key[d] = __bfloat162float(k);
        s.new_value[d] = __bfloat162float(v);
        if (stores) {
            static_cast<__nv_bfloat16*>(a.cache_k)[row + d] = k;
            static_cast<__nv_bfloat16*>(a.cache_v)[row + d] = v;
        }
    }
    __syncthreads();
}

/// Scores of the keys `first` to `first + tile` and the queries `q`. Four keys a warp at a time,
/// their rows loaded before anything is asked of them: a row is in the cache's memory whether it is
/// visible or not.
template <int VECTORS, bool HAS_SCALES>
__device__ __forceinline__ void scoreTile(const AttendStepKernelArgs& a,
                                          const Shared& s,
                                          const Place& p,
                                          const float (&q)[kHeads][VECTORS][8],
                                          int first,
                                          int tile) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    for (int i0 = warp * kAtOnce; i0 < tile; i0 += kWarps * kAtOnce) {
        uint4 rows[kAtOnce][VECTORS];
        int key_position[kAtOnce];
        float scale[kAtOnce];
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
            const int key = first + (i0 + j < tile ? i0 + j : i0);
            key_position[j] = a.key_position[key];
            scale[j] = HAS_SCALES ? kvScaleOf(a.rows, a.cache_k, key, p.kv_head) : 1.0F;
            const char* const row = kvRow(a.rows, a.cache_k, key);
#pragma unroll
            for (int v = 0; v < VECTORS; ++v) {
                const int d = (v * 32 + lane) * 8;
                rows[j][v] = make_uint4(0, 0, 0, 0);
                if (HAS_SCALES && d < p.dim) {
                    const uint2 codes = *reinterpret_cast<const uint2*>(row + p.base + d);
                    rows[j][v].x = codes.x;
                    rows[j][v].y = codes.y;
                } else if (d < p.dim) {
                    rows[j][v] = *reinterpret_cast<const uint4*>(row + 2 * (p.base + d));
                }
            }
        }
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
            if (i0 + j >= tile) {
                continue;
            }
            const bool is_new = p.is_owner && key_position[j] == p.position;
            const bool is_visible = key_position[j] >= 0 && key_position[j] <= p.position &&
                                    !is_new &&
                                    (a.window == 0 || key_position[j] > p.position - a.window);
            float dots[kHeads] = {};
#pragma unroll
            for (int v = 0; v < VECTORS; ++v) {
                float k[8];
                if (HAS_SCALES) {
                    unpackCodes8(rows[j][v], k);
                } else {
                    unpack8(rows[j][v], k);
                }
#pragma unroll
                for (int h = 0; h < kHeads; ++h) {
#pragma unroll
                    for (int e = 0; e < 8; ++e) {
                        dots[h] = fmaf(q[h][v][e], k[e], dots[h]);
                    }
                }
            }
#pragma unroll
            for (int h = 0; h < kHeads; ++h) {
                const float dot = warpSum(dots[h]) * scale[j];
                if (lane == h) {
                    s.weights[h][i0 + j] = is_visible ? dot : -INFINITY;
                }
            }
        }
    }
}

/// Softmax weights of the tile, times the scales of their values; warp h serves head h. The new key
/// counts as one more.
template <bool HAS_SCALES>
__device__ __forceinline__ void weighTile(const AttendStepKernelArgs& a,
                                          const Shared& s,
                                          const Place& p,
                                          bool is_with_new,
                                          int first,
                                          int tile) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    if (warp < p.heads) {
        float largest = -INFINITY;
        for (int i = lane; i < tile; i += 32) {
            largest = fmaxf(largest, s.weights[warp][i]);
        }
        largest = warpMax(largest);
        float own = -INFINITY;
        if (is_with_new) {
            float dot = 0.0F;
            for (int d = lane; d < p.dim; d += 32) {
                dot = fmaf(s.query[warp][d], s.new_key[d], dot);
            }
            own = warpSum(dot);
            largest = fmaxf(largest, own);
        }
        const float before = s.running[warp][0];
        const float next = fmaxf(before, largest);
        float sum = 0.0F;
        for (int i = lane; i < tile; i += 32) {
            const float score = s.weights[warp][i];
            const float weight = score == -INFINITY ? 0.0F : expf(score - next);
            sum += weight;
            s.weights[warp][i] = HAS_SCALES && weight != 0.0F
                                     ? weight * kvScaleOf(a.rows, a.cache_v, first + i, p.kv_head)
                                     : weight;
        }
        sum = warpSum(sum);
        if (lane == 0) {
            const float correction = before == -INFINITY ? 0.0F : expf(before - next);
            const float own_weight = own == -INFINITY ? 0.0F : expf(own - next);
            s.running[warp][0] = next;
            s.running[warp][1] = s.running[warp][1] * correction + sum + own_weight;
            s.running[warp][2] = correction;
            if (is_with_new) {
                // Kept in the query row's first element: q is in registers from here on.
                s.query[warp][0] = own_weight;
            }
        }
    }
}

/// Adds the tile's values to the two columns `pair` of a thread, of every groups-th key.
template <bool HAS_SCALES>
__device__ __forceinline__ void addValues(const AttendStepKernelArgs& a,
                                          const Shared& s,
                                          const Place& p,
                                          bool is_with_new,
                                          int first,
                                          int tile,
                                          int groups,
                                          float (&out)[kHeads][2]) {
    const int group = threadIdx.x / (p.dim / 2);
    const int pair = threadIdx.x % (p.dim / 2);
    const int64_t column = p.base + 2 * pair;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
        const float correction = h < p.heads ? s.running[h][2] : 0.0F;
        out[h][0] *= correction;
        out[h][1] *= correction;
    }
    if (is_with_new && group == 0) {
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
            const float weight = h < p.heads ? s.query[h][0] : 0.0F;
            out[h][0] = fmaf(weight, s.new_value[2 * pair], out[h][0]);
            out[h][1] = fmaf(weight, s.new_value[2 * pair + 1], out[h][1]);
        }
    }
#pragma unroll 8
    for (int i = group; i < tile; i += groups) {
        const char* const row = kvRow(a.rows, a.cache_v, first + i);
        float v0 = 0.0F;
        float v1 = 0.0F;
        if (HAS_SCALES) {
            const auto codes = *reinterpret_cast<const uint16_t*>(row + column);
            v0 = static_cast<float>(static_cast<int8_t>(codes));
            v1 = static_cast<float>(static_cast<int8_t>(codes >> 8));
        } else {
            const uint32_t bits = *reinterpret_cast<const uint32_t*>(row + 2 * column);
            v0 = __uint_as_float(bits << 16);
            v1 = __uint_as_float(bits & 0xffff0000U);
        }
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
            const float weight = h < p.heads ? s.weights[h][i] : 0.0F;
            // An empty or hidden row may hold anything, NaN included.
            if (weight != 0.0F) {
                out[h][0] = fmaf(weight, v0, out[h][0]);
                out[h][1] = fmaf(weight, v1, out[h][1]);
            }
        }
    }
}

/// What the block alone has to give where no other has rows, else its part for the merge.
__device__ __forceinline__ void
storeWhole(const AttendStepKernelArgs& a, const Shared& s, const Place& p) {
    for (int i = threadIdx.x; i < p.heads * p.dim; i += kThreads) {
        const int h = i / p.dim;
        const float sum = s.running[h][1];
        a.out[static_cast<int64_t>(p.head0) * p.dim + i] =
            sum > 0.0F ? s.query[h][i - h * p.dim] / sum : 0.0F;
    }
}
__device__ __forceinline__ void
storePart(const AttendStepKernelArgs& a, const Shared& s, const Place& p) {
    const int span = p.dim + 2;
    for (int i = threadIdx.x; i < p.heads * p.dim; i += kThreads) {
        const int h = i / p.dim;
        a.partial[(static_cast<int64_t>(p.head0 + h) * a.splits + p.split) * span + i - h * p.dim] =
            s.query[h][i - h * p.dim];
    }
    if (threadIdx.x < p.heads) {
        float* tail = a.partial +
                      (static_cast<int64_t>(p.head0 + threadIdx.x) * a.splits + p.split) * span +
                      p.dim;
        tail[0] = s.running[threadIdx.x][0];
        tail[1] = s.running[threadIdx.x][1];
    }
}

/// All blocks of this group of heads meet (they are few enough to run at the same time). The last
/// to leave resets both counters.
__device__ __forceinline__ void meet(const AttendStepKernelArgs& a, const Place& p) {
    __threadfence();
    __syncthreads();
    int32_t* arrived = a.counter + 2 * blockIdx.y;
    int32_t* left = arrived + 1;
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < p.active) {
        }
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(left, 1) == p.active - 1) {
        *arrived = 0;
        *left = 0;
    }
}

/// Each block merges its share of the columns of all parts.
__device__ __forceinline__ void
mergeParts(const AttendStepKernelArgs& a, const Shared& s, const Place& p) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int span = p.dim + 2;
    // Factor of each split: weights[h][s].
    if (warp < p.heads) {
        const float* head = a.partial + static_cast<int64_t>(p.head0 + warp) * a.splits * span;
        float m[4];
        float l[4];
        float largest = -INFINITY;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int part = lane + 32 * j;
            m[j] = part < p.active ? __ldcg(head + part * span + p.dim) : -INFINITY;
            l[j] = part < p.active ? __ldcg(head + part * span + p.dim + 1) : 0.0F;
            largest = fmaxf(largest, m[j]);
        }
        largest = warpMax(largest);
        float sum = 0.0F;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float factor = m[j] == -INFINITY ? 0.0F : expf(m[j] - largest);
            if (lane + 32 * j < kTile) {
                s.weights[warp][lane + 32 * j] = factor;
            }
            sum += factor * l[j];
        }
        sum = warpSum(sum);
        if (lane == 0) {
            s.running[warp][1] = sum;
        }
    }
    __syncthreads();
    // Columns of all heads of the block, dealt out to the splits; eight threads share a column.
    const int columns = p.heads * p.dim;
    const int share = (columns + p.active - 1) / p.active;
    const int from = p.split * share;
    const int to = from + share < columns ? from + share : columns;
    const int sub = threadIdx.x & 7;
    for (int first = from; first < to; first += kThreads / 8) {
        const int i = first + threadIdx.x / 8;
        float total = 0.0F;
        if (i < to) {
            const int h = i / p.dim;
            const float* column =
                a.partial + static_cast<int64_t>(p.head0 + h) * a.splits * span + i - h * p.dim;
#pragma unroll 8
            for (int part = sub; part < p.active; part += 8) {
                const float factor = s.weights[h][part];
                const float value = __ldcg(column + part * span);
                total += factor == 0.0F ? 0.0F : factor * value;
            }
        }
        total += __shfl_xor_sync(0xffffffffU, total, 1);
        total += __shfl_xor_sync(0xffffffffU, total, 2);
        total += __shfl_xor_sync(0xffffffffU, total, 4);
        if (i < to && sub == 0) {
            const float sum = s.running[i / p.dim][1];
            a.out[static_cast<int64_t>(p.head0) * p.dim + i] = sum > 0.0F ? total / sum : 0.0F;
        }
    }
}

/// VECTORS: 8-element vectors of a head that one lane holds (head_dim <= 256 * VECTORS).
template <int VECTORS, bool HAS_SCALES>
__device__ __forceinline__ void attendRows(const AttendStepKernelArgs& a, const Shared& s) {
    const int lane = threadIdx.x & 31;
    Place p;
    p.dim = a.head_dim;
    p.per_kv = a.num_heads / a.num_kv_heads;
    p.heads = p.per_kv < kHeads ? p.per_kv : kHeads;
    p.head0 = blockIdx.y * p.heads;
    p.kv_head = p.head0 / p.per_kv;

    letDependentsStart();
    waitForPredecessor();
    p.position = *a.position;
    p.count = *a.key_count;
    p.chunk = (p.count + a.splits - 1) / a.splits;
    p.chunk = p.chunk < 32 ? 32 : p.chunk;
    p.active = (p.count + p.chunk - 1) / p.chunk;
    p.split = blockIdx.x;
    if (p.split >= p.active && p.split > 0) {
        return;
    }
    p.is_owner = a.k != nullptr;
    p.holds_new = p.is_owner && p.split == 0;
    normHeads(a, s, p);
    p.base = static_cast<int64_t>(p.kv_head) * p.dim;
    if (p.holds_new) {
        storeNewKey<HAS_SCALES>(a, s, p);
    }

    const int begin = p.split * p.chunk;
    const int end = begin + p.chunk < p.count ? begin + p.chunk : p.count;
    // Output columns: pairs, dealt out to groups of threads that take every groups-th key.
    const int pairs = p.dim / 2;
    const int groups = kThreads / pairs > 0 ? kThreads / pairs : 1;
    const int group = threadIdx.x / pairs;
    const int pair = threadIdx.x % pairs;
    float out[kHeads][2] = {};

    float q[kHeads][VECTORS][8];
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
#pragma unroll
            for (int e = 0; e < 8; ++e) {
                const int d = (v * 32 + lane) * 8 + e;
                q[h][v][e] = h < p.heads && d < p.dim ? s.query[h][d] : 0.0F;
            }
        }
    }
    for (int first = begin; first < end || (p.holds_new && first == begin); first += kTile) {
        const int tile = end - first < kTile ? (end - first > 0 ? end - first : 0) : kTile;
        const bool is_with_new = p.holds_new && first == begin;
        scoreTile<VECTORS, HAS_SCALES>(a, s, p, q, first, tile);
        __syncthreads();
        weighTile<HAS_SCALES>(a, s, p, is_with_new, first, tile);
        __syncthreads();
        if (group < groups) {
            addValues<HAS_SCALES>(a, s, p, is_with_new, first, tile, groups, out);
        }
        __syncthreads();
    }

    // Sum the thread groups through shared memory (query is free: head h's row).
    for (int g = 0; g < groups; ++g) {
        if (group == g) {
#pragma unroll
            for (int h = 0; h < kHeads; ++h) {
                if (h < p.heads) {
                    s.query[h][2 * pair] = g == 0 ? out[h][0] : s.query[h][2 * pair] + out[h][0];
                    s.query[h][2 * pair + 1] =
                        g == 0 ? out[h][1] : s.query[h][2 * pair + 1] + out[h][1];
                }
            }
        }
        __syncthreads();
    }
    if (p.active <= 1) {
        storeWhole(a, s, p);
        return;
    }
    storePart(a, s, p);
    meet(a, p);
    mergeParts(a, s, p);
}

template <int VECTORS>
__device__ __forceinline__ void attend(const AttendStepKernelArgs& a) {
    BELFRY_SHARED(float, query, [kHeads][kMaxHead]);
    BELFRY_SHARED(float, new_key, [kMaxHead]);
    BELFRY_SHARED(float, new_value, [kMaxHead]);
    BELFRY_SHARED(float, norms, [2][kMaxHead]);
    BELFRY_SHARED(float, turns, [kMaxHead]);
    BELFRY_SHARED(float, weights, [kHeads][kTile]);
    BELFRY_SHARED(float, running, [kHeads][3]);
    const Shared s = {query, new_key, new_value, norms, turns, weights, running};
    if (a.rows.scales_at != 0) {
        attendRows<VECTORS, true>(a, s);
    } else {
        attendRows<VECTORS, false>(a, s);
    }
}

} // namespace

extern "C" {

// head_dim: a multiple of 8, dim / 2 a power of two of at most 256; splits at most 128.
__global__ void __launch_bounds__(kThreads, 2)
    belfry_attend_step_256(const __grid_constant__ AttendStepKernelArgs a) {
    attend<1>(a);
}
__global__ void __launch_bounds__(kThreads, 2)
    belfry_attend_step_512(const __grid_constant__ AttendStepKernelArgs a) {
    attend<2>(a);
}

/// Writes the index of the largest value among those not suppressed: one block's best as a key that
/// orders by value, then by lower index. grid: any; best must be zero before.
__global__ void belfry_argmax(const float* logits,
                              int count,
                              const uint32_t* suppressed,
                              unsigned long long* best) {
    unsigned long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        if (suppressed != nullptr && ((suppressed[i >> 5] >> (i & 31)) & 1U) != 0U) {
            continue;
        }
        const uint32_t bits = __float_as_uint(logits[i]);
        const uint32_t ordered = (bits & 0x80000000U) != 0U ? ~bits : bits | 0x80000000U;
        const unsigned long long key = (static_cast<unsigned long long>(ordered) << 32) |
                                       (0xffffffffU - static_cast<uint32_t>(i));
        mine = key > mine ? key : mine;
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        const unsigned long long other = __shfl_xor_sync(0xffffffffU, mine, offset);
        mine = other > mine ? other : mine;
    }
    if ((threadIdx.x & 31) == 0) {
        atomicMax(best, mine);
    }
}

} // extern "C"
