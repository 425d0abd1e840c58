// SPDX-License-Identifier: Apache-2.0
// Attention of stream_rows.cu: the rows of one query head, each over the keys in front of it and
// its own. Block b takes head b % heads and part b / heads of the cached keys, the first part the
// new ones too. A warp has four keys at a time, whose scores with all rows it sums at once; what
// it keeps is rescaled as larger scores come (the running maximum of softmax).
//
// Parts meet in memory: the last block of a head that is done merges them. New keys and values are
// made by every first part of their head and stored by one of them; nobody reads them from the
// cache in this step. Row r sees positions up to position + r; the cache is a ring of which row p %
// capacity has position p.
#pragma once

#include "kernels/cuda/device/stream_attend_heads.cuh"
#include "kernels/cuda/device/stream_rows.cuh"

namespace kernels::cuda {

/// Work memory (streamRowsAttendBytes()); tail: [2, kStreamRows, dim] bf16.
struct RowsAttendWork {
    float4* query;        ///< [kStreamRows, dim / 4 + 4]: fourPlace()
    float* turns;         ///< [kStreamRows, dim]: cosines, then sines; in the place of
    float* raw;           ///< [3, kStreamRows, dim]: queries, keys, values as packets brought them;
    float* sums;          ///< [kComputeWarps, kStreamRows, up to 256 columns], where both were
    float2* tails;        ///< [kComputeWarps, kStreamRows]: maximum, total
    __nv_bfloat16* fresh; ///< [2, kStreamRows, dim]: new keys, new values
    int* word;
    __device__ __forceinline__ RowsAttendWork(char* memory, char* tail, int dim)
        : query(reinterpret_cast<float4*>(memory)),
          turns(reinterpret_cast<float*>(query + kStreamRows * (dim / 4 + 4))),
          raw(turns + kStreamRows * dim), sums(turns),
          tails(reinterpret_cast<float2*>(sums +
                                          kComputeWarps * kStreamRows * (dim > 256 ? 256 : dim))),
          fresh(reinterpret_cast<__nv_bfloat16*>(tail)),
          word(reinterpret_cast<int*>(tails + kComputeWarps * kStreamRows)) {}
};

/// Where this block stands in the step. Keys are counted with the new ones first.
struct RowsRange {
    int position; ///< Of the first row.
    int fresh;    ///< New keys, of positions from there on.
    int low;      ///< Position of the first cached key,
    int first;    ///< and its row of the cache.
    int begin;    ///< Keys of this block's part.
    int end;
    int parts;
    int part;
    int head;
    int kv_head;
    __device__ __forceinline__ RowsRange(const AttendStepKernelArgs& a,
                                         int rows,
                                         const Exchange& exchange)
        : position(*a.position), fresh(a.k != nullptr ? rows : 0), low(0), first(0), begin(0),
          end(0), parts(0), part(exchange.block / a.num_heads),
          head(exchange.block - part * a.num_heads),
          kv_head(head / (a.num_heads / a.num_kv_heads)) {
        const int window = static_cast<int>(a.window);
        low = window > 0 && position - window + 1 > 0 ? position - window + 1 : 0;
        first = low % a.capacity;
        const int keys = position + rows - low;
        parts = (keys + kRowPartKeys - 1) / kRowPartKeys;
        parts = parts > a.splits ? a.splits : parts;
        const int chunk = (keys + parts - 1) / parts;
        begin = part * chunk;
        end = begin + chunk < keys ? begin + chunk : keys;
    }
    [[nodiscard]] __device__ __forceinline__ int positionOf(int key) const {
        return key < fresh ? position + key : low + key - fresh;
    }
    [[nodiscard]] __device__ __forceinline__ int rowOf(int key, int capacity) const {
        const int row = first + key - fresh;
        return row < capacity ? row : row - capacity;
    }
};

/// A head of a row as the step before has made it, in norm, RoPE and scale; a warp. IS_SHARED: it
/// is in shared memory.
template <bool IS_SHARED, typename Store>
__device__ __forceinline__ void turnRowHead(const float* from,
                                            const VectorArgs& norm,
                                            const float* turns,
                                            int dim,
                                            float eps,
                                            float scale,
                                            const Store& store) {
    const int lane = threadIdx.x & 31;
    const int half = dim / 2;
    HeadValues head;
#pragma unroll
    for (int i = 0; i < 2 * HeadValues::kFours; ++i) {
        const int d = 4 * lane + 128 * (i >> 1);
        head.at[i & 1][i >> 1] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        if (d < half) {
            const float* const at = from + d + (i & 1) * half;
            head.at[i & 1][i >> 1] =
                IS_SHARED ? *reinterpret_cast<const float4*>(at) : loadFour(at);
        }
    }
    turnHead(head, norm, turns, dim, eps, scale, store);
}

/// Eight elements of each of four keys or values of this warp; those that are not cached are zeros.
struct RowKeys {
    uint4 at[4];

    /// Key `first` and those behind it, kComputeWarps apart; vector: which 256 elements.
    __device__ __forceinline__ void load(const AttendStepKernelArgs& a,
                                         const RowsRange& range,
                                         const void* cache,
                                         int first,
                                         int vector) {
        const int eights = a.head_dim / 8;
        const int eight = vector * 32 + static_cast<int>(threadIdx.x & 31);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int key = first + j * kComputeWarps;
            const bool is_cached = key < range.end && key >= range.fresh && eight < eights;
            const int row = is_cached ? range.rowOf(key, a.capacity) : 0;
            at[j] = make_uint4(0, 0, 0, 0);
            if (is_cached) {
                at[j] = __ldcg(static_cast<const uint4*>(cache) +
                               static_cast<int64_t>(row * a.num_kv_heads + range.kv_head) * eights +
                               eight);
            }
        }
    }
    /// The first one is new. fresh: [kStreamRows, dim]
    __device__ __forceinline__ void take(const __nv_bfloat16* fresh, int dim, int key, int vector) {
        const int d = (vector * 32 + static_cast<int>(threadIdx.x & 31)) * 8;
        if (d < dim) {
            at[0] = *reinterpret_cast<const uint4*>(fresh + key * dim + d);
        }
    }
};

/// What a warp keeps of its keys for all rows: shares of 256 columns of the values' sums, and of
/// its lane's row the largest score so far and the total. Two lanes have a row and one of four
/// keys.
struct RowSums {
    float at[kStreamRows][8];
    float most;
    float total;

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int r = 0; r < kStreamRows; ++r) {
#pragma unroll
            for (int d = 0; d < 8; ++d) {
                at[r][d] = 0.0F;
            }
        }
        most = -INFINITY;
        total = 0.0F;
    }
    static __device__ __forceinline__ int ownRow() {
        return (threadIdx.x & 31) >> 3;
    }
    static __device__ __forceinline__ int ownKey() {
        return (threadIdx.x & 31) >> 1 & 3;
    }

    /// Four keys; score: of the lane's row with the lane's key.
    __device__ __forceinline__ void add(float score, const RowKeys& values) {
        float largest = fmaxf(score, __shfl_xor_sync(0xffffffffU, score, 2));
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 4));
        largest = fmaxf(largest, most);
        const float factor = most == -INFINITY ? 0.0F : __expf(most - largest);
        const float p = score == -INFINITY ? 0.0F : __expf(score - largest);
        float sum = p + __shfl_xor_sync(0xffffffffU, p, 2);
        sum += __shfl_xor_sync(0xffffffffU, sum, 4);
        total = fmaf(total, factor, sum);
        most = largest;
#pragma unroll
        for (int r = 0; r < kStreamRows; ++r) {
            const float shrink = __shfl_sync(0xffffffffU, factor, 8 * r);
#pragma unroll
            for (int d = 0; d < 8; ++d) {
                at[r][d] *= shrink;
            }
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float2 v0 = unpackPair(values.at[j].x);
            const float2 v1 = unpackPair(values.at[j].y);
            const float2 v2 = unpackPair(values.at[j].z);
            const float2 v3 = unpackPair(values.at[j].w);
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                const float share = __shfl_sync(0xffffffffU, p, 8 * r + 2 * j);
                at[r][0] = fmaf(share, v0.x, at[r][0]);
                at[r][1] = fmaf(share, v0.y, at[r][1]);
                at[r][2] = fmaf(share, v1.x, at[r][2]);
                at[r][3] = fmaf(share, v1.y, at[r][3]);
                at[r][4] = fmaf(share, v2.x, at[r][4]);
                at[r][5] = fmaf(share, v2.y, at[r][5]);
                at[r][6] = fmaf(share, v3.x, at[r][6]);
                at[r][7] = fmaf(share, v3.y, at[r][7]);
            }
        }
    }
};

/// Part `part` of `head` for row `row`: [dim] not divided, then maximum and total.
__device__ __forceinline__ float*
rowPart(const AttendStepKernelArgs& a, int part, int head, int row) {
    return a.partial +
           static_cast<int64_t>((part * a.num_heads + head) * kStreamRows + row) * (a.head_dim + 2);
}

/// The warps' sums of 256 columns to one: divided to `out` where there is one part, else to memory.
/// Ends with a barrier.
__device__ __forceinline__ void joinRows(const AttendStepKernelArgs& a,
                                         const RowsAttendWork& w,
                                         const RowsRange& range,
                                         const RowSums& own,
                                         int vector,
                                         int rows) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const int columns = dim > 256 ? 256 : dim;
    if ((lane & 7) == 0) {
        w.tails[warp * kStreamRows + own.ownRow()] = make_float2(own.most, own.total);
    }
    if (lane * 8 < columns) {
#pragma unroll
        for (int r = 0; r < kStreamRows; ++r) {
            float4* const to =
                reinterpret_cast<float4*>(w.sums + (warp * kStreamRows + r) * columns + lane * 8);
            to[0] = make_float4(own.at[r][0], own.at[r][1], own.at[r][2], own.at[r][3]);
            to[1] = make_float4(own.at[r][4], own.at[r][5], own.at[r][6], own.at[r][7]);
        }
    }
    syncCompute();
    // Whole warps have one row: columns / 2 is a multiple of 32. As many turns for all threads.
    const int shift = 30 - __clz(columns);
#pragma unroll 1
    for (int base = 0; base < rows << shift; base += kComputeThreads) {
        const int i = base + static_cast<int>(threadIdx.x);
        const bool is_there = i >> shift < rows;
        const int row = is_there ? i >> shift : 0;
        const int column = 2 * (i & ((1 << shift) - 1));
        const float2 tail =
            lane < kComputeWarps ? w.tails[lane * kStreamRows + row] : make_float2(-INFINITY, 0.0F);
        const float largest = warpMax(tail.x);
        const float share = tail.x == -INFINITY ? 0.0F : __expf(tail.x - largest);
        const float total = warpSum(share * tail.y);
        float2 sum = make_float2(0.0F, 0.0F);
#pragma unroll 4
        for (int j = 0; j < kComputeWarps; ++j) {
            const float factor = __shfl_sync(0xffffffffU, share, j);
            const float2 part = *reinterpret_cast<const float2*>(
                w.sums + (j * kStreamRows + row) * columns + column);
            sum.x = fmaf(factor, part.x, sum.x);
            sum.y = fmaf(factor, part.y, sum.y);
        }
        const bool is_whole = range.parts == 1;
        const float inverse = !is_whole ? 1.0F : total > 0.0F ? __fdividef(1.0F, total) : 0.0F;
        float* const to = is_whole ? a.out + (row * a.num_heads + range.head) * dim
                                   : rowPart(a, range.part, range.head, row);
        if (is_there) {
            *reinterpret_cast<float2*>(to + vector * 256 + column) =
                make_float2(sum.x * inverse, sum.y * inverse);
        }
        if (is_there && !is_whole && column == 0 && vector == 0) {
            *reinterpret_cast<float2*>(to + dim) = make_float2(largest, total);
        }
    }
    syncCompute();
}

/// Queries of this block's head, its new keys and new values from the packets of step `step`. A
/// barrier has to follow.
__device__ __forceinline__ void takeHeads(const AttendStepKernelArgs& a,
                                          const RowsAttendWork& w,
                                          const RowsRange& range,
                                          const Exchange& exchange,
                                          int step) {
    const int dim = a.head_dim;
    const int shift = 29 - __clz(dim); // fours of a head
    const int key = (a.num_heads + range.kv_head) << shift;
    const int value = key + (a.v == a.k ? 0 : a.num_kv_heads << shift);
    const int heads = range.fresh > 0 && range.part == 0 ? 3 : 1;
    const uint4* const packets = rowPackets(exchange, step);
    const uint32_t mark = exchange.markOf(step);
#pragma unroll 1
    for (int i = threadIdx.x; i < heads << shift; i += kComputeThreads) {
        const int kind = i >> shift;
        const int four = i & ((1 << shift) - 1);
        const int first = kind == 0 ? range.head << shift : kind == 1 ? key : value;
        RowFour values;
        while (!values.look(packets, first + four, mark)) {
        }
#pragma unroll
        for (int r = 0; r < kStreamRows; ++r) {
            *reinterpret_cast<float4*>(w.raw + (kind * kStreamRows + r) * dim + 4 * four) =
                values.row(r);
        }
    }
}

/// Queries, new keys and new values of this block, to shared memory: a warp each. A barrier has to
/// follow. IS_TAKEN: behind takeHeads().
template <bool IS_TAKEN>
__device__ __forceinline__ void
turnRows(const AttendStepKernelArgs& a, const RowsAttendWork& w, const RowsRange& range, int rows) {
    const int warp = threadIdx.x / 32;
    const int dim = a.head_dim;
    const int kind = warp / kStreamRows;
    const int row = warp - kind * kStreamRows;
    const bool is_query = kind == 0;
    const bool is_turned = kind < 2;
    // Who has none does as if, so that nobody is elsewhere.
    const bool is_there = row < rows && (is_query || (range.fresh > 0 && range.part == 0));
    const bool has_own = is_there && !is_query;
    const float* from = nullptr;
    if (IS_TAKEN) {
        from = w.raw + ((has_own ? kind * kStreamRows : 0) + (is_there ? row : 0)) * dim;
    } else {
        const int at = has_own ? row * a.num_kv_heads + range.kv_head
                               : (is_there ? row : 0) * a.num_heads + range.head;
        from = (!has_own ? a.q : kind == 1 ? a.k : a.v) + at * dim;
    }
    VectorArgs norm = is_query ? a.q_norm : a.k_norm;
    norm.data = is_turned ? norm.data : nullptr;
    float4* const query = w.query + row * (dim / 4 + 4);
    __nv_bfloat16* const fresh = w.fresh + ((is_query ? 0 : kind - 1) * kStreamRows + row) * dim;
    turnRowHead<IS_TAKEN>(from, norm, is_turned ? w.turns + (is_there ? row : 0) * dim : nullptr,
                          dim, a.eps, is_query ? a.scale : 1.0F, [&](int d, const float4& four) {
                              if (is_there && is_query) {
                                  query[fourPlace(d >> 2, dim)] = four;
                              } else if (is_there) {
                                  *reinterpret_cast<uint2*>(fresh + d) = asBf16(four);
                              }
                          });
}

/// This block's part of its head. keys, values: the first ones, which were asked for before the
/// step before had ended. Values of more than 256 elements come one 256 after the other, and scores
/// are made once more: few layers have such heads, and code that runs once is dear.
__device__ __forceinline__ void attendPart(const AttendStepKernelArgs& a,
                                           const RowsAttendWork& w,
                                           const RowsRange& range,
                                           int rows,
                                           RowKeys& keys,
                                           RowKeys& values) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const int window = static_cast<int>(a.window);
    const int own_position = range.position + RowSums::ownRow();
    const int vectors = (dim + 255) / 256;
#pragma unroll 1
    for (int vector = 0; vector < vectors; ++vector) {
        RowSums own;
        own.clear();
#pragma unroll 1
        for (int base = range.begin; base < range.end; base += 4 * kComputeWarps) {
            const int at = base + warp;
            const bool is_first = vector == 0 && base == range.begin;
            float dots[4 * kStreamRows] = {};
#pragma unroll 1
            for (int v = 0; v < vectors; ++v) {
                if (!is_first || v > 0) {
                    keys.load(a, range, a.cache_k, at, v);
                }
                if (at < range.fresh) {
                    keys.take(w.fresh, dim, at, v);
                }
                const int eight = v * 32 + lane;
                if (eight * 8 < dim) {
#pragma unroll
                    for (int r = 0; r < kStreamRows; ++r) {
                        const float4* const q = w.query + r * (dim / 4 + 4);
                        const float4 q0 = q[fourPlace(2 * eight, dim)];
                        const float4 q1 = q[fourPlace(2 * eight + 1, dim)];
#pragma unroll
                        for (int j = 0; j < 4; ++j) {
                            dots[r * 4 + j] = addProducts(q0, q1, keys.at[j], dots[r * 4 + j]);
                        }
                    }
                }
            }
            if (!is_first) {
                values.load(a, range, a.cache_v, at, vector);
            }
            if (at < range.fresh) {
                values.take(w.fresh + kStreamRows * dim, dim, at, vector);
            }
            const float dot = sumsOfWarp(dots);
            const int key = at + RowSums::ownKey() * kComputeWarps;
            const int position = range.positionOf(key);
            const bool is_visible = key < range.end && position <= own_position &&
                                    (window == 0 || position > own_position - window);
            own.add(is_visible ? dot : -INFINITY, values);
        }
        joinRows(a, w, range, own, vector, rows);
    }
}

/// All parts of this block's head, by the last block that has one.
__device__ __forceinline__ void
mergeRows(const AttendStepKernelArgs& a, const RowsRange& range, int rows) {
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const int shift = 30 - __clz(dim);
#pragma unroll 1
    for (int base = 0; base < rows << shift; base += kComputeThreads) {
        const int i = base + static_cast<int>(threadIdx.x);
        const bool is_there = i >> shift < rows;
        const int row = is_there ? i >> shift : 0;
        const int column = 2 * (i & ((1 << shift) - 1));
        const int64_t next = static_cast<int64_t>(a.num_heads) * kStreamRows * (dim + 2);
        const float* const from = rowPart(a, 0, range.head, row);
        float2 tail = make_float2(-INFINITY, 0.0F);
        if (lane < range.parts) {
            tail = __ldcg(reinterpret_cast<const float2*>(from + lane * next + dim));
        }
        const float largest = warpMax(tail.x);
        const float share = tail.x == -INFINITY ? 0.0F : __expf(tail.x - largest);
        const float total = warpSum(share * tail.y);
        const float inverse = total > 0.0F ? __fdividef(1.0F, total) : 0.0F;
        float2 sum = make_float2(0.0F, 0.0F);
#pragma unroll 4
        for (int j = 0; j < range.parts; ++j) {
            const float factor = __shfl_sync(0xffffffffU, share, j);
            const float2 part = __ldcg(reinterpret_cast<const float2*>(from + j * next + column));
            sum.x = fmaf(factor, part.x, sum.x);
            sum.y = fmaf(factor, part.y, sum.y);
        }
        if (is_there) {
            *reinterpret_cast<float2*>(a.out + (row * a.num_heads + range.head) * dim + column) =
                make_float2(sum.x * inverse, sum.y * inverse);
        }
    }
}

/// One step.
template <typename FORM>
__device__ __forceinline__ void attendRows(const AttendStepKernelArgs& a,
                                           char* memory,
                                           char* tail,
                                           const RowShare& share,
                                           const Exchange& exchange,
                                           int step,
                                           const StepClocks& clocks) {
    const int rows = share.rows;
    const RowsRange range(a, rows, exchange);
    if (range.part >= range.parts) { // the whole block
        exchange.raiseFlag(step);
        return;
    }
    const int dim = a.head_dim;
    const RowsAttendWork w(memory, tail, dim);
    RowKeys keys;
    RowKeys values;
    keys.load(a, range, a.cache_k, range.begin + static_cast<int>(threadIdx.x) / 32, 0);
    values.load(a, range, a.cache_v, range.begin + static_cast<int>(threadIdx.x) / 32, 0);
    const int half_shift = 30 - __clz(dim);
    const int half = 1 << half_shift;
#pragma unroll 1
    for (int i = threadIdx.x; i < rows << half_shift; i += kComputeThreads) {
        const int row = i >> half_shift;
        const int d = i & (half - 1);
        float* const turns = w.turns + row * dim;
        sincosf(__fmul_rn(static_cast<float>(range.position + row), a.inv_freq[d]),
                &turns[half + d], &turns[d]);
    }
    if (FORM::kIsLarge || a.link == kLinkBoth) {
        exchange.waitForFlags(step - 1, exchange.grid); // a barrier, too
    }
    if (!FORM::kIsLarge) {
        takeHeads(a, w, range, exchange, step - 1);
        syncCompute();
    }
    clocks.note(1);
    turnRows<!FORM::kIsLarge>(a, w, range, rows);
    syncCompute();
    clocks.note(2);
    attendPart(a, w, range, rows, keys, values);
    clocks.note(3);
    if (range.fresh > 0 && range.part == 0 &&
        range.head == range.kv_head * (a.num_heads / a.num_kv_heads)) {
        const int eights = dim / 8;
        const int shift = 28 - __clz(dim);
#pragma unroll 1
        for (int i = threadIdx.x; i < 2 * rows * eights; i += kComputeThreads) {
            const bool is_key = i < rows * eights;
            const int at = is_key ? i : i - rows * eights;
            const int r = at >> shift;
            uint4* const to =
                static_cast<uint4*>(is_key ? a.cache_k : a.cache_v) +
                (static_cast<int64_t>((range.position + r) % a.capacity) * a.num_kv_heads +
                 range.kv_head) *
                    eights;
            to[at - r * eights] = *reinterpret_cast<const uint4*>(
                w.fresh + ((is_key ? 0 : kStreamRows) + r) * dim + (at - r * eights) * 8);
        }
    }
    if (range.parts > 1) {
        __threadfence();
        syncCompute();
        if (threadIdx.x == 0) {
            *w.word = atomicAdd(a.counter + range.head, 1);
            __threadfence();
        }
        syncCompute();
        if (*w.word == range.parts - 1) {
            mergeRows(a, range, rows);
            if (threadIdx.x == 0) {
                a.counter[range.head] = 0;
            }
        }
    }
    exchange.raiseFlag(step);
}

} // namespace kernels::cuda
