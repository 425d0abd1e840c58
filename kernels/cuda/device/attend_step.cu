// SPDX-License-Identifier: Apache-2.0
// Attention step of a decoded token in one launch: head norms and RoPE, the store of the new key
// and value, attention split over the key range, and the merge of the parts.
//
// grid (splits, num_heads / heads_per_block); a block serves up to four heads of one kv head and
// one range of cache rows. The new token's own key is never read back from the cache by the layer
// that owns it: split 0 stores it and adds its score from shared memory.
#include "kernels/cuda/device/attend_head.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kHeads = 4;     // heads a block serves at most
constexpr int kMaxHead = 512; // largest head_dim
constexpr int kTile = 128;    // keys whose weights are in shared memory at a time
constexpr int kAtOnce = 4;    // keys whose rows a warp has in flight

/// VECTORS: 8-element vectors of a head that one lane holds (head_dim <= 256 * VECTORS).
template <int VECTORS>
__device__ void attend(const AttendStepKernelArgs& a) {
    BELFRY_SHARED(float, query, [kHeads][kMaxHead]);
    BELFRY_SHARED(float, new_key, [kMaxHead]);
    BELFRY_SHARED(float, new_value, [kMaxHead]);
    BELFRY_SHARED(float, norms, [2][kMaxHead]);
    BELFRY_SHARED(float, turns, [kMaxHead]);
    BELFRY_SHARED(float, weights, [kHeads][kTile]);
    BELFRY_SHARED(float, running, [kHeads][3]); // max, sum, correction
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const int per_kv = a.num_heads / a.num_kv_heads;
    const int heads = per_kv < kHeads ? per_kv : kHeads;
    const int head0 = blockIdx.y * heads;
    const int kv_head = head0 / per_kv;

    letDependentsStart();
    waitForPredecessor();
    const int position = *a.position;
    const int count = *a.key_count;
    int chunk = (count + a.splits - 1) / a.splits;
    chunk = chunk < 32 ? 32 : chunk;
    const int active = (count + chunk - 1) / chunk;
    const int split = blockIdx.x;
    if (split >= active && split > 0) {
        return;
    }
    const bool is_owner = a.k != nullptr;
    const bool holds_new = is_owner && split == 0;
    // Everything the norms need in one round of loads.
    for (int i = threadIdx.x; i < heads * dim; i += kThreads) {
        query[i / dim][i % dim] = a.q[static_cast<int64_t>(head0) * dim + i];
    }
    for (int d = threadIdx.x; d < dim; d += kThreads) {
        norms[0][d] =
            a.q_norm.data == nullptr ? 1.0F : loadElement(a.q_norm.data, a.q_norm.type, d);
        if (holds_new) {
            norms[1][d] =
                a.k_norm.data == nullptr ? 1.0F : loadElement(a.k_norm.data, a.k_norm.type, d);
            new_key[d] = a.k[static_cast<int64_t>(kv_head) * dim + d];
            new_value[d] = a.v[static_cast<int64_t>(kv_head) * dim + d];
        }
    }
    const float at = static_cast<float>(position);
    for (int j = threadIdx.x; j < dim / 2; j += kThreads) {
        float sine = 0.0F;
        float cosine = 0.0F;
        sincosf(__fmul_rn(at, a.inv_freq[j]), &sine, &cosine);
        turns[j] = cosine;
        turns[dim / 2 + j] = sine;
    }
    if (threadIdx.x < kHeads) {
        running[threadIdx.x][0] = -INFINITY;
        running[threadIdx.x][1] = 0.0F;
    }
    __syncthreads();
    if (warp < heads) {
        normAndTurn(query[warp], dim, norms[0], a.eps, turns, a.scale);
    } else if (holds_new && warp == kWarps - 2) {
        normAndTurn(new_key, dim, norms[1], a.eps, turns, 1.0F);
    } else if (holds_new && warp == kWarps - 1) {
        normAndTurn(new_value, dim, nullptr, a.eps, nullptr, 1.0F);
    }
    __syncthreads();
    if (holds_new) {
        // As it will be read back: rounded to the cache's bf16.
        const bool stores = head0 % per_kv == 0;
        const int64_t row =
            (static_cast<int64_t>(*a.slot) * a.num_kv_heads + kv_head) * static_cast<int64_t>(dim);
        for (int d = threadIdx.x; d < dim; d += kThreads) {
            const __nv_bfloat16 k = __float2bfloat16_rn(new_key[d]);
            const __nv_bfloat16 v = __float2bfloat16_rn(new_value[d]);
            new_key[d] = __bfloat162float(k);
            new_value[d] = __bfloat162float(v);
            if (stores) {
                static_cast<__nv_bfloat16*>(a.cache_k)[row + d] = k;
                static_cast<__nv_bfloat16*>(a.cache_v)[row + d] = v;
            }
        }
        __syncthreads();
    }

    const __nv_bfloat16* keys = static_cast<const __nv_bfloat16*>(a.cache_k);
    const __nv_bfloat16* values = static_cast<const __nv_bfloat16*>(a.cache_v);
    const int64_t stride = static_cast<int64_t>(a.num_kv_heads) * dim;
    const int64_t base = static_cast<int64_t>(kv_head) * dim;
    const int begin = split * chunk;
    const int end = begin + chunk < count ? begin + chunk : count;

    // Output columns: pairs, dealt out to groups of threads that take every groups-th key.
    const int pairs = dim / 2;
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
                q[h][v][e] = h < heads && d < dim ? query[h][d] : 0.0F;
            }
        }
    }
    for (int first = begin; first < end || (holds_new && first == begin); first += kTile) {
        const int tile = end - first < kTile ? (end - first > 0 ? end - first : 0) : kTile;
        // Four keys a warp at a time, their rows loaded before anything is asked of them: a row is
        // in the cache's memory whether it is visible or not.
        for (int i0 = warp * kAtOnce; i0 < tile; i0 += kWarps * kAtOnce) {
            uint4 rows[kAtOnce][VECTORS];
            int key_position[kAtOnce];
#pragma unroll
            for (int j = 0; j < kAtOnce; ++j) {
                const int key = first + (i0 + j < tile ? i0 + j : i0);
                key_position[j] = a.key_position[key];
#pragma unroll
                for (int v = 0; v < VECTORS; ++v) {
                    const int d = (v * 32 + lane) * 8;
                    rows[j][v] =
                        d < dim ? *reinterpret_cast<const uint4*>(keys + key * stride + base + d)
                                : make_uint4(0, 0, 0, 0);
                }
            }
#pragma unroll
            for (int j = 0; j < kAtOnce; ++j) {
                if (i0 + j >= tile) {
                    continue;
                }
                const bool is_new = is_owner && key_position[j] == position;
                const bool is_visible = key_position[j] >= 0 && key_position[j] <= position &&
                                        !is_new &&
                                        (a.window == 0 || key_position[j] > position - a.window);
                float dots[kHeads] = {};
#pragma unroll
                for (int v = 0; v < VECTORS; ++v) {
                    float k[8];
                    unpack8(rows[j][v], k);
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
                    const float dot = warpSum(dots[h]);
                    if (lane == h) {
                        weights[h][i0 + j] = is_visible ? dot : -INFINITY;
                    }
                }
            }
        }
        __syncthreads();
        // Softmax weights of the tile; warp h serves head h. The new key counts as one more.
        if (warp < heads) {
            float largest = -INFINITY;
            for (int i = lane; i < tile; i += 32) {
                largest = fmaxf(largest, weights[warp][i]);
            }
            largest = warpMax(largest);
            float own = -INFINITY;
            if (holds_new && first == begin) {
                float dot = 0.0F;
                for (int d = lane; d < dim; d += 32) {
                    dot = fmaf(query[warp][d], new_key[d], dot);
                }
                own = warpSum(dot);
                largest = fmaxf(largest, own);
            }
            const float before = running[warp][0];
            const float next = fmaxf(before, largest);
            float sum = 0.0F;
            for (int i = lane; i < tile; i += 32) {
                const float score = weights[warp][i];
                const float weight = score == -INFINITY ? 0.0F : expf(score - next);
                weights[warp][i] = weight;
                sum += weight;
            }
            sum = warpSum(sum);
            if (lane == 0) {
                const float correction = before == -INFINITY ? 0.0F : expf(before - next);
                const float own_weight = own == -INFINITY ? 0.0F : expf(own - next);
                running[warp][0] = next;
                running[warp][1] = running[warp][1] * correction + sum + own_weight;
                running[warp][2] = correction;
                if (holds_new && first == begin) {
                    // Kept in the query row's first element: q is in registers from here on.
                    query[warp][0] = own_weight;
                }
            }
        }
        __syncthreads();
        if (group < groups) {
#pragma unroll
            for (int h = 0; h < kHeads; ++h) {
                const float correction = h < heads ? running[h][2] : 0.0F;
                out[h][0] *= correction;
                out[h][1] *= correction;
            }
            if (holds_new && first == begin && group == 0) {
#pragma unroll
                for (int h = 0; h < kHeads; ++h) {
                    const float weight = h < heads ? query[h][0] : 0.0F;
                    out[h][0] = fmaf(weight, new_value[2 * pair], out[h][0]);
                    out[h][1] = fmaf(weight, new_value[2 * pair + 1], out[h][1]);
                }
            }
#pragma unroll 8
            for (int i = group; i < tile; i += groups) {
                const uint32_t bits = *reinterpret_cast<const uint32_t*>(
                    values + (first + i) * stride + base + 2 * pair);
                const float v0 = __uint_as_float(bits << 16);
                const float v1 = __uint_as_float(bits & 0xffff0000U);
#pragma unroll
                for (int h = 0; h < kHeads; ++h) {
                    const float weight = h < heads ? weights[h][i] : 0.0F;
                    // An empty or hidden row may hold anything, NaN included.
                    if (weight != 0.0F) {
                        out[h][0] = fmaf(weight, v0, out[h][0]);
                        out[h][1] = fmaf(weight, v1, out[h][1]);
                    }
                }
            }
        }
        __syncthreads();
    }

    // Sum the thread groups through shared memory (query is free: head h's row).
    for (int g = 0; g < groups; ++g) {
        if (group == g) {
#pragma unroll
            for (int h = 0; h < kHeads; ++h) {
                if (h < heads) {
                    query[h][2 * pair] = g == 0 ? out[h][0] : query[h][2 * pair] + out[h][0];
                    query[h][2 * pair + 1] =
                        g == 0 ? out[h][1] : query[h][2 * pair + 1] + out[h][1];
                }
            }
        }
        __syncthreads();
    }
    const int span = dim + 2;
    if (active <= 1) {
        for (int i = threadIdx.x; i < heads * dim; i += kThreads) {
            const int h = i / dim;
            const float sum = running[h][1];
            a.out[static_cast<int64_t>(head0) * dim + i] =
                sum > 0.0F ? query[h][i - h * dim] / sum : 0.0F;
        }
        return;
    }
    for (int i = threadIdx.x; i < heads * dim; i += kThreads) {
        const int h = i / dim;
        a.partial[(static_cast<int64_t>(head0 + h) * a.splits + split) * span + i - h * dim] =
            query[h][i - h * dim];
    }
    if (threadIdx.x < heads) {
        float* tail =
            a.partial + (static_cast<int64_t>(head0 + threadIdx.x) * a.splits + split) * span + dim;
        tail[0] = running[threadIdx.x][0];
        tail[1] = running[threadIdx.x][1];
    }
    // All blocks of this group of heads meet (they are few enough to run at the same time), then
    // each merges its share of the columns. The last to leave resets both counters.
    __threadfence();
    __syncthreads();
    int32_t* arrived = a.counter + 2 * blockIdx.y;
    int32_t* left = arrived + 1;
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < active) {
        }
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(left, 1) == active - 1) {
        *arrived = 0;
        *left = 0;
    }
    // Factor of each split: weights[h][s].
    if (warp < heads) {
        const float* head = a.partial + static_cast<int64_t>(head0 + warp) * a.splits * span;
        float m[4];
        float l[4];
        float largest = -INFINITY;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int s = lane + 32 * j;
            m[j] = s < active ? __ldcg(head + s * span + dim) : -INFINITY;
            l[j] = s < active ? __ldcg(head + s * span + dim + 1) : 0.0F;
            largest = fmaxf(largest, m[j]);
        }
        largest = warpMax(largest);
        float sum = 0.0F;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float factor = m[j] == -INFINITY ? 0.0F : expf(m[j] - largest);
            if (lane + 32 * j < kTile) {
                weights[warp][lane + 32 * j] = factor;
            }
            sum += factor * l[j];
        }
        sum = warpSum(sum);
        if (lane == 0) {
            running[warp][1] = sum;
        }
    }
    __syncthreads();
    // Columns of all heads of the block, dealt out to the splits; eight threads share a column.
    const int columns = heads * dim;
    const int share = (columns + active - 1) / active;
    const int from = split * share;
    const int to = from + share < columns ? from + share : columns;
    const int sub = threadIdx.x & 7;
    for (int first = from; first < to; first += kThreads / 8) {
        const int i = first + threadIdx.x / 8;
        float total = 0.0F;
        if (i < to) {
            const int h = i / dim;
            const float* column =
                a.partial + static_cast<int64_t>(head0 + h) * a.splits * span + i - h * dim;
#pragma unroll 8
            for (int s = sub; s < active; s += 8) {
                const float factor = weights[h][s];
                const float value = __ldcg(column + s * span);
                total += factor == 0.0F ? 0.0F : factor * value;
            }
        }
        total += __shfl_xor_sync(0xffffffffU, total, 1);
        total += __shfl_xor_sync(0xffffffffU, total, 2);
        total += __shfl_xor_sync(0xffffffffU, total, 4);
        if (i < to && sub == 0) {
            const float sum = running[i / dim][1];
            a.out[static_cast<int64_t>(head0) * dim + i] = sum > 0.0F ? total / sum : 0.0F;
        }
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
