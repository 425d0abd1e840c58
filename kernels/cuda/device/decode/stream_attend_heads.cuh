// SPDX-License-Identifier: Apache-2.0
// Attention of stream.cu over few cache rows (a window, a short context): one block takes one query
// head and one part of the rows, block b head b % heads and part b / heads. Every warp has up to
// kWarpKeys keys and values in registers before the queries are there; what follows is one chain
// that is as short as it can be: query, barrier, scores, sums of the warps, barrier, result.
//
// One part: its block publishes the result. More: a block publishes its sums, not divided, with
// their maximum and total, as packets in a place for attention alone, and merges some columns of
// its head from all parts. One such place is enough: whoever begins an attention step has read, in
// the projection before, what depends on all results of the attention before, and these were
// published by those who had read all parts.
//
// The new token is the first of the rows, so that one warp of the first part has it. Its row of the
// cache is stored behind the result, by warps that have nothing to do then. Who reads that row in a
// later layer has taken packets that this block published after a barrier behind the storing warps'
// fence: the storing block is one of the first ones, which have a share of every projection.
#pragma once

#include "kernels/cuda/device/decode/stream_attend_input.cuh"

namespace kernels::cuda {

/// Where fours of a head lie in shared memory, in fours: those that the lanes take together, first
/// ones and second ones of their eights, next to each other, the two in different banks.
__device__ __forceinline__ int fourPlace(int four, int dim) {
    return (four >> 1) + (four & 1) * (dim / 8 + 4);
}

/// Work memory (streamHeadBytes()).
struct HeadWork {
    float4* query; ///< [dim / 4 + 4]: fourPlace()
    float4* sums;  ///< [kComputeWarps, dim / 4 + 4], likewise
    float2* tails; ///< [kComputeWarps]: maximum, total
    /// [2, dim]: the new key and value; codes take the first half of a row, their scale is behind.
    __nv_bfloat16* fresh;
};
__device__ __forceinline__ HeadWork headWork(char* memory, int dim) {
    const int fours = dim / 4 + 4;
    HeadWork w{};
    w.query = reinterpret_cast<float4*>(memory);
    w.sums = w.query + fours;
    w.tails = reinterpret_cast<float2*>(w.sums + kComputeWarps * fours);
    w.fresh = reinterpret_cast<__nv_bfloat16*>(w.tails + kComputeWarps);
    return w;
}

/// Packets of one part of a head: its columns, then maximum and total.
__device__ __forceinline__ uint2*
partPackets(const Exchange& exchange, const AttendStepKernelArgs& a, int head, int part) {
    return exchange.packets + exchange.parts + (head * a.head_parts + part) * (a.head_dim + 2);
}

/// A bf16 pair as two fp32.
__device__ __forceinline__ float2 unpackPair(uint32_t pair) {
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000U));
}

/// Eight elements as fp32.
struct EightFloats {
    float4 low, high;
    explicit __device__ __forceinline__ EightFloats(const uint4& bits) {
        const float2 k0 = unpackPair(bits.x);
        const float2 k1 = unpackPair(bits.y);
        const float2 k2 = unpackPair(bits.z);
        const float2 k3 = unpackPair(bits.w);
        low = make_float4(k0.x, k0.y, k1.x, k1.y);
        high = make_float4(k2.x, k2.y, k3.x, k3.y);
    }
    explicit __device__ __forceinline__ EightFloats(const uint2& codes)
        : low(fourCodes(codes.x)), high(fourCodes(codes.y)) {}
};

/// Sum over eight elements.
__device__ __forceinline__ float
addProducts(const float4& a, const float4& b, const EightFloats& key, float sum) {
    // Two chains.
    float other = a.y * key.low.y;
    sum = fmaf(a.x, key.low.x, sum);
    other = fmaf(a.w, key.low.w, other);
    sum = fmaf(a.z, key.low.z, sum);
    other = fmaf(b.y, key.high.y, other);
    sum = fmaf(b.x, key.high.x, sum);
    other = fmaf(b.w, key.high.w, other);
    sum = fmaf(b.z, key.high.z, sum);
    return sum + other;
}

/// Sums of four values over the warp: lane i gets that of value i / 8.
__device__ __forceinline__ float warpSums(const float (&v)[4]) {
    const bool is_upper = (threadIdx.x & 16) != 0;
    float first = is_upper ? v[2] : v[0];
    float second = is_upper ? v[3] : v[1];
    first += __shfl_xor_sync(0xffffffffU, is_upper ? v[0] : v[2], 16);
    second += __shfl_xor_sync(0xffffffffU, is_upper ? v[1] : v[3], 16);
    const bool is_second = (threadIdx.x & 8) != 0;
    float sum = is_second ? second : first;
    sum += __shfl_xor_sync(0xffffffffU, is_second ? first : second, 8);
#pragma unroll
    for (int offset = 4; offset > 0; offset >>= 1) {
        sum += __shfl_xor_sync(0xffffffffU, sum, offset);
    }
    return sum;
}

__device__ __forceinline__ void publishPair(uint2* to, float first, float second, uint32_t mark) {
    storePacket(to, __float_as_uint(first), mark);
    storePacket(to + 1, __float_as_uint(second), mark);
}

/// The query (warp 0) or the new token's key or value (warps 1 and 2), as the step before has made
/// it, to shared memory.
template <typename FORM, bool HAS_SCALES>
__device__ __forceinline__ void turnOwn(const AttendStepKernelArgs& a,
                                        const HeadWork& w,
                                        const AttendConstants& constants,
                                        const char* norms,
                                        int norm_bytes,
                                        const Exchange& exchange,
                                        int step,
                                        const StepClocks& clocks) {
    const int dim = a.head_dim;
    const bool is_query = threadIdx.x / 32 == 0;
    const bool is_key = threadIdx.x / 32 == 1;
    const int keys_at = a.num_heads * dim;
    const int values_at = a.v == a.k ? keys_at : keys_at + a.num_kv_heads * dim;
    const int at =
        is_query ? constants.head * dim : (is_key ? keys_at : values_at) + constants.kv_head * dim;
    const bool is_turned = is_query || is_key;
    // As stored, brought by the step before.
    VectorArgs norm =
        normOf(is_query ? a.q_norm : a.k_norm, norms + (is_query ? 0 : norm_bytes), FORM::kIsBulk);
    const bool is_normed = is_turned ? norm.data != nullptr : a.norms_values != 0;
    if (!is_turned) {
        norm.data = nullptr;
    }
    __nv_bfloat16* const row = w.fresh + (is_key ? 0 : dim);
    HeadValues head;
    head.take(exchange.packetsOf(step - 1 + kPacketSteps), at, dim / 2, exchange.markOf(step - 1));
    clocks.note(1);
    turnHead(head, is_normed, norm, is_turned ? constants.turns : nullptr, dim, a.eps,
             is_query ? a.scale : 1.0F);
    if (HAS_SCALES && !is_query) {
        const KvCoder coder = coderOf(head);
        char* const codes = reinterpret_cast<char*>(row);
        eachFour(head, dim, [&](int d, const float4& four) {
            *reinterpret_cast<uint32_t*>(codes + d) = coder.codes(four);
        });
        *reinterpret_cast<float*>(codes + dim) = coder.scale; // every lane the same
        return;
    }
    eachFour(head, dim, [&](int d, const float4& four) {
        if (is_query) {
            w.query[fourPlace(d >> 2, dim)] = four;
        } else {
            *reinterpret_cast<uint2*>(row + d) = asBf16(four);
        }
    });
}

/// Shares of this warp's keys, of which `visible` has a bit each: a row that nobody may see can
/// hold anything and is never multiplied. scales: of lane j's key j, of its value.
template <int KEYS, bool HAS_SCALES>
__device__ __forceinline__ void weighKeys(const float (&dots)[4],
                                          uint32_t visible,
                                          const float2& scales,
                                          float (&share)[KEYS],
                                          float& largest,
                                          float& total) {
    const int lane = threadIdx.x & 31;
    const auto scaled = [](float value, float scale, int key) {
        return HAS_SCALES ? value * __shfl_sync(0xffffffffU, scale, key) : value;
    };
    if (KEYS == 1) {
        if (visible != 0) {
            largest = scaled(warpSum(dots[0]), scales.x, 0);
            total = 1.0F;
        }
        share[0] = scaled(total, scales.y, 0);
    } else {
        const float dot = scaled(warpSums(dots), scales.x, lane >> 3);
        const float score = (visible >> (lane >> 3) & 1U) != 0 ? dot : -INFINITY;
        largest = fmaxf(score, __shfl_xor_sync(0xffffffffU, score, 8));
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 16));
        const float p = score == -INFINITY ? 0.0F : __expf(score - largest);
        total = p + __shfl_xor_sync(0xffffffffU, p, 8);
        total += __shfl_xor_sync(0xffffffffU, total, 16);
#pragma unroll
        for (int j = 0; j < KEYS; ++j) {
            share[j] = scaled(__shfl_sync(0xffffffffU, p, 8 * j), scales.y, j);
        }
    }
}

/// This warp's sums of its values, to shared memory.
template <int VECTORS, int KEYS, typename Eight>
__device__ __forceinline__ void sumValues(const HeadWork& w,
                                          int dim,
                                          const Eight (&values)[KEYS][VECTORS],
                                          uint32_t visible,
                                          const float (&share)[KEYS]) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    float4* const sums = w.sums + warp * (dim / 4 + 4);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        const int eight = v * 32 + lane;
        float4 low = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        float4 high = low;
#pragma unroll
        for (int j = 0; j < KEYS; ++j) {
            if ((visible >> j & 1U) != 0) {
                const EightFloats e(values[j][v]);
                low = make_float4(fmaf(share[j], e.low.x, low.x), fmaf(share[j], e.low.y, low.y),
                                  fmaf(share[j], e.low.z, low.z), fmaf(share[j], e.low.w, low.w));
                high =
                    make_float4(fmaf(share[j], e.high.x, high.x), fmaf(share[j], e.high.y, high.y),
                                fmaf(share[j], e.high.z, high.z), fmaf(share[j], e.high.w, high.w));
            }
        }
        if (eight * 8 < dim) {
            sums[fourPlace(2 * eight, dim)] = low;
            sums[fourPlace(2 * eight + 1, dim)] = high;
        }
    }
}

/// This block's part of its head. VECTORS: eights of a head that a lane has; KEYS: most keys of a
/// warp, 1 or kWarpKeys.
template <typename FORM, int VECTORS, int KEYS, bool HAS_SCALES>
__device__ __forceinline__ void attendKeys(const AttendStepKernelArgs& a,
                                           const HeadWork& w,
                                           const AttendConstants& constants,
                                           const char* norms,
                                           int norm_bytes,
                                           const Exchange& exchange,
                                           int step,
                                           const StepClocks& clocks) {
    static_assert(KEYS <= 4, "as warpSums() takes them");
    using Eight = KvEight<HAS_SCALES>;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const bool is_owner = a.k != nullptr;
    const int position = constants.position;
    // Which of the rows in reach the new token's is; the others keep their order behind it.
    const int fresh = !is_owner ? -1 : a.is_ring != 0 ? constants.count - 1 : constants.slot;
    const bool holds_new = is_owner && constants.split == 0;
    const int first = constants.split * constants.chunk + warp;
    const int end = constants.count < (constants.split + 1) * constants.chunk
                        ? constants.count
                        : (constants.split + 1) * constants.chunk;
    const auto keyOf = [&](int i) {
        return !is_owner ? i : i == 0 ? fresh : i - 1 + (i > fresh ? 1 : 0);
    };

    // Row j of this warp as it is cached; the new token's comes later.
    const auto load = [&](Eight(&rows)[KEYS][VECTORS], const void* cache) {
#pragma unroll
        for (int j = 0; j < KEYS; ++j) {
            const int i = first + j * kComputeWarps;
            const bool is_cached = i < end && !(is_owner && i == 0);
            const int row = is_cached ? rowOf(a, constants, keyOf(i)) : 0;
            const Eight* const at = reinterpret_cast<const Eight*>(kvRow(a.rows, cache, row)) +
                                    constants.kv_head * (dim / 8) + lane;
#pragma unroll
            for (int v = 0; v < VECTORS; ++v) {
                rows[j][v] = Eight{};
                if (is_cached && (v * 32 + lane) * 8 < dim) {
                    rows[j][v] = __ldcg(at + v * 32);
                }
            }
        }
    };
    // Both would take too many registers while a wide query is on its way.
    constexpr bool kLoadsValuesFirst = VECTORS * KEYS <= 4;
    Eight keys[KEYS][VECTORS];
    Eight values[KEYS][VECTORS];
    load(keys, a.cache_k);
    if (kLoadsValuesFirst) {
        load(values, a.cache_v);
    }
    // Lane j asks where key j stands, and for its scales.
    const int mine = first + lane * kComputeWarps;
    int at_position = -1;
    float2 scales = make_float2(1.0F, 1.0F);
    if (HAS_SCALES && lane < KEYS && mine < end && !(is_owner && mine == 0)) {
        const int row = rowOf(a, constants, keyOf(mine));
        scales = make_float2(kvScaleOf(a.rows, a.cache_k, row, constants.kv_head),
                             kvScaleOf(a.rows, a.cache_v, row, constants.kv_head));
    }
    if (lane < KEYS && mine < end) {
        at_position =
            (is_owner && mine == 0) || a.is_ring != 0 ? position : a.key_position[keyOf(mine)];
    }

    if (warp == 0 || (warp <= 2 && holds_new)) {
        turnOwn<FORM, HAS_SCALES>(a, w, constants, norms, norm_bytes, exchange, step, clocks);
    }
    if (!kLoadsValuesFirst) {
        load(values, a.cache_v);
    }
    const bool is_visible = at_position >= 0 && at_position <= position &&
                            (a.window == 0 || at_position > position - a.window);
    const uint32_t visible = __ballot_sync(0xffffffffU, is_visible ? 1 : 0);
    syncCompute();
    clocks.note(2);

    if (holds_new && warp == 0) {
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
            const int d = (v * 32 + lane) * 8;
            if (d < dim) {
                keys[0][v] = reinterpret_cast<const Eight*>(w.fresh)[v * 32 + lane];
                values[0][v] = reinterpret_cast<const Eight*>(w.fresh + dim)[v * 32 + lane];
            }
        }
        if (HAS_SCALES && lane == 0) {
            scales = make_float2(*reinterpret_cast<const float*>(w.fresh + dim / 2),
                                 *reinterpret_cast<const float*>(w.fresh + dim + dim / 2));
        }
    }
    float dots[4] = {};
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        const int eight = v * 32 + lane;
        if (eight * 8 < dim) {
            const float4 q0 = w.query[fourPlace(2 * eight, dim)];
            const float4 q1 = w.query[fourPlace(2 * eight + 1, dim)];
#pragma unroll
            for (int j = 0; j < KEYS; ++j) {
                if ((visible >> j & 1U) != 0) {
                    dots[j] = addProducts(q0, q1, EightFloats(keys[j][v]), dots[j]);
                }
            }
        }
    }
    float largest = -INFINITY;
    float total = 0.0F;
    float share[KEYS] = {};
    weighKeys<KEYS, HAS_SCALES>(dots, visible, scales, share, largest, total);
    sumValues<VECTORS, KEYS>(w, dim, values, visible, share);
    if (lane == 0) {
        w.tails[warp] = make_float2(largest, total);
    }
}

/// The warps' sums to one: two columns a thread. To the other blocks of the head, or divided to the
/// next step.
__device__ __forceinline__ void joinWarps(const AttendStepKernelArgs& a,
                                          const HeadWork& w,
                                          const AttendConstants& constants,
                                          const Exchange& exchange,
                                          int step) {
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    float2 tail = make_float2(-INFINITY, 0.0F);
    if (lane < kComputeWarps) {
        tail = w.tails[lane];
    }
    const float largest = warpMax(tail.x);
    const float share = tail.x == -INFINITY ? 0.0F : __expf(tail.x - largest);
    const float total = warpSum(share * tail.y);
    const int column = 2 * static_cast<int>(threadIdx.x);
    const bool is_there = column < dim;
    const float2* from =
        reinterpret_cast<const float2*>(w.sums + fourPlace(is_there ? column >> 2 : 0, dim)) +
        (threadIdx.x & 1);
    float2 sum = make_float2(0.0F, 0.0F);
#pragma unroll
    for (int i = 0; i < kComputeWarps; ++i) {
        const float factor = __shfl_sync(0xffffffffU, share, i);
        const float2 v = from[i * (dim / 2 + 8)];
        sum.x = fmaf(factor, v.x, sum.x);
        sum.y = fmaf(factor, v.y, sum.y);
    }
    const uint32_t mark = exchange.markOf(step);
    if (constants.parts > 1) {
        uint2* const to = partPackets(exchange, a, constants.head, constants.split);
        if (is_there) {
            publishPair(to + column, sum.x, sum.y, mark);
        }
        if (threadIdx.x == 0) {
            publishPair(to + dim, largest, total, mark);
        }
    } else if (is_there) {
        const float inverse = total > 0.0F ? __fdividef(1.0F, total) : 0.0F;
        const int at = constants.head * dim + column;
        sum = make_float2(sum.x * inverse, sum.y * inverse);
        if (a.publish == kLinkPackets) {
            publishPair(exchange.packetsOf(step) + packetPlace(at), sum.x, sum.y, mark);
        }
        *reinterpret_cast<float2*>(a.out + at) = sum;
    }
}

/// The new token's rows to the cache; two warps, one for keys, one for values.
__device__ __forceinline__ void storeFresh(const AttendStepKernelArgs& a,
                                           const HeadWork& w,
                                           const AttendConstants& constants,
                                           bool is_key) {
    const int pieces = a.rows.scales_at != 0 ? a.head_dim / 16 : a.head_dim / 8;
    char* const row = static_cast<char*>(is_key ? a.cache_k : a.cache_v) +
                      static_cast<int64_t>(constants.slot) * a.rows.bytes;
    uint4* const to = reinterpret_cast<uint4*>(row) + constants.kv_head * pieces;
    const uint4* const from = reinterpret_cast<const uint4*>(w.fresh + (is_key ? 0 : a.head_dim));
#pragma unroll 1
    for (int i = threadIdx.x & 31; i < pieces; i += 32) {
        to[i] = from[i];
    }
    if (a.rows.scales_at != 0 && (threadIdx.x & 31) == 0) {
        *reinterpret_cast<float*>(row + a.rows.scales_at + 4 * constants.kv_head) =
            *reinterpret_cast<const float*>(from + pieces);
    }
    __threadfence();
}

/// Sixteen columns of this block's head from all parts, by one warp: a lane takes two columns of
/// every fourth part.
__device__ __forceinline__ void mergeHead(const AttendStepKernelArgs& a,
                                          const AttendConstants& constants,
                                          const Exchange& exchange,
                                          int step,
                                          int first) {
    constexpr int kRounds = kHeadParts / 4;
    static_assert(kHeadParts <= 32 && kHeadParts % 4 == 0, "tails: one a lane");
    const int lane = threadIdx.x & 31;
    const int dim = a.head_dim;
    const int parts = constants.parts;
    const uint32_t mark = exchange.markOf(step);
    const int pitch = dim + 2;
    const uint2* const packets = partPackets(exchange, a, constants.head, 0);
    const uint2* const tail_at = packets + (lane < parts ? lane : 0) * pitch + dim;
    const uint2* const from = packets + (lane >> 3) * pitch + first + 2 * (lane & 7);
    uint4 v[kRounds];
    uint4 tail;
    bool is_there = false;
    while (!is_there) {
        tail = loadPackets(tail_at);
        is_there = tail.y == mark && tail.w == mark;
#pragma unroll
        for (int i = 0; i < kRounds; ++i) {
            v[i] = make_uint4(0, mark, 0, mark);
            if ((lane >> 3) + 4 * i < parts) {
                v[i] = loadPackets(from + 4 * i * pitch);
            }
        }
#pragma unroll
        for (int i = 0; i < kRounds; ++i) {
            is_there = is_there && v[i].y == mark && v[i].w == mark;
        }
    }
    __syncwarp();
    const float score = lane < parts ? __uint_as_float(tail.x) : -INFINITY;
    const float largest = warpMax(score);
    const float share = score == -INFINITY ? 0.0F : __expf(score - largest);
    const float total = warpSum(share * __uint_as_float(tail.z));
    float2 sum = make_float2(0.0F, 0.0F);
#pragma unroll
    for (int i = 0; i < kRounds; ++i) {
        const float factor = __shfl_sync(0xffffffffU, share, (lane >> 3) + 4 * i);
        sum.x = fmaf(factor, __uint_as_float(v[i].x), sum.x);
        sum.y = fmaf(factor, __uint_as_float(v[i].z), sum.y);
    }
    sum.x += __shfl_xor_sync(0xffffffffU, sum.x, 8);
    sum.y += __shfl_xor_sync(0xffffffffU, sum.y, 8);
    sum.x += __shfl_xor_sync(0xffffffffU, sum.x, 16);
    sum.y += __shfl_xor_sync(0xffffffffU, sum.y, 16);
    if (lane < 8) {
        const float inverse = total > 0.0F ? __fdividef(1.0F, total) : 0.0F;
        const int at = constants.head * dim + first + 2 * lane;
        sum = make_float2(sum.x * inverse, sum.y * inverse);
        if (a.publish == kLinkPackets) {
            publishPair(exchange.packetsOf(step) + packetPlace(at), sum.x, sum.y, mark);
        }
        *reinterpret_cast<float2*>(a.out + at) = sum;
    }
}

/// attendKeys() in the form that the heads and the number of keys have.
template <typename FORM, bool HAS_SCALES>
__device__ __forceinline__ void attendAnyKeys(const AttendStepKernelArgs& a,
                                              const HeadWork& w,
                                              const AttendConstants& constants,
                                              const char* norms,
                                              int norm_bytes,
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    const auto attend = [&](auto vectors, auto keys) {
        attendKeys<FORM, decltype(vectors)::value, decltype(keys)::value, HAS_SCALES>(
            a, w, constants, norms, norm_bytes, exchange, step, clocks);
    };
    using One = std::integral_constant<int, 1>;
    using Two = std::integral_constant<int, 2>;
    using More = std::integral_constant<int, kWarpKeys>;
    const bool has_one = constants.chunk <= kComputeWarps;
    if (a.head_dim <= 256) {
        has_one ? attend(One{}, One{}) : attend(One{}, More{});
    } else {
        has_one ? attend(Two{}, One{}) : attend(Two{}, More{});
    }
}

/// The whole step of one block.
template <typename FORM>
__device__ __forceinline__ void attendHeads(const AttendStepKernelArgs& a,
                                            char* memory,
                                            const AttendConstants& constants,
                                            const char* norms,
                                            int norm_bytes,
                                            const Exchange& exchange,
                                            int step,
                                            const StepClocks& clocks) {
    const int warp = threadIdx.x / 32;
    const int dim = a.head_dim;
    if (constants.split < constants.parts) {
        const HeadWork w = headWork(memory, dim);
        if (a.rows.scales_at != 0) {
            attendAnyKeys<FORM, true>(a, w, constants, norms, norm_bytes, exchange, step, clocks);
        } else {
            attendAnyKeys<FORM, false>(a, w, constants, norms, norm_bytes, exchange, step, clocks);
        }
        syncCompute();
        if (warp * 64 < dim) {
            joinWarps(a, w, constants, exchange, step);
        }
        const int heads = a.num_heads / a.num_kv_heads;
        if (warp >= kComputeWarps - 2 && a.k != nullptr && constants.split == 0 &&
            constants.head == constants.kv_head * heads) {
            storeFresh(a, w, constants, warp == kComputeWarps - 1);
        }
    }
    clocks.note(3);
    if (constants.parts > 1 && constants.split < a.head_parts) {
#pragma unroll 1
        for (int group = constants.split + warp * a.head_parts; group < dim / 16;
             group += kComputeWarps * a.head_parts) {
            mergeHead(a, constants, exchange, step, 16 * group);
        }
    }
}

} // namespace kernels::cuda
