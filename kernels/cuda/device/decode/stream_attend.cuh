// SPDX-License-Identifier: Apache-2.0
// Attention of stream.cu: one block takes a range of cache rows of one kv head for all its query
// heads, on tensor cores. Keys and values of a tile travel into shared memory while the block waits
// for the queries. Queries and softmax weights are split into two bf16 each, in the two halves of a
// 16-row operand (up to eight heads), so that nothing is rounded that was not rounded before.
//
// Rows with scales (kernels/kv_rows.h) lie in shared memory as they are stored. A lane gets four
// codes of a key that follow each other where it would have two pairs of bf16, eight columns apart:
// queries have their columns in that order (queryColumn()). Of values it gets two columns of two
// keys, so that a product has the even and one the odd ones of 16 columns.
//
// The new token's key and value take their own row of the tile; the block that has that row also
// stores them to the cache. One part: it publishes the result. More: every block merges some
// columns of all parts and publishes those.
#pragma once

#include "kernels/cuda/device/decode/stream_attend_heads.cuh"

namespace kernels::cuda {

/// Rows 16 bytes apart more than they have: eight of them lie in different banks.
struct PaddedRows {
    char* at;
    int row_bytes;
    /// Eight columns of bf16, sixteen codes.
    [[nodiscard]] __device__ __forceinline__ char* eight(int row, int column) const {
        return at + row * row_bytes + column * 16;
    }
};
/// Rows in the gaps of the table of codes, which the step has no other use for: 128 bytes a gap.
/// Gaps all begin at the same bank, so that each row has its own order of eights in them.
struct GapRows {
    char* at;  ///< The first gap.
    int shift; ///< A row has 1 << shift gaps.
    [[nodiscard]] __device__ __forceinline__ char* eight(int row, int column) const {
        return at + ((row << shift) + (column >> 3)) * kCodeEntryBytes + ((row ^ column) & 7) * 16;
    }
};

/// Work memory of attention (streamAttendBytes(), but for the values; asyncAttendBytes()); rows are
/// 16 bytes apart more.
template <typename FORM>
struct AttendWork {
    using Values = std::conditional_t<FORM::kHasGaps, GapRows, PaddedRows>;
    PaddedRows keys; ///< [kTileKeys]
    Values values;   ///< [kTileKeys]
    bool is_apart;   ///< Not values in the place of the keys, behind the scores.
    char* queries;   ///< [2 kTileHeads] rows: high parts, low parts
    float* scores;   ///< [2 halves of the columns, 2 kTileHeads, kTileKeys + 1]
    char* weights;   ///< [2 kTileHeads] rows of kTileKeys bf16, 16 bytes apart more
    float* factors;  ///< [kTileHeads]: correction of what was summed before; behind it 1 / sum
    float* merged;   ///< [kComputeWarps, 16]
    char* fresh;   ///< 2 rows: the new key and value, of codes with the scale behind a query's end
    int row_bytes; ///< A row of queries.

    /// Scale of the new key, of the new value.
    [[nodiscard]] __device__ __forceinline__ float& freshScale(bool is_key) const {
        return *reinterpret_cast<float*>(fresh + (is_key ? 1 : 2) * row_bytes - 16);
    }
};
constexpr int kWeightRowBytes = kTileKeys * 2 + 16;

/// gaps: of the table of codes, where it has such.
template <typename FORM, bool HAS_SCALES>
__device__ __forceinline__ AttendWork<FORM> attendWork(char* memory, char* gaps, int head_dim) {
    AttendWork<FORM> w{};
    const int cached = HAS_SCALES ? head_dim : head_dim * 2;
    w.row_bytes = head_dim * 2 + 16;
    w.keys = {memory, cached + 16};
    memory += kTileKeys * w.row_bytes;
    w.is_apart = FORM::kHasGaps || head_dim <= kApartHead;
    if constexpr (FORM::kHasGaps) {
        w.values = {gaps, cached < 128 ? 0 : 31 - __clz(cached / 128)};
    } else {
        w.values = w.is_apart ? PaddedRows{memory, cached + 16} : w.keys;
        memory += w.is_apart ? kTileKeys * w.row_bytes : 0;
    }
    w.queries = memory;
    memory += 2 * kTileHeads * w.row_bytes;
    w.weights = memory;
    memory += 2 * kTileHeads * kWeightRowBytes;
    w.factors = reinterpret_cast<float*>(memory);
    memory += 256;
    w.merged = reinterpret_cast<float*>(memory);
    memory += 16 * kComputeWarps * 4;
    w.fresh = memory;
    memory += 2 * w.row_bytes;
    w.scores = reinterpret_cast<float*>(memory);
    return w;
}

/// Copies tile rows [first, first + kTileKeys) below `end` (zeros behind) of keys or values, but
/// not row `made`, which is being made.
template <bool HAS_SCALES, typename Rows>
__device__ __forceinline__ void copyTile(const AttendStepKernelArgs& a,
                                         const void* cache,
                                         const Rows& to,
                                         const AttendConstants& constants,
                                         int first,
                                         int end,
                                         int made = -1) {
    const int kv_head = constants.kv_head;
    const int vectors = a.head_dim / (HAS_SCALES ? 16 : 8);
    const int shift = 31 - __clz(vectors);
    const char* const from = static_cast<const char*>(cache) + kv_head * vectors * 16;
    const int64_t stride = a.rows.bytes;
    for (int i = threadIdx.x; i < kTileKeys << shift; i += kComputeThreads) {
        const int row = i >> shift;
        const int column = i & (vectors - 1);
        const bool is_there = first + row < end;
        if (first + row == made) {
            continue;
        }
        copyAsync16(sharedAddress(to.eight(row, column)),
                    from + rowOf(a, constants, is_there ? first + row : 0) * stride + column * 16,
                    is_there);
    }
}

/// Rows of heads that there are not, and factors. The others' are being written by now.
template <typename FORM>
__device__ __forceinline__ void clearAbsent(const AttendWork<FORM>& w, int heads) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    for (int row = warp; heads < kTileHeads && row < 2 * kTileHeads; row += kComputeWarps) {
        for (int i = lane; (row & 7) >= heads && i < w.row_bytes / 16; i += 32) {
            reinterpret_cast<uint4*>(w.queries + row * w.row_bytes)[i] = make_uint4(0, 0, 0, 0);
        }
    }
    for (int i = threadIdx.x; heads < kTileHeads && i < 2 * kTileHeads * kWeightRowBytes / 4;
         i += kComputeThreads) {
        reinterpret_cast<uint32_t*>(w.weights)[i] = 0;
    }
    if (threadIdx.x < kTileHeads) {
        w.factors[threadIdx.x] = 0.0F;
    }
}

/// What is looked up of AttendConstants, and divided, once.
struct RangeHeads {
    int heads, kv_head; // heads of the kv head
    int slot;           // of the new token's row; -1: it is another layer's
    int split, parts;
};

/// Where the new token's row is among those of this block, if it is there.
struct FreshRow {
    int at;
    bool is_held;
    bool is_in_place; ///< In the first tile: put there at once, else kept until its tile's turn.
};

/// Where columns d and d + 1 of a query are, d even, so that codes as a lane gets them meet them.
__device__ __forceinline__ int queryColumn(int d) {
    return (d & ~15) + ((d & 12) >> 1) + ((d & 2) << 2);
}

/// A warp takes a head: queries, then the new key and value.
template <typename FORM, bool HAS_SCALES>
__device__ __forceinline__ void turnHeads(const AttendStepKernelArgs& a,
                                          const AttendWork<FORM>& w,
                                          const AttendConstants& constants,
                                          const RangeHeads& its,
                                          const char* norms,
                                          int norm_bytes,
                                          const Exchange& exchange,
                                          int step,
                                          int begin,
                                          const FreshRow& fresh,
                                          const StepClocks& clocks) {
    const int warp = threadIdx.x / 32;
    const int dim = a.head_dim;
    const bool is_query = warp < its.heads;
    const bool is_key = warp == kTileHeads && fresh.is_held;
    if (!is_query && !is_key && !(warp == kTileHeads + 1 && fresh.is_held)) {
        return;
    }
    const int keys_at = a.num_heads * dim;
    const int values_at = a.v == a.k ? keys_at : keys_at + a.num_kv_heads * dim;
    const int at = is_query ? (its.kv_head * its.heads + warp) * dim
                            : (is_key ? keys_at : values_at) + its.kv_head * dim;
    const bool is_in_gaps = fresh.is_in_place && !is_query && !is_key;
    char* const high = is_query            ? w.queries + warp * w.row_bytes
                       : fresh.is_in_place ? w.keys.eight(fresh.at - begin, 0)
                                           : w.fresh + (is_key ? 0 : w.row_bytes);
    auto* const low =
        is_query ? reinterpret_cast<__nv_bfloat16*>(w.queries + (kTileHeads + warp) * w.row_bytes)
                 : nullptr;
    char* const row = static_cast<char*>(is_key ? a.cache_k : a.cache_v) +
                      static_cast<int64_t>(its.slot) * a.rows.bytes;
    const bool is_turned = is_query || is_key;
    // As stored, brought by the step before.
    VectorArgs norm =
        normOf(is_query ? a.q_norm : a.k_norm, norms + (is_query ? 0 : norm_bytes), FORM::kIsBulk);
    const bool is_normed = is_turned ? norm.data != nullptr : a.norms_values != 0;
    if (!is_turned) {
        norm.data = nullptr;
    }
    const float eps = a.eps;
    const float scale = is_query ? a.scale : 1.0F;
    HeadValues head;
    head.take(exchange.packetsOf(step - 1 + kPacketSteps), at, dim / 2, exchange.markOf(step - 1));
    clocks.note(1);
    turnHead(head, is_normed, norm, is_turned ? constants.turns : nullptr, dim, eps, scale);
    // Queries as two bf16; what is cached as it is stored, and to the cache as well.
    if (HAS_SCALES && !is_query) {
        const KvCoder coder = coderOf(head);
        eachFour(head, dim, [&](int d, const float4& four) {
            const uint32_t codes = coder.codes(four);
            *reinterpret_cast<uint32_t*>(is_in_gaps
                                             ? w.values.eight(fresh.at - begin, d >> 4) + (d & 15)
                                             : high + d) = codes;
            *reinterpret_cast<uint32_t*>(row + its.kv_head * dim + d) = codes;
        });
        if ((threadIdx.x & 31) == 0) {
            w.freshScale(is_key) = coder.scale;
            *reinterpret_cast<float*>(row + a.rows.scales_at + 4 * its.kv_head) = coder.scale;
        }
        return;
    }
    auto* const cache = reinterpret_cast<__nv_bfloat16*>(row) + its.kv_head * dim;
    eachFour(head, dim, [&](int d, const float4& four) {
        const uint2 upper = asBf16(four);
        const uint2 second = is_query ? asBf16(belowBf16(four)) : upper;
        if (HAS_SCALES) { // a query
            auto* const to = reinterpret_cast<__nv_bfloat16*>(high);
            const int at = queryColumn(d);
            *reinterpret_cast<uint32_t*>(to + at) = upper.x;
            *reinterpret_cast<uint32_t*>(to + at + 8) = upper.y;
            *reinterpret_cast<uint32_t*>(low + at) = second.x;
            *reinterpret_cast<uint32_t*>(low + at + 8) = second.y;
            return;
        }
        *reinterpret_cast<uint2*>(is_in_gaps
                                      ? w.values.eight(fresh.at - begin, d >> 3) + (d & 4) * 2
                                      : high + d * 2) = upper;
        *reinterpret_cast<uint2*>((is_query ? low : cache) + d) = second;
    });
}

/// Scores of a tile: eight keys and half of the columns a warp, of eight warps.
template <bool HAS_SCALES, typename FORM>
__device__ __forceinline__ void scoreTile(const AttendWork<FORM>& w, int half, uint32_t lane_row) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int key0 = (warp & 3) * 8;
    const int column0 = (warp >> 2) * half;
    float c[4] = {};
    for (int d = 0; HAS_SCALES && d < half; d += 64) {
        // Codes of four times 16 columns, as many as there are.
        const int last = (half - d) / 16 - 1;
        const int mine = lane >> 3 < last ? lane >> 3 : last;
        uint32_t k[4];
        loadMatrix4(k, sharedAddress(w.keys.eight(key0 + (lane & 7), (column0 + d) / 16 + mine)));
        const uint32_t q_at = sharedAddress(w.queries) + lane_row +
                              static_cast<uint32_t>((column0 + d) * 2) +
                              ((lane >> 3) & 1) * (8 * w.row_bytes) + (lane >> 4) * 16;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (i <= last) {
                uint32_t q[4];
                loadMatrix4(q, q_at + 32 * i);
                multiplyAdd(c, q, lowCodes(k[i]), highCodes(k[i]));
            }
        }
    }
    for (int d = 0; !HAS_SCALES && d < half; d += 32) {
        // Rows 0-7 and 8-15 of 16 columns, then of 16 more; keys of 32 columns.
        uint32_t q0[4];
        uint32_t q1[4];
        uint32_t k[4];
        const uint32_t at = static_cast<uint32_t>((column0 + d) * 2);
        const uint32_t q_at = sharedAddress(w.queries) + lane_row + at +
                              ((lane >> 3) & 1) * (8 * w.row_bytes) + (lane >> 4) * 16;
        loadMatrix4(k, sharedAddress(w.keys.at) + key0 * w.row_bytes + lane_row + at +
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

/// Weights of a tile's keys for head `warp`, a key a lane; what is there so far is to be multiplied
/// by the factor that is left for the head. scales: of the key, of its value.
template <typename FORM>
__device__ __forceinline__ void weighTile(const AttendWork<FORM>& w,
                                          bool is_visible,
                                          const float2& scales,
                                          float& largest,
                                          float& total) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    float score = -INFINITY;
    if (is_visible) {
        score = 0.0F;
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            score += w.scores[(part * kTileHeads + warp) * (kTileKeys + 1) + lane];
        }
        score *= scales.x;
    }
    const float next = fmaxf(largest, warpMax(score));
    const float correction = largest == -INFINITY ? 0.0F : __expf(largest - next);
    const float p = is_visible ? __expf(score - next) : 0.0F;
    total = total * correction + warpSum(p);
    largest = next;
    const float weight = is_visible ? p * scales.y : 0.0F;
    reinterpret_cast<__nv_bfloat16*>(w.weights + warp * kWeightRowBytes)[lane] =
        __float2bfloat16_rn(weight);
    reinterpret_cast<__nv_bfloat16*>(w.weights + (kTileHeads + warp) * kWeightRowBytes)[lane] =
        __float2bfloat16_rn(weight - roundBf16(weight));
    if (lane == 0) {
        w.factors[warp] = correction;
        w.factors[kTileHeads + warp] = total > 0.0F ? __fdividef(1.0F, total) : 0.0F;
    }
}

constexpr int kMostColumns = (64 + kComputeWarps - 1) / kComputeWarps; // of 8, of heads of 512

/// Adds a tile's values: eight columns of all heads at a time; of codes sixteen, first the even
/// ones, then the odd ones. pieces: of 16 bytes in a row.
template <bool HAS_SCALES, typename FORM>
__device__ __forceinline__ void
addValues(const AttendWork<FORM>& w, int pieces, float (&out)[kMostColumns][4]) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    uint32_t p[2][4];
    const uint32_t p_at = sharedAddress(w.weights) + (lane & 7) * kWeightRowBytes +
                          ((lane >> 3) & 1) * (8 * kWeightRowBytes) + (lane >> 4) * 16;
    loadMatrix4(p[0], p_at);
    loadMatrix4(p[1], p_at + 32);
    const float correction = w.factors[lane >> 2];
    constexpr int kProducts = HAS_SCALES ? 2 : 1;
#pragma unroll
    for (int i = 0; i < kMostColumns / kProducts; ++i) {
        const int piece = warp + i * kComputeWarps;
        if (piece < pieces) {
            uint32_t v[4];
            loadMatrix4Transposed(v, sharedAddress(w.values.eight(lane, piece)));
#pragma unroll
            for (int j = 0; j < kProducts; ++j) {
                float(&sums)[4] = out[i * kProducts + j];
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    sums[r] *= correction;
                }
                const auto column = [&](uint32_t word) {
                    return HAS_SCALES ? codePair(permuteBytes(word, 0U, j == 0 ? 0x4240U : 0x4341U))
                                      : word;
                };
                multiplyAdd(sums, p[0], column(v[0]), column(v[1]));
                multiplyAdd(sums, p[1], column(v[2]), column(v[3]));
            }
        }
    }
}

/// To the other blocks of the head, or divided to the next step. out: as addValues() leaves it.
template <bool HAS_SCALES, typename FORM>
__device__ __forceinline__ void storeRange(const AttendStepKernelArgs& a,
                                           const AttendWork<FORM>& w,
                                           const RangeHeads& its,
                                           const Exchange& exchange,
                                           int step,
                                           const float (&out)[kMostColumns][4]) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const int head0 = its.kv_head * its.heads;
    constexpr int kProducts = HAS_SCALES ? 2 : 1;
    const int pieces = dim / (8 * kProducts);
    const int h = lane >> 2;
    if (h < its.heads) {
        const float share = its.parts == 1 ? w.factors[kTileHeads + h] : 1.0F;
#pragma unroll
        for (int i = 0; i < kMostColumns; ++i) {
            const int piece = warp + i / kProducts * kComputeWarps;
            if (i < kMostColumns / kProducts * kProducts && piece < pieces) {
                // Two columns: of one product, or one of each for sums 2 (i % 2) of both.
                const int d =
                    piece * 8 * kProducts + (lane & 3) * 2 * kProducts + 2 * (i % kProducts);
                const float(&first)[4] = out[HAS_SCALES ? i & ~1 : i];
                const float(&second)[4] = out[HAS_SCALES ? i | 1 : i];
                const int from = HAS_SCALES ? i & 1 : 0;
                const int next = HAS_SCALES ? from : 1;
                const float low = (first[from] + first[from + 2]) * share;
                const float high = (second[next] + second[next + 2]) * share;
                const int at = (head0 + h) * dim + d;
                if (its.parts > 1) {
                    float* const to =
                        a.partial + (static_cast<int64_t>(head0 + h) * a.splits + its.split) * dim +
                        d;
                    *reinterpret_cast<float2*>(to) = make_float2(low, high);
                } else {
                    a.out[at] = low;
                    a.out[at + 1] = high;
                    if (a.publish == kLinkPackets) {
                        exchange.publish(step, at, low);
                        exchange.publish(step, at + 1, high);
                    }
                }
            }
        }
    }
}

/// The part of this block: sums over rows [begin, end).
template <bool HAS_SCALES, typename FORM>
__device__ __forceinline__ void attendRange(const AttendStepKernelArgs& a,
                                            const AttendWork<FORM>& w,
                                            const AttendConstants& constants,
                                            const char* norms,
                                            int norm_bytes,
                                            const Exchange& exchange,
                                            int step,
                                            int begin,
                                            int end,
                                            const StepClocks& clocks) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const int half = dim / 2;
    const RangeHeads its = {a.num_heads / a.num_kv_heads, constants.kv_head,
                            a.k != nullptr ? constants.slot : -1, constants.split, constants.parts};
    const int position = constants.position;
    // The new token among the rows in reach.
    const int fresh = a.k == nullptr ? -1 : a.is_ring != 0 ? constants.count - 1 : its.slot;
    const bool holds_new = fresh >= begin && fresh < end;
    // In the first tile it is put in its place at once, else kept until its tile's turn.
    const bool is_in_place = w.is_apart && holds_new && fresh < begin + kTileKeys;
    const int made = is_in_place ? fresh : -1;

    copyTile<HAS_SCALES>(a, a.cache_k, w.keys, constants, begin, end, made);
    commitCopies();
    clearAbsent(w, its.heads);
    if (w.is_apart) {
        copyTile<HAS_SCALES>(a, a.cache_v, w.values, constants, begin, end, made);
    }
    commitCopies();
    turnHeads<FORM, HAS_SCALES>(a, w, constants, its, norms, norm_bytes, exchange, step, begin,
                                {fresh, holds_new, is_in_place}, clocks);
    clocks.note(2);

    // Running maximum and sum of head `warp`, the same in all lanes.
    float largest = -INFINITY;
    float total = 0.0F;
    float out[kMostColumns][4] = {};
    const int pieces = dim / (HAS_SCALES ? 16 : 8); // of a row
    const uint32_t lane_row = static_cast<uint32_t>((lane & 7) * w.row_bytes);
#pragma unroll 1
    for (int first = begin; first < end; first += kTileKeys) {
        const bool has_new =
            holds_new && !is_in_place && fresh >= first && fresh < first + kTileKeys;
        const int key = first + lane;
        const int at_position = key >= end                       ? -1
                                : key == fresh || a.is_ring != 0 ? position
                                                                 : a.key_position[key];
        float2 scales = make_float2(1.0F, 1.0F);
        if (HAS_SCALES && key < end && key != fresh) {
            const int row = rowOf(a, constants, key);
            scales = make_float2(kvScaleOf(a.rows, a.cache_k, row, its.kv_head),
                                 kvScaleOf(a.rows, a.cache_v, row, its.kv_head));
        }
        if (w.is_apart) {
            waitForCopyGroups<1>();
        } else {
            waitForCopies();
        }
        if (has_new) {
            syncCompute(); // after the copy of the old row
            if (static_cast<int>(threadIdx.x) < pieces) {
                *reinterpret_cast<uint4*>(w.keys.eight(fresh - first, threadIdx.x)) =
                    reinterpret_cast<const uint4*>(w.fresh)[threadIdx.x];
            }
        }
        syncCompute();
        if (warp < 8) {
            scoreTile<HAS_SCALES>(w, half, lane_row);
        }
        syncCompute();
        const int after = first + kTileKeys;
        if (!w.is_apart) {
            copyTile<HAS_SCALES>(a, a.cache_v, w.values, constants, first, end);
        } else if (after < end) {
            copyTile<HAS_SCALES>(a, a.cache_k, w.keys, constants, after, end);
        }
        commitCopies();
        const bool is_visible = at_position >= 0 && at_position <= position &&
                                (a.window == 0 || at_position > position - a.window);
        const uint32_t hidden = __ballot_sync(0xffffffffU, !is_visible && key < end ? 1 : 0);
        if (HAS_SCALES && key == fresh) {
            scales = make_float2(w.freshScale(true), w.freshScale(false));
        }
        if (warp < its.heads) {
            weighTile(w, is_visible, scales, largest, total);
        }
        if (w.is_apart) {
            waitForCopyGroups<1>(); // the values; the next keys may still be on their way
        } else {
            waitForCopies();
        }
        if (has_new || hidden != 0) {
            syncCompute();
            if (has_new && static_cast<int>(threadIdx.x) < pieces) {
                *reinterpret_cast<uint4*>(w.values.eight(fresh - first, threadIdx.x)) =
                    reinterpret_cast<const uint4*>(w.fresh + w.row_bytes)[threadIdx.x];
            }
            // A hidden row may hold anything, NaN included: times zero it must be zero.
            for (int r = warp; r < kTileKeys; r += kComputeWarps) {
                if ((hidden >> r & 1U) != 0) {
                    for (int i = lane; i < pieces; i += 32) {
                        *reinterpret_cast<uint4*>(w.values.eight(r, i)) = make_uint4(0, 0, 0, 0);
                    }
                }
            }
        }
        syncCompute();
        addValues<HAS_SCALES>(w, pieces, out);
        if (after < end) {
            syncCompute();
            if (w.is_apart) {
                copyTile<HAS_SCALES>(a, a.cache_v, w.values, constants, after, end);
            } else {
                copyTile<HAS_SCALES>(a, a.cache_k, w.keys, constants, after, end);
            }
        }
        commitCopies();
    }
    waitForCopies();

    storeRange<HAS_SCALES>(a, w, its, exchange, step, out);
    if (its.parts > 1 && warp < its.heads && lane == 0) {
        reinterpret_cast<float2*>(
            a.partial + static_cast<int64_t>(a.num_heads) * a.splits *
                            dim)[(its.kv_head * its.heads + warp) * a.splits + its.split] =
            make_float2(largest, total);
    }
}

/// Sixteen columns at a time of all parts: sum of exp(m - M) part / L.
template <typename FORM>
__device__ __forceinline__ void mergeColumns(const AttendStepKernelArgs& a,
                                             const AttendWork<FORM>& w,
                                             const Exchange& exchange,
                                             int step,
                                             int parts) {
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
        const float* const column =
            a.partial + static_cast<int64_t>(h) * a.splits * dim + (first - h * dim) + (lane & 15);
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
        float share = tail.x == -INFINITY ? 0.0F : __expf(tail.x - largest);
        float sum = share * tail.y;
        float total = share * value;
        for (int p = part + 2 * kComputeWarps; p < parts; p += 2 * kComputeWarps) {
            tail = __ldcg(tails + p);
            value = __ldcg(column + static_cast<int64_t>(p) * dim);
            share = tail.x == -INFINITY ? 0.0F : __expf(tail.x - largest);
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
            const float result = sum > 0.0F ? __fdividef(total, sum) : 0.0F;
            const int at = first + static_cast<int>(threadIdx.x);
            a.out[at] = result;
            if (a.publish == kLinkPackets) {
                exchange.publish(step, at, result);
            }
        }
        syncCompute();
    }
}

/// tiles, heads: work memory by tiles and by heads; gaps: attendWork(). Returns whether it was by
/// heads.
template <typename FORM>
__device__ __forceinline__ bool streamAttend(const AttendStepKernelArgs& a,
                                             char* tiles,
                                             char* heads,
                                             char* gaps,
                                             char* constant_memory,
                                             const char* norms,
                                             int norm_bytes,
                                             const Exchange& exchange,
                                             int step,
                                             const StepClocks& clocks) {
    const AttendConstants& constants = attendConstants(a, constant_memory, exchange);
    if (constants.by_head != 0) {
        attendHeads<FORM>(a, heads, constants, norms, norm_bytes, exchange, step, clocks);
        return true;
    }
    const bool has_scales = a.rows.scales_at != 0;
    const AttendWork<FORM> w = has_scales ? attendWork<FORM, true>(tiles, gaps, a.head_dim)
                                          : attendWork<FORM, false>(tiles, gaps, a.head_dim);
    if (constants.split < constants.parts) {
        const int begin = constants.split * constants.chunk;
        const int end =
            begin + constants.chunk < constants.count ? begin + constants.chunk : constants.count;
        if (has_scales) {
            attendRange<true>(a, w, constants, norms, norm_bytes, exchange, step, begin, end,
                              clocks);
        } else {
            attendRange<false>(a, w, constants, norms, norm_bytes, exchange, step, begin, end,
                               clocks);
        }
        // Also the cache's new row, for the layers that read it.
        exchange.raiseFlag(step);
    }
    clocks.note(3);
    if (constants.parts > 1) {
        exchange.waitForFlags(step, constants.parts * a.num_kv_heads);
        mergeColumns(a, w, exchange, step, constants.parts);
    }
    return false;
}

} // namespace kernels::cuda
