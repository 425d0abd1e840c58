// SPDX-License-Identifier: Apache-2.0
// Attention of stream_rows.cu: the rows of one query head, each over the keys in front of it and
// its own. Block b takes head b % heads and part b / heads of the cached keys, the first part the
// new ones too.
//
// Scores and sums of values come from tensor cores, 48 keys at a time: the four rows of the query
// (or their shares) in two bf16 each, upper and lower part, are the eight columns of a product,
// keys (or columns of the values) its rows. Warp w has keys 16 (w / 4) to 16 (w / 4) + 15 and every
// fourth 32 (64) of the columns from 32 (w % 4) on. All warps see the same maxima, so that sums of
// warps are simply added.
//
// Parts meet in memory: the last block of a head that is done merges them. New keys and values are
// made by every first part of their head and stored by one of them; nobody reads them from the
// cache in this step. Row r sees positions up to position + r; the cache is a ring of which row p %
// capacity has position p.
#pragma once

#include "kernels/cuda/device/decode/stream_attend_heads.cuh"
#include "kernels/cuda/device/small_batch/stream_rows.cuh"

namespace kernels::cuda {

constexpr int kKeyGroups = kComputeWarps / 4; ///< Warps with the same columns.
constexpr int kRowKeys = 16 * kKeyGroups;     ///< Keys at a time.
static_assert(kRowPartKeys == kRowKeys, "what the warps have in registers");
/// bf16 from one column of the query to the next: lanes of two columns are in different banks.
__device__ __forceinline__ int queryPitch(int dim) {
    return dim + 32;
}

/// Work memory (streamRowsAttendBytes()); tail: [2, kStreamRows, dim] bf16.
struct RowsAttendWork {
    __nv_bfloat16* query; ///< [2 kStreamRows, queryPitch()]: upper parts of the rows, lower parts
    float* turns;         ///< [kStreamRows, dim]: cosines, then sines;
    float* raw;           ///< [3, kStreamRows, dim]: queries, keys, values as packets brought them;
    float* sums;          ///< [kKeyGroups, kStreamRows, dim], where both were
    float* products;      ///< [4, kRowKeys, 2 kStreamRows]: of a quarter of the columns
    float* scores;        ///< [kStreamRows, kRowKeys]
    float2* tails;        ///< [kKeyGroups, kStreamRows]: maximum, total; in the products' place
    /// [2, kStreamRows, dim]: new keys, new values; codes take the first half of a row, their scale
    /// is behind.
    __nv_bfloat16* fresh;
    int* word;
    __device__ __forceinline__ RowsAttendWork(char* memory, char* tail, int dim)
        : query(reinterpret_cast<__nv_bfloat16*>(memory)),
          turns(reinterpret_cast<float*>(query + 2 * kStreamRows * queryPitch(dim))),
          raw(turns + kStreamRows * dim), sums(turns), products(raw + 3 * kStreamRows * dim),
          scores(products + 4 * kRowKeys * 2 * kStreamRows),
          tails(reinterpret_cast<float2*>(products)), fresh(reinterpret_cast<__nv_bfloat16*>(tail)),
          word(reinterpret_cast<int*>(scores + kStreamRows * kRowKeys)) {}
};

/// Where this block stands in the step. Keys are counted with the new ones first.
struct RowsRange {
    int position; ///< The first row's position.
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
template <bool IS_SHARED>
__device__ __forceinline__ HeadValues turnedRowHead(const float* from,
                                                    bool is_normed,
                                                    const VectorArgs& norm,
                                                    const float* turns,
                                                    int dim,
                                                    float eps,
                                                    float scale) {
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
    turnHead(head, is_normed, norm, turns, dim, eps, scale);
    return head;
}

/// Pieces of eight elements of key (or value) `key`: column `column` and every STEP-th behind it;
/// zeros where there is none.
template <int STEP, int COUNT, typename Eight>
__device__ __forceinline__ void loadPieces(Eight (&to)[COUNT],
                                           const AttendStepKernelArgs& a,
                                           const RowsRange& range,
                                           const void* cache,
                                           int key,
                                           int column) {
    const int dim = a.head_dim;
    const bool is_cached = key < range.end && key >= range.fresh;
    const int row = is_cached ? range.rowOf(key, a.capacity) : 0;
    const Eight* const from = reinterpret_cast<const Eight*>(kvRow(a.rows, cache, row)) +
                              (range.kv_head * dim + column) / 8;
#pragma unroll
    for (int b = 0; b < COUNT; ++b) {
        to[b] = Eight{};
        if (is_cached && column + b * STEP < dim) {
            to[b] = __ldcg(from + b * STEP / 8);
        }
    }
}
/// The scale of a cached key (or value); 1: there is none.
__device__ __forceinline__ float
loadScale(const AttendStepKernelArgs& a, const RowsRange& range, const void* cache, int key) {
    return key < range.end && key >= range.fresh
               ? __ldcg(reinterpret_cast<const float*>(
                     kvRow(a.rows, cache, range.rowOf(key, a.capacity)) + a.rows.scales_at +
                     4 * range.kv_head))
               : 1.0F;
}
/// The same of new ones. fresh: [kStreamRows, dim]
template <int STEP, int COUNT, typename Eight>
__device__ __forceinline__ void takePieces(Eight (&to)[COUNT],
                                           const RowsRange& range,
                                           const __nv_bfloat16* fresh,
                                           int dim,
                                           int key,
                                           int column) {
    if (key < range.fresh && key < range.end) {
#pragma unroll
        for (int b = 0; b < COUNT; ++b) {
            if (column + b * STEP < dim) {
                to[b] = reinterpret_cast<const Eight*>(fresh + key * dim)[(column + b * STEP) / 8];
            }
        }
    }
}
__device__ __forceinline__ void
takeScale(float& to, const RowsRange& range, const __nv_bfloat16* fresh, int dim, int key) {
    if (key < range.fresh && key < range.end) {
        to = *reinterpret_cast<const float*>(fresh + key * dim + dim / 2);
    }
}

/// A lane's part of 16 keys: eight elements of every 32 of two keys; of codes also the scale of the
/// key whose score the thread makes.
template <bool HAS_SCALES>
struct RowKeys {
    static constexpr int kStep = 32 * 4;
    static constexpr int kBlocks = kTurnFloats / kStep;
    KvEight<HAS_SCALES> at[2][kBlocks];
    float scale;

    static __device__ __forceinline__ int keyOf(int i) {
        return 16 * (static_cast<int>(threadIdx.x) >> 7) + ((threadIdx.x & 31) >> 2) + 8 * i;
    }
    static __device__ __forceinline__ int column() {
        return 32 * (static_cast<int>(threadIdx.x) >> 5 & 3) + 8 * (threadIdx.x & 3);
    }
    __device__ __forceinline__ void
    load(const AttendStepKernelArgs& a, const RowsRange& range, int base) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            loadPieces<kStep>(at[i], a, range, a.cache_k, base + keyOf(i), column());
        }
        if (HAS_SCALES) {
            scale = loadScale(a, range, a.cache_k, base + scored());
        }
    }
    /// The key of the thread's score.
    static __device__ __forceinline__ int scored() {
        return static_cast<int>(threadIdx.x) >> 2;
    }
    __device__ __forceinline__ void
    take(const RowsRange& range, const __nv_bfloat16* fresh, int dim, int base) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            takePieces<kStep>(at[i], range, fresh, dim, base + keyOf(i), column());
        }
        if (HAS_SCALES) {
            takeScale(scale, range, fresh, dim, base + scored());
        }
    }
};

/// A lane's part of 16 values: eight elements of every 64 of four values, of codes with their
/// scales.
template <bool HAS_SCALES>
struct RowValues {
    static constexpr int kStep = 64 * 4;
    static constexpr int kBlocks = kTurnFloats / kStep;
    KvEight<HAS_SCALES> at[4][kBlocks];
    float scale[4];

    static __device__ __forceinline__ int keyOf(int i) {
        return 16 * (static_cast<int>(threadIdx.x) >> 7) + 2 * (threadIdx.x & 3) + (i & 1) +
               8 * (i >> 1);
    }
    static __device__ __forceinline__ int column() {
        return 64 * (static_cast<int>(threadIdx.x) >> 5 & 3) + 8 * ((threadIdx.x & 31) >> 2);
    }
    __device__ __forceinline__ void
    load(const AttendStepKernelArgs& a, const RowsRange& range, int base) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            loadPieces<kStep>(at[i], a, range, a.cache_v, base + keyOf(i), column());
            if (HAS_SCALES) {
                scale[i] = loadScale(a, range, a.cache_v, base + keyOf(i));
            }
        }
    }
    __device__ __forceinline__ void
    take(const RowsRange& range, const __nv_bfloat16* fresh, int dim, int base) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            takePieces<kStep>(at[i], range, fresh, dim, base + keyOf(i), column());
            if (HAS_SCALES) {
                takeScale(scale[i], range, fresh, dim, base + keyOf(i));
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
template <bool IS_TAKEN, bool HAS_SCALES>
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
    const bool is_normed = is_turned ? norm.data != nullptr : a.norms_values != 0;
    norm.data = is_turned ? norm.data : nullptr;
    __nv_bfloat16* const query = w.query + row * queryPitch(dim);
    __nv_bfloat16* const fresh = w.fresh + ((is_query ? 0 : kind - 1) * kStreamRows + row) * dim;
    const HeadValues head = turnedRowHead<IS_TAKEN>(
        from, is_normed, norm, is_turned ? w.turns + (is_there ? row : 0) * dim : nullptr, dim,
        a.eps, is_query ? a.scale : 1.0F);
    if (HAS_SCALES && has_own) { // the whole warp
        const KvCoder coder = coderOf(head);
        char* const codes = reinterpret_cast<char*>(fresh);
        eachFour(head, dim, [&](int d, const float4& four) {
            *reinterpret_cast<uint32_t*>(codes + d) = coder.codes(four);
        });
        *reinterpret_cast<float*>(codes + dim) = coder.scale; // every lane the same
        return;
    }
    eachFour(head, dim, [&](int d, const float4& four) {
        if (is_there && is_query) {
            *reinterpret_cast<uint2*>(query + d) = asBf16(four);
            *reinterpret_cast<uint2*>(query + kStreamRows * queryPitch(dim) + d) =
                asBf16(belowBf16(four));
        } else if (is_there) {
            *reinterpret_cast<uint2*>(fresh + d) = asBf16(four);
        }
    });
}

/// Eight elements as bf16.
__device__ __forceinline__ uint4 eightHalves(const uint4& eight) {
    return eight;
}
__device__ __forceinline__ uint4 eightHalves(const uint2& codes) {
    return eightCodes(codes);
}

/// Products of the warp's keys and columns of them with the query, to w.products.
template <bool HAS_SCALES>
__device__ __forceinline__ void
multiplyKeys(const RowsAttendWork& w, const RowKeys<HAS_SCALES>& keys, int dim) {
    using Keys = RowKeys<HAS_SCALES>;
    const int lane = threadIdx.x & 31;
    float c[4] = {};
#pragma unroll
    for (int b = 0; b < Keys::kBlocks; ++b) {
        const int column = Keys::column() + b * Keys::kStep;
        if (column < dim) { // the whole warp
            const uint4 q =
                *reinterpret_cast<const uint4*>(w.query + (lane >> 2) * queryPitch(dim) + column);
            const uint4 k = eightHalves(keys.at[0][b]);
            const uint4 next = eightHalves(keys.at[1][b]);
            const uint32_t first[4] = {k.x, next.x, k.y, next.y};
            multiplyAdd(c, first, q.x, q.y);
            const uint32_t second[4] = {k.z, next.z, k.w, next.w};
            multiplyAdd(c, second, q.z, q.w);
        }
    }
    float* const to =
        w.products +
        ((static_cast<int>(threadIdx.x) >> 5 & 3) * kRowKeys + Keys::keyOf(0)) * (2 * kStreamRows) +
        2 * (lane & 3);
    *reinterpret_cast<float2*>(to) = make_float2(c[0], c[1]);
    *reinterpret_cast<float2*>(to + 8 * 2 * kStreamRows) = make_float2(c[2], c[3]);
}

/// Scores of the keys from `base` on, one of a row and key a thread; those that a row does not see
/// are -infinity. scale: of the thread's key.
__device__ __forceinline__ void
scoreKeys(const RowsAttendWork& w, const RowsRange& range, int window, int base, float scale) {
    const int own = static_cast<int>(threadIdx.x) >> 2;
    const int row = threadIdx.x & 3;
    if (own < kRowKeys) {
        const float* const from = w.products + own * 2 * kStreamRows + row;
        float score = 0.0F;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            score += from[i * kRowKeys * 2 * kStreamRows] +
                     from[i * kRowKeys * 2 * kStreamRows + kStreamRows];
        }
        const int key = base + own;
        const int position = range.positionOf(key);
        const int own_position = range.position + row;
        const bool is_visible = key < range.end && position <= own_position &&
                                (window == 0 || position > own_position - window);
        w.scores[row * kRowKeys + own] = is_visible ? score * scale : -INFINITY;
    }
}

/// What a warp keeps of its values: columns 8 (lane / 4) to 8 (lane / 4) + 7 of every 64, of two
/// rows in upper or lower parts; of row lane / 4 % 4 the largest score so far of all keys, and the
/// total of its own ones.
template <bool HAS_SCALES>
struct RowSums {
    using Values = RowValues<HAS_SCALES>;
    float at[Values::kBlocks][4][4];
    float most;
    float total;

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (auto& block : at) {
#pragma unroll
            for (auto& four : block) {
                four[0] = four[1] = four[2] = four[3] = 0.0F;
            }
        }
        most = -INFINITY;
        total = 0.0F;
    }

    /// The next keys; is_more: there were some before.
    __device__ __forceinline__ void
    add(const float* scores, const Values& values, int dim, bool is_more) {
        const int lane = threadIdx.x & 31;
        const float* const own = scores + (lane >> 2 & 3) * kRowKeys;
        float largest = most;
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            const float4 v = reinterpret_cast<const float4*>(own)[(lane & 3) * 3 + i];
            largest = fmaxf(fmaxf(largest, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
        }
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 2));
        // All scores of a row that sees nothing yet are -infinity, too.
        const float from = largest == -INFINITY ? 0.0F : largest;
        const float2 s0 = *reinterpret_cast<const float2*>(own + Values::keyOf(0));
        const float2 s1 = *reinterpret_cast<const float2*>(own + Values::keyOf(2));
        const float4 p = make_float4(__expf(s0.x - from), __expf(s0.y - from), __expf(s1.x - from),
                                     __expf(s1.y - from));
        float sum = (p.x + p.y) + (p.z + p.w);
        sum += __shfl_xor_sync(0xffffffffU, sum, 1);
        sum += __shfl_xor_sync(0xffffffffU, sum, 2);
        const float factor = __expf(most - from); // of the first keys zero
        total = fmaf(total, factor, sum);
        most = largest;
        const float shrink = __shfl_sync(0xffffffffU, factor, 8 * (lane & 1));
        const float next = __shfl_sync(0xffffffffU, factor, 8 * (lane & 1) + 4);
        if (is_more) {
#pragma unroll
            for (auto& block : at) {
#pragma unroll
                for (auto& four : block) {
                    four[0] *= shrink;
                    four[1] *= next;
                    four[2] *= shrink;
                    four[3] *= next;
                }
            }
        }
        const float4 weight = HAS_SCALES ? make_float4(p.x * values.scale[0], p.y * values.scale[1],
                                                       p.z * values.scale[2], p.w * values.scale[3])
                                         : p;
        const uint2 shares = asBf16(lane < 16 ? weight : belowBf16(weight));
#pragma unroll
        for (int b = 0; b < Values::kBlocks; ++b) {
            if (Values::column() + b * Values::kStep < dim) { // the whole warp
                const uint4 eights[4] = {eightHalves(values.at[0][b]), eightHalves(values.at[1][b]),
                                         eightHalves(values.at[2][b]),
                                         eightHalves(values.at[3][b])};
                const auto wordOf = [&](int i, int j) {
                    const uint4& eight = eights[i];
                    return j == 0 ? eight.x : j == 1 ? eight.y : j == 2 ? eight.z : eight.w;
                };
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    // Two columns of pairs of keys.
                    const uint32_t columns[4] = {permuteBytes(wordOf(0, j), wordOf(1, j), 0x5410U),
                                                 permuteBytes(wordOf(0, j), wordOf(1, j), 0x7632U),
                                                 permuteBytes(wordOf(2, j), wordOf(3, j), 0x5410U),
                                                 permuteBytes(wordOf(2, j), wordOf(3, j), 0x7632U)};
                    multiplyAdd(at[b][j], columns, shares.x, shares.y);
                }
            }
        }
    }

    /// To w.sums and w.tails. Of two lanes with the upper and lower parts of two rows each adds and
    /// stores one.
    __device__ __forceinline__ void store(const RowsAttendWork& w, int dim) const {
        const int lane = threadIdx.x & 31;
        const int group = static_cast<int>(threadIdx.x) >> 7;
        const bool is_lower = (lane & 2) != 0;
        const int row = 2 * (lane & 1) + (is_lower ? 1 : 0);
        if ((threadIdx.x & 127) < 16 && (lane & 3) == 0) {
            w.tails[group * kStreamRows + (lane >> 2)] = make_float2(most, total);
        }
#pragma unroll
        for (int b = 0; b < Values::kBlocks; ++b) {
            // All lanes, also where there are no such columns.
            float v[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const float(&c)[4] = at[b][i >> 1];
                const int first = 2 * (i & 1);
                const float given = is_lower ? c[first] : c[first + 1];
                v[i] =
                    (is_lower ? c[first + 1] : c[first]) + __shfl_xor_sync(0xffffffffU, given, 2);
            }
            const int column = Values::column() + b * Values::kStep;
            if (column < dim) {
                float4* const to =
                    reinterpret_cast<float4*>(w.sums + (group * kStreamRows + row) * dim + column);
                to[0] = make_float4(v[0], v[1], v[2], v[3]);
                to[1] = make_float4(v[4], v[5], v[6], v[7]);
            }
        }
    }
};

/// The groups' sums to one: divided to `out` where there is one part, else to memory.
__device__ __forceinline__ void
joinRows(const AttendStepKernelArgs& a, const RowsAttendWork& w, const RowsRange& range, int rows) {
    const int dim = a.head_dim;
    const int shift = 29 - __clz(dim); // fours of a head
    const bool is_whole = range.parts == 1;
#pragma unroll 1
    for (int i = threadIdx.x; i < rows << shift; i += kComputeThreads) {
        const int row = i >> shift;
        const int column = 4 * (i & ((1 << shift) - 1));
        float2 tail = w.tails[row];
        float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
#pragma unroll
        for (int j = 0; j < kKeyGroups; ++j) {
            if (j > 0) {
                tail.y += w.tails[j * kStreamRows + row].y;
            }
            const float4 part =
                *reinterpret_cast<const float4*>(w.sums + (j * kStreamRows + row) * dim + column);
            sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
        }
        const float inverse = !is_whole ? 1.0F : tail.y > 0.0F ? __fdividef(1.0F, tail.y) : 0.0F;
        float2* const to =
            reinterpret_cast<float2*>((is_whole ? a.out + (row * a.num_heads + range.head) * dim
                                                : rowPart(a, range.part, range.head, row)) +
                                      column);
        to[0] = make_float2(sum.x * inverse, sum.y * inverse);
        to[1] = make_float2(sum.z * inverse, sum.w * inverse);
        if (!is_whole && column == dim - 4) {
            to[2] = tail;
        }
    }
}

/// This block's part of its head. keys, values: the first ones, which were asked for before the
/// step before had ended.
template <bool HAS_SCALES>
__device__ __forceinline__ void attendPart(const AttendStepKernelArgs& a,
                                           const RowsAttendWork& w,
                                           const RowsRange& range,
                                           int rows,
                                           RowKeys<HAS_SCALES>& keys,
                                           RowValues<HAS_SCALES>& values) {
    const int dim = a.head_dim;
    RowSums<HAS_SCALES> own;
    own.clear();
#pragma unroll 1
    for (int base = range.begin;;) {
        if (base < range.fresh) {
            keys.take(range, w.fresh, dim, base);
            values.take(range, w.fresh + kStreamRows * dim, dim, base);
        }
        multiplyKeys(w, keys, dim);
        syncCompute();
        scoreKeys(w, range, static_cast<int>(a.window), base, HAS_SCALES ? keys.scale : 1.0F);
        syncCompute();
        own.add(w.scores, values, dim, base > range.begin);
        base += kRowKeys;
        if (base >= range.end) {
            break;
        }
        keys.load(a, range, base);
        values.load(a, range, base);
    }
    own.store(w, dim);
    syncCompute();
    joinRows(a, w, range, rows);
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

/// This block's part of the heads, made and attended to; new keys and values are left in w.fresh.
template <typename FORM, bool HAS_SCALES>
__device__ __forceinline__ void attendRange(const AttendStepKernelArgs& a,
                                            const RowsAttendWork& w,
                                            const RowsRange& range,
                                            int rows,
                                            const Exchange& exchange,
                                            int step,
                                            const StepClocks& clocks) {
    const int dim = a.head_dim;
    RowKeys<HAS_SCALES> keys;
    RowValues<HAS_SCALES> values;
    keys.load(a, range, range.begin);
    values.load(a, range, range.begin);
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
    turnRows<!FORM::kIsLarge, HAS_SCALES>(a, w, range, rows);
    syncCompute();
    clocks.note(2);
    attendPart(a, w, range, rows, keys, values);
    clocks.note(3);
}

/// One step.
template <typename FORM>
__device__ __forceinline__ void attendRows(const AttendStepKernelArgs& a,
                                           char* memory,
                                           char* tail,
                                           int rows,
                                           const Exchange& exchange,
                                           int step,
                                           const StepClocks& clocks) {
    const RowsRange range(a, rows, exchange);
    if (range.part >= range.parts) { // the whole block
        exchange.raiseFlag(step);
        return;
    }
    const int dim = a.head_dim;
    const RowsAttendWork w(memory, tail, dim);
    const bool has_scales = a.rows.scales_at != 0;
    if (has_scales) {
        attendRange<FORM, true>(a, w, range, rows, exchange, step, clocks);
    } else {
        attendRange<FORM, false>(a, w, range, rows, exchange, step, clocks);
    }
    if (range.fresh > 0 && range.part == 0 &&
        range.head == range.kv_head * (a.num_heads / a.num_kv_heads)) {
        const int shift = (has_scales ? 27 : 28) - __clz(dim);
        const int pieces = 1 << shift; // of a row
#pragma unroll 1
        for (int i = threadIdx.x; i < 2 * rows << shift; i += kComputeThreads) {
            const bool is_key = i < rows << shift;
            const int at = is_key ? i : i - (rows << shift);
            const int r = at >> shift;
            const int piece = at & (pieces - 1);
            char* const row =
                static_cast<char*>(is_key ? a.cache_k : a.cache_v) +
                static_cast<int64_t>((range.position + r) % a.capacity) * a.rows.bytes;
            const uint4* const from =
                reinterpret_cast<const uint4*>(w.fresh + ((is_key ? 0 : kStreamRows) + r) * dim);
            reinterpret_cast<uint4*>(row)[range.kv_head * pieces + piece] = from[piece];
            if (has_scales && piece == 0) {
                *reinterpret_cast<float*>(row + a.rows.scales_at + 4 * range.kv_head) =
                    *reinterpret_cast<const float*>(from + pieces);
            }
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
