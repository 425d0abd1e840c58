// SPDX-License-Identifier: Apache-2.0
// Attention of stream.cu: one block takes a range of cache rows of one kv head for all its query
// heads, on tensor cores. Keys and values of a tile travel into shared memory while the block waits
// for the queries. Queries and softmax weights are split into two bf16 each, in the two halves of a
// 16-row operand (up to eight heads), so that nothing is rounded that was not rounded before.
//
// The new token's key and value take their own row of the tile; the block that has that row also
// stores them to the cache. One part: it publishes the result. More: every block merges some columns
// of all parts and publishes those.
#pragma once

#include "kernels/cuda/device/exchange.cuh"
#include "kernels/cuda/device/project_input.cuh"

namespace kernels::cuda {

/// Work memory of attention (streamAttendBytes()); rows of head_dim bf16 are 16 bytes apart more.
struct AttendWork {
    char* keys;     ///< [kTileKeys] rows
    char* values;   ///< [kTileKeys] rows
    char* queries;  ///< [2 kTileHeads] rows: high parts, low parts
    float* scores;  ///< [2 halves of the columns, 2 kTileHeads, kTileKeys + 1]
    char* weights;  ///< [2 kTileHeads] rows of kTileKeys bf16, 16 bytes apart more
    float* factors; ///< [kTileHeads]: correction of what was summed before; behind it 1 / sum
    float* merged;  ///< [kComputeWarps, 16]
    float* turns;   ///< [2, head_dim / 2]: cosine, sine of each pair
    float* norms;   ///< [2, head_dim]: of queries and keys
    char* fresh;    ///< 2 rows: the new key and value
    int row_bytes;
};
constexpr int kWeightRowBytes = kTileKeys * 2 + 16;

__device__ __forceinline__ AttendWork attendWork(char* memory, int head_dim) {
    AttendWork w{};
    w.row_bytes = head_dim * 2 + 16;
    w.keys = memory;
    memory += kTileKeys * w.row_bytes;
    w.values = memory;
    memory += kTileKeys * w.row_bytes;
    w.queries = memory;
    memory += 2 * kTileHeads * w.row_bytes;
    w.weights = memory;
    memory += 2 * kTileHeads * kWeightRowBytes;
    w.factors = reinterpret_cast<float*>(memory);
    memory += 256;
    w.merged = reinterpret_cast<float*>(memory);
    memory += 16 * kComputeWarps * 4;
    w.turns = reinterpret_cast<float*>(memory);
    memory += head_dim * 4;
    w.norms = reinterpret_cast<float*>(memory);
    memory += 2 * head_dim * 4;
    w.fresh = memory;
    memory += 2 * w.row_bytes;
    w.scores = reinterpret_cast<float*>(memory);
    return w;
}

/// The parts of the rows in use.
struct AttendParts {
    int chunk; ///< Rows of one part, a multiple of kTileKeys.
    int parts;
    __device__ __forceinline__ AttendParts(int count, int most) {
        const int tiles = (count + kTileKeys - 1) / kTileKeys;
        const int per_part = (tiles + most - 1) / most;
        chunk = (per_part > 0 ? per_part : 1) * kTileKeys;
        parts = (count + chunk - 1) / chunk;
    }
};

__device__ __forceinline__ uint32_t packBf16(float low, float high) {
    const __nv_bfloat16 a = __float2bfloat16_rn(low);
    const __nv_bfloat16 b = __float2bfloat16_rn(high);
    return static_cast<uint32_t>(*reinterpret_cast<const uint16_t*>(&a)) |
           (static_cast<uint32_t>(*reinterpret_cast<const uint16_t*>(&b)) << 16);
}
__device__ __forceinline__ float roundBf16(float v) {
    return __bfloat162float(__float2bfloat16_rn(v));
}

/// Copies tile rows [first, first + kTileKeys) below `end` (zeros behind) of keys or values.
__device__ __forceinline__ void copyTile(
    const AttendStepKernelArgs& a, const void* cache, char* to, int row_bytes, int kv_head, int first, int end) {
    const int vectors = a.head_dim / 8;
    const int shift = 31 - __clz(vectors);
    const char* const from = static_cast<const char*>(cache) + kv_head * a.head_dim * 2;
    const int64_t stride = static_cast<int64_t>(a.num_kv_heads) * a.head_dim * 2;
    for (int i = threadIdx.x; i < kTileKeys << shift; i += kComputeThreads) {
        const int row = i >> shift;
        const int column = i & (vectors - 1);
        const bool is_there = first + row < end;
        copyAsync16(sharedAddress(to + row * row_bytes + column * 16),
                    from + (is_there ? first + row : 0) * stride + column * 16, is_there);
    }
}

/// One head in the registers of a warp: value 2 i is element lane + 32 i of the lower half of the
/// head, 2 i + 1 that of the upper half.
template <int PAIRS> // 8: heads of up to 512
struct HeadRow {
    float v[2 * PAIRS];
};
template <int PAIRS>
__device__ __forceinline__ HeadRow<PAIRS>
takeHead(const AttendStepKernelArgs& a, const float* plain, const uint2* packets, int first, uint32_t mark) {
    const int half = a.head_dim / 2;
    const int lane = threadIdx.x & 31;
    HeadRow<PAIRS> head;
    const bool is_linked = a.link == kLinkPackets;
    constexpr int kAtOnce = 8;
#pragma unroll
    for (int i0 = 0; i0 < 2 * PAIRS; i0 += kAtOnce) {
        uint2 got[kAtOnce];
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
            const int i = i0 + j;
            const int d = lane + 32 * (i >> 1);
            if (d < half) {
                if (is_linked) {
                    got[j] = loadPacket(packets + first + d + (i & 1) * half);
                } else {
                    got[j] = make_uint2(__float_as_uint(__ldcg(plain + d + (i & 1) * half)), mark);
                }
            }
        }
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j) {
            const int i = i0 + j;
            const int d = lane + 32 * (i >> 1);
            head.v[i] = 0.0F;
            if (d < half) {
                while (got[j].y != mark) {
                    got[j] = loadPacket(packets + first + d + (i & 1) * half);
                }
                head.v[i] = __uint_as_float(got[j].x);
            }
        }
    }
    return head;
}

/// Norm (nullptr: none), RoPE (turns nullptr: none) and scale.
template <int PAIRS>
__device__ __forceinline__ void turnHead(
    HeadRow<PAIRS>& head, const float* norm, const float* turns, int dim, float eps, float scale) {
    const int lane = threadIdx.x & 31;
    const int half = dim / 2;
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < 2 * PAIRS; ++i) {
        sum = fmaf(head.v[i], head.v[i], sum);
    }
    const float inverse = rsqrtf(warpSum(sum) / static_cast<float>(dim) + eps);
#pragma unroll
    for (int i = 0; i < PAIRS; ++i) {
        const int d = lane + 32 * i;
        if (d < half) {
            float a = head.v[2 * i] * inverse;
            float b = head.v[2 * i + 1] * inverse;
            if (norm != nullptr) {
                a *= norm[d];
                b *= norm[d + half];
            }
            const float cosine = turns != nullptr ? turns[d] : 1.0F;
            const float sine = turns != nullptr ? turns[half + d] : 0.0F;
            head.v[2 * i] = (a * cosine - b * sine) * scale;
            head.v[2 * i + 1] = (b * cosine + a * sine) * scale;
        }
    }
}

/// The part of this block: sums over rows [begin, end).
template <int PAIRS>
__device__ __forceinline__ void attendRange(const AttendStepKernelArgs& a,
                                            const AttendWork& w,
                                            const Exchange& exchange,
                                            int step,
                                            int kv_head,
                                            int split,
                                            int parts,
                                            int begin,
                                            int end,
                                            const StepClocks& clocks) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const int half = dim / 2;
    const int heads = a.num_heads / a.num_kv_heads;
    const int head0 = kv_head * heads;
    const int position = *a.position;
    const bool is_owner = a.k != nullptr;
    const int slot = is_owner ? *a.slot : -1;
    const bool holds_new = slot >= begin && slot < end;
    const uint2* const packets = exchange.packetsOf(step - 1 + kPacketSteps);
    const uint32_t mark = exchange.markOf(step - 1);

    copyTile(a, a.cache_k, w.keys, w.row_bytes, kv_head, begin, end);
    commitCopies();
    copyTile(a, a.cache_v, w.values, w.row_bytes, kv_head, begin, end);
    commitCopies();
    // Queries are made by a warp each, then the new key and the new value.
    const bool is_query = warp < heads;
    const bool is_key = warp == kTileHeads && holds_new;
    const bool is_value = warp == kTileHeads + 1 && holds_new;
    for (int d = threadIdx.x; d < dim; d += kComputeThreads) {
        const bool has_norm[2] = {a.q_norm.data != nullptr, a.k_norm.data != nullptr};
        w.norms[d] = has_norm[0] ? loadElement(a.q_norm.data, a.q_norm.type, d) : 1.0F;
        w.norms[dim + d] = has_norm[1] ? loadElement(a.k_norm.data, a.k_norm.type, d) : 1.0F;
        if (d < half) {
            sincosf(__fmul_rn(static_cast<float>(position), a.inv_freq[d]), &w.turns[half + d],
                    &w.turns[d]);
        }
    }
    if (threadIdx.x < kTileHeads) {
        w.factors[threadIdx.x] = 0.0F;
    }
    // Rows of heads that there are not.
    for (int i = threadIdx.x; i < 2 * kTileHeads * (w.row_bytes / 16); i += kComputeThreads) {
        const int row = i / (w.row_bytes / 16);
        if ((row & (kTileHeads - 1)) >= heads) {
            reinterpret_cast<uint4*>(w.queries)[i] = make_uint4(0, 0, 0, 0);
        }
    }
    for (int i = threadIdx.x; i < 2 * kTileHeads * kWeightRowBytes / 4; i += kComputeThreads) {
        reinterpret_cast<uint32_t*>(w.weights)[i] = 0;
    }
    syncCompute();
    if (is_query || is_key || is_value) {
        const int keys_at = a.num_heads * dim;
        const int values_at = a.v == a.k ? keys_at : keys_at + a.num_kv_heads * dim;
        const int row = is_query ? head0 + warp : kv_head;
        const float* const plain = is_query ? a.q : is_key ? a.k : a.v;
        HeadRow<PAIRS> head =
            takeHead<PAIRS>(a, plain + row * dim, packets,
                            (is_query ? 0 : is_key ? keys_at : values_at) + row * dim, mark);
        clocks.note(1);
        turnHead<PAIRS>(head, is_value ? nullptr : w.norms + (is_key ? dim : 0),
                        is_value ? nullptr : w.turns, dim, a.eps, is_query ? a.scale : 1.0F);
        auto* const high = reinterpret_cast<__nv_bfloat16*>(
            is_query ? w.queries + warp * w.row_bytes : w.fresh + (is_key ? 0 : w.row_bytes));
        auto* const low =
            reinterpret_cast<__nv_bfloat16*>(w.queries + (kTileHeads + warp) * w.row_bytes);
        auto* const cache = static_cast<__nv_bfloat16*>(is_key ? a.cache_k : a.cache_v) +
                            (static_cast<int64_t>(slot) * a.num_kv_heads + kv_head) * dim;
#pragma unroll
        for (int i = 0; i < 2 * PAIRS; ++i) {
            const int d = lane + 32 * (i >> 1);
            if (d < half) {
                const __nv_bfloat16 rounded = __float2bfloat16_rn(head.v[i]);
                const int at = d + (i & 1) * half;
                high[at] = rounded;
                if (is_query) {
                    low[at] = __float2bfloat16_rn(head.v[i] - __bfloat162float(rounded));
                } else {
                    cache[at] = rounded;
                }
            }
        }
    }

    clocks.note(2);

    // Running maximum and sum of head `warp`, the same in all lanes.
    float largest = -INFINITY;
    float total = 0.0F;
    constexpr int kMostColumns = (PAIRS * 8 + kComputeWarps - 1) / kComputeWarps; // of 8
    float out[kMostColumns][4] = {};
    const int column_tiles = dim / 8;
    const uint32_t lane_row = static_cast<uint32_t>((lane & 7) * w.row_bytes);
#pragma unroll 1
    for (int first = begin; first < end; first += kTileKeys) {
        const bool has_new = holds_new && slot >= first && slot < first + kTileKeys;
        waitForCopyGroups<1>();
        if (has_new) {
            syncCompute(); // after the copy of the old row
            if (static_cast<int>(threadIdx.x) < dim / 8) {
                reinterpret_cast<uint4*>(w.keys + (slot - first) * w.row_bytes)[threadIdx.x] =
                    reinterpret_cast<const uint4*>(w.fresh)[threadIdx.x];
            }
        }
        syncCompute();
        // Scores: eight keys and half of the columns a warp.
        if (warp < 8) {
            const int key0 = (warp & 3) * 8;
            const int column0 = (warp >> 2) * half;
            float c[4] = {};
            for (int d = 0; d < half; d += 32) {
                // Rows 0-7 and 8-15 of 16 columns, then of 16 more; keys of 32 columns.
                uint32_t q0[4];
                uint32_t q1[4];
                uint32_t k[4];
                const uint32_t at = static_cast<uint32_t>((column0 + d) * 2);
                const uint32_t q_at = sharedAddress(w.queries) + lane_row + at +
                                      ((lane >> 3) & 1) * (8 * w.row_bytes) + (lane >> 4) * 16;
                loadMatrix4(k, sharedAddress(w.keys) + key0 * w.row_bytes + lane_row + at +
                                   (lane >> 3) * 16);
                loadMatrix4(q0, q_at);
                multiplyAdd(c, q0, k[0], k[1]);
                if (half - d > 16) {
                    loadMatrix4(q1, q_at + 32);
                    multiplyAdd(c, q1, k[2], k[3]);
                }
            }
            float* const to = w.scores + ((warp >> 2) * 2 * kTileHeads + (lane >> 2)) * (kTileKeys + 1) +
                              key0 + (lane & 3) * 2;
            to[0] = c[0];
            to[1] = c[1];
            to[8 * (kTileKeys + 1)] = c[2];
            to[8 * (kTileKeys + 1) + 1] = c[3];
        }
        syncCompute();
        const int after = first + kTileKeys;
        if (after < end) {
            copyTile(a, a.cache_k, w.keys, w.row_bytes, kv_head, after, end);
        }
        commitCopies();
        const int key = first + lane;
        const int at_position = key < end ? (key == slot ? position : a.key_position[key]) : -1;
        const bool is_visible = at_position >= 0 && at_position <= position &&
                                (a.window == 0 || at_position > position - a.window);
        const uint32_t visible = __ballot_sync(0xffffffffU, is_visible ? 1 : 0);
        if (warp < heads) {
            float score = -INFINITY;
            if (is_visible) {
                score = 0.0F;
#pragma unroll
                for (int part = 0; part < 4; ++part) {
                    score += w.scores[(part * kTileHeads + warp) * (kTileKeys + 1) + lane];
                }
            }
            const float next = fmaxf(largest, warpMax(score));
            const float correction = largest == -INFINITY ? 0.0F : expf(largest - next);
            const float p = is_visible ? expf(score - next) : 0.0F;
            total = total * correction + warpSum(p);
            largest = next;
            reinterpret_cast<__nv_bfloat16*>(w.weights + warp * kWeightRowBytes)[lane] =
                __float2bfloat16_rn(p);
            reinterpret_cast<__nv_bfloat16*>(w.weights + (kTileHeads + warp) * kWeightRowBytes)[lane] =
                __float2bfloat16_rn(p - roundBf16(p));
            if (lane == 0) {
                w.factors[warp] = correction;
                w.factors[kTileHeads + warp] = total > 0.0F ? 1.0F / total : 0.0F;
            }
        }
        waitForCopyGroups<1>(); // the values; the next keys may still be on their way
        if (has_new || visible != 0xffffffffU) {
            syncCompute();
            if (has_new && static_cast<int>(threadIdx.x) < dim / 8) {
                reinterpret_cast<uint4*>(w.values + (slot - first) * w.row_bytes)[threadIdx.x] =
                    reinterpret_cast<const uint4*>(w.fresh + w.row_bytes)[threadIdx.x];
            }
            // A hidden row may hold anything, NaN included: times zero it must be zero.
            for (int r = warp; r < kTileKeys; r += kComputeWarps) {
                if ((visible >> r & 1U) == 0) {
                    for (int i = lane; i < dim / 8; i += 32) {
                        reinterpret_cast<uint4*>(w.values + r * w.row_bytes)[i] = make_uint4(0, 0, 0, 0);
                    }
                }
            }
        }
        syncCompute();
        // Values: eight columns of all heads at a time.
        uint32_t p[2][4];
        const uint32_t p_at = sharedAddress(w.weights) + (lane & 7) * kWeightRowBytes +
                              ((lane >> 3) & 1) * (8 * kWeightRowBytes) + (lane >> 4) * 16;
        loadMatrix4(p[0], p_at);
        loadMatrix4(p[1], p_at + 32);
        const float correction = w.factors[lane >> 2];
#pragma unroll
        for (int i = 0; i < kMostColumns; ++i) {
            const int column = warp + i * kComputeWarps;
            if (column < column_tiles) {
                uint32_t v[4];
                loadMatrix4Transposed(v, sharedAddress(w.values) + lane * w.row_bytes + column * 16);
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    out[i][r] *= correction;
                }
                multiplyAdd(out[i], p[0], v[0], v[1]);
                multiplyAdd(out[i], p[1], v[2], v[3]);
            }
        }
        syncCompute();
        if (after < end) {
            copyTile(a, a.cache_v, w.values, w.row_bytes, kv_head, after, end);
        }
        commitCopies();
    }
    waitForCopies();

    const int h = lane >> 2;
    if (h < heads) {
        const float share = parts == 1 ? w.factors[kTileHeads + h] : 1.0F;
#pragma unroll
        for (int i = 0; i < kMostColumns; ++i) {
            const int column = warp + i * kComputeWarps;
            if (column < column_tiles) {
                const int d = column * 8 + (lane & 3) * 2;
                const float low = (out[i][0] + out[i][2]) * share;
                const float high = (out[i][1] + out[i][3]) * share;
                const int at = (head0 + h) * dim + d;
                if (parts > 1) {
                    float* const to = a.partial + (static_cast<int64_t>(head0 + h) * a.splits + split) * dim + d;
                    *reinterpret_cast<float2*>(to) = make_float2(low, high);
                } else if (a.publish == kLinkPackets) {
                    exchange.publish(step, at, low);
                    exchange.publish(step, at + 1, high);
                } else {
                    a.out[at] = low;
                    a.out[at + 1] = high;
                }
            }
        }
    }
    if (parts > 1 && warp < heads && lane == 0) {
        reinterpret_cast<float2*>(a.partial + static_cast<int64_t>(a.num_heads) * a.splits *
                                                  dim)[(head0 + warp) * a.splits + split] =
            make_float2(largest, total);
    }
}

/// Sixteen columns at a time of all parts: sum of exp(m - M) part / L.
__device__ __forceinline__ void
mergeColumns(const AttendStepKernelArgs& a, const AttendWork& w, const Exchange& exchange, int step, int parts) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const int columns = a.num_heads * dim;
    for (int first = exchange.block * 16; first < columns; first += exchange.grid * 16) {
        const int h = first / dim;
        const float2* const tails =
            reinterpret_cast<const float2*>(a.partial +
                                            static_cast<int64_t>(a.num_heads) * a.splits * dim) +
            h * a.splits;
        const float* const column = a.partial + static_cast<int64_t>(h) * a.splits * dim +
                                    (first - h * dim) + (lane & 15);
        // All loads of a thread's first part come before any is used.
        const int part = warp * 2 + (lane >> 4);
        float value = part < parts ? __ldcg(column + static_cast<int64_t>(part) * dim) : 0.0F;
        float2 tail = make_float2(-INFINITY, 0.0F);
        if (part < parts) {
            tail = __ldcg(tails + part);
        }
        float largest = -INFINITY;
        for (int p = lane; p < parts; p += 32) {
            largest = fmaxf(largest, __ldcg(&tails[p].x));
        }
        largest = warpMax(largest);
        float share = tail.x == -INFINITY ? 0.0F : expf(tail.x - largest);
        float sum = share * tail.y;
        float total = share * value;
        for (int p = part + 2 * kComputeWarps; p < parts; p += 2 * kComputeWarps) {
            tail = __ldcg(tails + p);
            value = __ldcg(column + static_cast<int64_t>(p) * dim);
            share = tail.x == -INFINITY ? 0.0F : expf(tail.x - largest);
            sum = fmaf(share, tail.y, sum);
            total = fmaf(share, value, total);
        }
        total += __shfl_xor_sync(0xffffffffU, total, 16);
        sum += __shfl_xor_sync(0xffffffffU, sum, 16);
        float* const sums = w.scores; // free by now
        if (lane < 16) {
            w.merged[warp * 16 + lane] = total;
            if (lane == 0) {
                sums[warp] = sum;
            }
        }
        syncCompute();
        if (threadIdx.x < 16) {
            total = 0.0F;
            sum = 0.0F;
#pragma unroll
            for (int i = 0; i < kComputeWarps; ++i) {
                total += w.merged[i * 16 + threadIdx.x];
                sum += sums[i];
            }
            const float result = sum > 0.0F ? total / sum : 0.0F;
            const int at = first + static_cast<int>(threadIdx.x);
            if (a.publish == kLinkPackets) {
                exchange.publish(step, at, result);
            } else {
                a.out[at] = result;
            }
        }
        syncCompute();
    }
}

__device__ __forceinline__ void streamAttend(const AttendStepKernelArgs& a,
                                             char* memory,
                                             const Exchange& exchange,
                                             int step,
                                             const StepClocks& clocks) {
    const AttendWork w = attendWork(memory, a.head_dim);
    const int count = *a.key_count;
    const AttendParts p(count, a.splits);
    const int groups = a.num_kv_heads;
    const int split = exchange.block / groups;
    const int kv_head = exchange.block - split * groups;
    if (split < p.parts) {
        const int begin = split * p.chunk;
        const int end = begin + p.chunk < count ? begin + p.chunk : count;
        if (a.head_dim > 256) {
            attendRange<8>(a, w, exchange, step, kv_head, split, p.parts, begin, end, clocks);
        } else {
            attendRange<4>(a, w, exchange, step, kv_head, split, p.parts, begin, end, clocks);
        }
        // Also the cache's new row, for the layers that read it.
        exchange.raiseFlag(step);
    }
    clocks.note(3);
    if (p.parts > 1) {
        const long long before = clocks.now();
        exchange.waitForFlags(step, p.parts * groups);
        clocks.add(5, clocks.now() - before);
        mergeColumns(a, w, exchange, step, p.parts);
    }
}

} // namespace kernels::cuda
