// SPDX-License-Identifier: Apache-2.0
// Attention step of a decoded token inside the kernel that runs the whole token: head norms and
// RoPE, the store of the new key and value, and the softmax-weighted sum over one range of cache
// rows. Few ranges are left as parts that the next step merges while it reads its input; many are
// merged here, behind one more grid-wide barrier.
//
// A part is one range of rows for up to four heads of one kv head. The new token's own key is never
// read back from the cache by the layer that owns it: part 0 stores it and adds its score from
// shared memory.
#pragma once

#include "kernels/cuda/device/attend_head.cuh"
#include "kernels/cuda/device/grid_barrier.cuh"
#include "kernels/cuda/device/project_step.cuh"

namespace kernels::cuda {

constexpr int kPartTile = 256; // keys whose weights are in shared memory at a time
constexpr int kPartAtOnce = 2; // keys whose rows a warp has in flight
constexpr int kPartMaxHead = 512;

struct PartShared {
    float query[kPartHeads][kPartMaxHead];
    float new_key[kPartMaxHead];
    float new_value[kPartMaxHead];
    float norms[2][kPartMaxHead];
    float turns[kPartMaxHead];    // [dim / 2] cosine, [dim / 2] sine
    float4 weights[kPartTile];    // of a key for the four heads
    float sums[8192];             // [thread groups, heads, dim]
    float running[kPartHeads][4]; // max, sum, correction, weight of the new key
};

static_assert(sizeof(PartShared) == kPartSharedBytes, "the host plans with this size");

/// Halves the values: a lane keeps the sums of the half that its bit `OFFSET` names.
template <int WIDTH, int OFFSET>
__device__ __forceinline__ void halve(float* v) {
    const bool is_upper = (threadIdx.x & OFFSET) != 0;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
        const float send = is_upper ? v[i] : v[i + WIDTH];
        const float keep = is_upper ? v[i + WIDTH] : v[i];
        v[i] = keep + __shfl_xor_sync(0xffffffffU, send, OFFSET);
    }
}

/// Sums eight values over the warp at once: lane L gets the sum of value L / 4.
__device__ __forceinline__ float warpSum8(float (&v)[8]) {
    halve<4, 16>(v);
    halve<2, 8>(v);
    halve<1, 4>(v);
    const float pair = v[0] + __shfl_xor_sync(0xffffffffU, v[0], 2);
    return pair + __shfl_xor_sync(0xffffffffU, pair, 1);
}

/// Where the maximum and the sum of every part lie: [heads, splits], behind the parts' columns
/// [heads, splits, head_dim].
__device__ __forceinline__ float2* partTails(const AttendStepKernelArgs& a) {
    return reinterpret_cast<float2*>(a.partial + static_cast<int64_t>(a.num_heads) *
                                                     a.range.splits * a.head_dim);
}

/// Merges the columns that fall to this block: sum over parts of exp(m - M) * part / L.
template <int THREADS>
__device__ __forceinline__ void
mergeParts(const AttendStepKernelArgs& a, PartShared& s, int parts, int block, int grid) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim_shift = 31 - __clz(a.head_dim);
    // 32 columns at a time, of one head or of two small ones; each warp takes every so many'th
    // part.
    const int columns = a.num_heads << dim_shift;
    for (int first = block * 32; first < columns; first += grid * 32) {
        const int column = first + lane < columns ? first + lane : columns - 1;
        const int h = column >> dim_shift;
        const float2* tails = partTails(a) + h * a.range.splits;
        float largest = -INFINITY;
#pragma unroll 4
        for (int p = 0; p < parts; ++p) {
            largest = fmaxf(largest, __ldcg(tails + p).x);
        }
        const float* from = a.partial + (static_cast<int64_t>(h * a.range.splits) << dim_shift) +
                            (column & (a.head_dim - 1));
        float total = 0.0F;
        float sum = 0.0F;
#pragma unroll 1
        for (int p = warp; p < parts; p += THREADS / 32) {
            const float2 tail = __ldcg(tails + p);
            if (tail.x != -INFINITY) {
                const float factor = expf(tail.x - largest);
                sum = fmaf(factor, tail.y, sum);
                total = fmaf(factor, __ldcg(from + (p << dim_shift)), total);
            }
        }
        s.sums[warp * 32 + lane] = total;
        s.sums[THREADS + warp * 32 + lane] = sum;
        __syncthreads();
        if (warp == 0 && first + lane < columns) {
            total = 0.0F;
            sum = 0.0F;
#pragma unroll 4
            for (int w = 0; w < THREADS / 32; ++w) {
                total += s.sums[w * 32 + lane];
                sum += s.sums[THREADS + w * 32 + lane];
            }
            a.out[column] = sum > 0.0F ? total / sum : 0.0F;
        }
        __syncthreads();
    }
}

/// Cache rows of this block's part on their way into L2: a thread takes one key's.
template <int THREADS>
__device__ __forceinline__ void
prefetchRows(const AttendStepKernelArgs& a, int kv_head, int begin, int end) {
    const int bytes = a.head_dim * 2;
    const int64_t stride = static_cast<int64_t>(a.num_kv_heads) * bytes;
    const char* keys = static_cast<const char*>(a.cache_k) + kv_head * bytes;
    const char* values = static_cast<const char*>(a.cache_v) + kv_head * bytes;
#pragma unroll 1
    for (int key = begin + threadIdx.x; key < end; key += THREADS) {
        if (kHasBulkPrefetch) {
            prefetchBulk(keys + key * stride, bytes);
            prefetchBulk(values + key * stride, bytes);
        } else {
            for (int at = 0; at < bytes; at += 128) {
                prefetchL2(keys + key * stride + at);
                prefetchL2(values + key * stride + at);
            }
        }
    }
}

/// Which heads and which rows of the cache a part has.
struct PartPlace {
    int dim, dim_shift; // a power of two
    int per_kv, heads, head0, kv_head;
    int position, split;
    bool is_owner, holds_new;
    int64_t stride, base; // elements of a cached row, and before this head's
};

template <int THREADS>
__device__ __forceinline__ void
prepareConstants(const AttendStepKernelArgs& a, PartShared& s, const PartPlace& p) {
    for (int d = threadIdx.x; d < p.dim; d += THREADS) {
        s.norms[0][d] =
            a.q_norm.data == nullptr ? 1.0F : loadElement(a.q_norm.data, a.q_norm.type, d);
        s.norms[1][d] =
            a.k_norm.data == nullptr ? 1.0F : loadElement(a.k_norm.data, a.k_norm.type, d);
    }
    const float at = static_cast<float>(p.position + a.turn);
    for (int j = threadIdx.x; j < p.dim / 2; j += THREADS) {
        float sine = 0.0F;
        float cosine = 0.0F;
        sincosf(__fmul_rn(at, a.inv_freq[j]), &sine, &cosine);
        s.turns[j] = cosine;
        s.turns[p.dim / 2 + j] = sine;
    }
    if (threadIdx.x < kPartHeads) {
        s.running[threadIdx.x][0] = -INFINITY;
        s.running[threadIdx.x][1] = 0.0F;
        s.running[threadIdx.x][3] = 0.0F;
    }
}

/// Queries, and the new key and value where the part has them. Needs the step before.
template <int THREADS>
__device__ __forceinline__ void
prepareHeads(const AttendStepKernelArgs& a, PartShared& s, const PartPlace& p) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
#pragma unroll 1
    for (int i = threadIdx.x * 4; i < p.heads << p.dim_shift; i += THREADS * 4) {
        *reinterpret_cast<float4*>(&s.query[i >> p.dim_shift][i & (p.dim - 1)]) =
            loadFour(a.q + (p.head0 << p.dim_shift) + i);
    }
    if (p.holds_new) {
#pragma unroll 1
        for (int d = threadIdx.x * 4; d < p.dim; d += THREADS * 4) {
            *reinterpret_cast<float4*>(&s.new_key[d]) =
                loadFour(a.k + (p.kv_head << p.dim_shift) + d);
            *reinterpret_cast<float4*>(&s.new_value[d]) =
                loadFour(a.v + (p.kv_head << p.dim_shift) + d);
        }
    }
    __syncthreads();
    if (warp < p.heads) {
        normAndTurn(s.query[warp], p.dim, s.norms[0], a.eps, s.turns, a.scale);
    } else if (p.holds_new && (warp == kPartHeads || warp == kPartHeads + 1)) {
        // As it will be read back: rounded to the cache's bf16. The first group of heads stores.
        const bool is_key = warp == kPartHeads;
        float* row = is_key ? s.new_key : s.new_value;
        normAndTurn(row, p.dim, is_key ? s.norms[1] : nullptr, a.eps, is_key ? s.turns : nullptr,
                    1.0F);
        auto* cache = static_cast<__nv_bfloat16*>(is_key ? a.cache_k : a.cache_v) +
                      (static_cast<int64_t>(*a.slot) * a.num_kv_heads + p.kv_head) * p.dim;
        for (int d = lane; d < p.dim; d += 32) {
            const __nv_bfloat16 rounded = __float2bfloat16_rn(row[d]);
            row[d] = __bfloat162float(rounded);
            if (p.head0 % p.per_kv == 0) {
                cache[d] = rounded;
            }
        }
    }
    __syncthreads();
}

/// A row is in the cache's memory whether it is visible or not: all loads come first.
template <int VECTORS, int THREADS>
__device__ __forceinline__ void
scoreTile(const AttendStepKernelArgs& a, PartShared& s, const PartPlace& p, int first, int tile) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const __nv_bfloat16* keys = static_cast<const __nv_bfloat16*>(a.cache_k);
    for (int i0 = warp * kPartAtOnce; i0 < tile; i0 += THREADS / 32 * kPartAtOnce) {
        float dots[kPartAtOnce * kPartHeads] = {};
        // This lane's sum will be that of key lane / 16, head lane / 4 % 4.
        const int my_key = i0 + (lane >> 4);
        const int my_position = my_key < tile ? a.key_position[first + my_key] : -1;
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
            const int d = (v * 32 + lane) * 8;
            uint4 rows[kPartAtOnce];
#pragma unroll
            for (int j = 0; j < kPartAtOnce; ++j) {
                const int key = first + (i0 + j < tile ? i0 + j : i0);
                rows[j] =
                    d < p.dim
                        ? __ldcg(reinterpret_cast<const uint4*>(keys + key * p.stride + p.base + d))
                        : make_uint4(0, 0, 0, 0);
            }
            if (d < p.dim) {
#pragma unroll
                for (int h = 0; h < kPartHeads; ++h) {
                    const float4 q0 = *reinterpret_cast<const float4*>(&s.query[h][d]);
                    const float4 q1 = *reinterpret_cast<const float4*>(&s.query[h][d + 4]);
#pragma unroll
                    for (int j = 0; j < kPartAtOnce; ++j) {
                        float k[8];
                        unpack8(rows[j], k);
                        float& dot = dots[j * kPartHeads + h];
                        dot = fmaf(q0.x, k[0], dot);
                        dot = fmaf(q0.y, k[1], dot);
                        dot = fmaf(q0.z, k[2], dot);
                        dot = fmaf(q0.w, k[3], dot);
                        dot = fmaf(q1.x, k[4], dot);
                        dot = fmaf(q1.y, k[5], dot);
                        dot = fmaf(q1.z, k[6], dot);
                        dot = fmaf(q1.w, k[7], dot);
                    }
                }
            }
        }
        const float dot = warpSum8(dots);
        const bool is_visible = my_position >= 0 && my_position <= p.position &&
                                !(p.is_owner && my_position == p.position) &&
                                (a.window == 0 || my_position > p.position - a.window);
        if (my_key < tile && (lane & 3) == 0) {
            reinterpret_cast<float*>(&s.weights[my_key])[(lane >> 2) & 3] =
                is_visible ? dot : -INFINITY;
        }
    }
}

/// Softmax weights of the tile; warp h serves head h. The new key counts as one more.
__device__ __forceinline__ void
weighTile(PartShared& s, const PartPlace& p, bool adds_own, int tile) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    if (warp < p.heads) {
        float* scores = reinterpret_cast<float*>(s.weights) + warp;
        float largest = -INFINITY;
        for (int i = lane; i < tile; i += 32) {
            largest = fmaxf(largest, scores[i * 4]);
        }
        largest = warpMax(largest);
        float own = -INFINITY;
        if (adds_own) {
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
            const float score = scores[i * 4];
            const float weight = score == -INFINITY ? 0.0F : expf(score - next);
            scores[i * 4] = weight;
            sum += weight;
        }
        sum = warpSum(sum);
        __syncwarp();
        if (lane == 0) {
            const float correction = before == -INFINITY ? 0.0F : expf(before - next);
            const float own_weight = own == -INFINITY ? 0.0F : expf(own - next);
            s.running[warp][0] = next;
            s.running[warp][1] = s.running[warp][1] * correction + sum + own_weight;
            s.running[warp][2] = correction;
            s.running[warp][3] = own_weight;
        }
    }
}

/// Adds the tile's values to the two columns of a thread, of every groups-th key.
__device__ __forceinline__ void addValues(const AttendStepKernelArgs& a,
                                          const PartShared& s,
                                          const PartPlace& p,
                                          bool adds_own,
                                          int first,
                                          int tile,
                                          int groups,
                                          float (&out)[kPartHeads][2]) {
    const __nv_bfloat16* values = static_cast<const __nv_bfloat16*>(a.cache_v);
    const int my_group = threadIdx.x >> (p.dim_shift - 1);
    const int pair = threadIdx.x & (p.dim / 2 - 1);
#pragma unroll
    for (int h = 0; h < kPartHeads; ++h) {
        const float correction = h < p.heads ? s.running[h][2] : 0.0F;
        out[h][0] *= correction;
        out[h][1] *= correction;
    }
    if (adds_own && my_group == 0) {
#pragma unroll
        for (int h = 0; h < kPartHeads; ++h) {
            const float weight = h < p.heads ? s.running[h][3] : 0.0F;
            out[h][0] = fmaf(weight, s.new_value[2 * pair], out[h][0]);
            out[h][1] = fmaf(weight, s.new_value[2 * pair + 1], out[h][1]);
        }
    }
#pragma unroll 4
    for (int i = my_group; i < tile; i += groups) {
        const uint32_t bits = __ldcg(
            reinterpret_cast<const uint32_t*>(values + (first + i) * p.stride + p.base + 2 * pair));
        const float4 weight = s.weights[i];
        const float v0 = __uint_as_float(bits << 16);
        const float v1 = __uint_as_float(bits & 0xffff0000U);
        const float each[kPartHeads] = {weight.x, weight.y, weight.z, weight.w};
#pragma unroll
        for (int h = 0; h < kPartHeads; ++h) {
            // An empty or hidden row may hold anything, NaN included.
            if (each[h] != 0.0F) {
                out[h][0] = fmaf(each[h], v0, out[h][0]);
                out[h][1] = fmaf(each[h], v1, out[h][1]);
            }
        }
    }
}

/// Sums the thread groups through shared memory and stores the part.
template <int THREADS>
__device__ __forceinline__ void storePart(const AttendStepKernelArgs& a,
                                          PartShared& s,
                                          const PartPlace& p,
                                          int groups,
                                          const float (&out)[kPartHeads][2]) {
    const int my_group = threadIdx.x >> (p.dim_shift - 1);
    const int pair = threadIdx.x & (p.dim / 2 - 1);
#pragma unroll
    for (int h = 0; h < kPartHeads; ++h) {
        if (h < p.heads) {
            *reinterpret_cast<float2*>(&s.sums[(my_group * p.heads + h) * p.dim + 2 * pair]) =
                make_float2(out[h][0], out[h][1]);
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < p.heads << p.dim_shift; i += THREADS) {
        float total = 0.0F;
#pragma unroll 4
        for (int g = 0; g < groups; ++g) {
            total += s.sums[g * (p.heads << p.dim_shift) + i];
        }
        const int h = p.head0 + (i >> p.dim_shift);
        a.partial[((h * a.range.splits + p.split) << p.dim_shift) + (i & (p.dim - 1))] = total;
    }
    if (threadIdx.x < p.heads) {
        partTails(a)[(p.head0 + static_cast<int>(threadIdx.x)) * a.range.splits + p.split] =
            make_float2(s.running[threadIdx.x][0], s.running[threadIdx.x][1]);
    }
}

/// The part of `block`. VECTORS: 8-element vectors of a head that one lane holds (head_dim <=
/// 256 * VECTORS). The wait comes after everything that does not depend on the step before.
template <int VECTORS, int THREADS, typename Wait>
__device__ __forceinline__ void attendPart(const AttendStepKernelArgs& a,
                                           PartShared& s,
                                           int count,
                                           int chunk,
                                           int group,
                                           int split,
                                           const Wait& wait) {
    PartPlace p;
    p.dim = a.head_dim;
    p.dim_shift = 31 - __clz(p.dim);
    p.per_kv = a.num_heads / a.num_kv_heads;
    p.heads = p.per_kv < kPartHeads ? p.per_kv : kPartHeads;
    p.head0 = group * p.heads;
    p.kv_head = p.head0 / p.per_kv;
    p.position = *a.position;
    p.split = split;
    p.is_owner = a.k != nullptr;
    p.holds_new = p.is_owner && split == 0;
    p.stride = static_cast<int64_t>(a.num_kv_heads) * p.dim;
    p.base = static_cast<int64_t>(p.kv_head) * p.dim;
    const int begin = split * chunk;
    const int end = begin + chunk < count ? begin + chunk : count;

    prefetchRows<THREADS>(a, p.kv_head, begin, end);
    prepareConstants<THREADS>(a, s, p);
    wait();
    prepareHeads<THREADS>(a, s, p);

    // Output columns: pairs, dealt out to groups of threads that take every groups-th key.
    const int groups = THREADS >> (p.dim_shift - 1);
    float out[kPartHeads][2] = {};
    for (int first = begin; first < end || (p.holds_new && first == begin); first += kPartTile) {
        const int tile = end - first < kPartTile ? (end - first > 0 ? end - first : 0) : kPartTile;
        const bool adds_own = p.holds_new && first == begin;
        scoreTile<VECTORS, THREADS>(a, s, p, first, tile);
        __syncthreads();
        weighTile(s, p, adds_own, tile);
        __syncthreads();
        addValues(a, s, p, adds_own, first, tile, groups, out);
        __syncthreads();
    }
    storePart<THREADS>(a, s, p, groups, out);
}

/// The whole step of one resident block: its part where it has one, and its share of the merge
/// where there are more parts than the next step takes.
template <int VECTORS, int THREADS>
__device__ __forceinline__ void attendResident(
    const AttendStepKernelArgs& a, PartShared& s, int block, int grid, GridBarrier& barrier) {
    const int per_kv = a.num_heads / a.num_kv_heads;
    const int heads = per_kv < kPartHeads ? per_kv : kPartHeads;
    const int groups = a.num_heads / heads;
    const int count = attendRows(a.range);
    const int chunk = attendChunk(a.range, count);
    const int parts = (count + chunk - 1) / chunk;
    const int group = block % groups;
    const int split = block / groups;
    const auto wait = [&] { barrier.wait(); };
    if (split < parts) {
        attendPart<VECTORS, THREADS>(a, s, count, chunk, group, split, wait);
    } else {
        barrier.wait();
    }
    if (parts > a.range.direct_splits) {
        barrier.arrive();
        barrier.wait();
        mergeParts<THREADS>(a, s, parts, block, grid);
    }
}

} // namespace kernels::cuda
