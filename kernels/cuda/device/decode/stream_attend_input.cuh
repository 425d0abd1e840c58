// SPDX-License-Identifier: Apache-2.0
// What both forms of attention in stream.cu share (stream_attend_heads.cuh, stream_attend.cuh): the
// constants of a token, and a head on its way from packets through norm and RoPE.
#pragma once

#include "kernels/cuda/device/common/kv_codes.cuh"
#include "kernels/cuda/device/decode/exchange.cuh"
#include "kernels/cuda/device/decode/project_input.cuh"
#include "kernels/cuda/device/decode/stream_form.cuh"

namespace kernels::cuda {

/// What stays the same for all layers of one kind while a token is made.
struct AttendConstants {
    const float* inv_freq; ///< These pointers also tell the kind.
    const int32_t* position_at;
    const int32_t* count_at;
    const int32_t* slot_at;
    int position;
    int slot;
    int count;     ///< Cache rows in reach.
    int first_row; ///< The first of them; behind the last row of a ring comes row 0.
    int by_head;   ///< Not 0: a block takes one query head (stream_attend_heads.cuh).
    int chunk;     ///< Rows of one part.
    int parts;
    int split;                            ///< This block's part; there may be no such.
    int kv_head;                          ///< Its kv head,
    int head;                             ///< and by head: its query head.
    alignas(16) float turns[kTurnFloats]; ///< [2, head_dim / 2]: cosine, sine of each pair.
};
static_assert(2 * sizeof(AttendConstants) <= kAttendConstantBytes, "as the host plans");

/// The constants of this step's kind, read where they are not there yet. All compute threads.
const __device__ __forceinline__ AttendConstants&
attendConstants(const AttendStepKernelArgs& a, char* memory, const Exchange& exchange) {
    AttendConstants& c = reinterpret_cast<AttendConstants*>(memory)[a.window > 0 ? 1 : 0];
    const int32_t* const slot_at = a.k != nullptr ? a.slot : nullptr;
    const bool is_there = c.inv_freq == a.inv_freq && c.position_at == a.position &&
                          c.count_at == a.key_count && (slot_at == nullptr || c.slot_at == slot_at);
    if (is_there) {
        return c;
    }
    syncCompute(); // everybody has looked
    const int position = *a.position;
    const int half = a.head_dim / 2;
    for (int d = threadIdx.x; d < half; d += kComputeThreads) {
        sincosf(__fmul_rn(static_cast<float>(position + a.turn), a.inv_freq[d]), &c.turns[half + d],
                &c.turns[d]);
    }
    if (threadIdx.x == 0) {
        c.position = position;
        c.slot = slot_at != nullptr ? *slot_at : -1;
        c.count = *a.key_count;
        c.first_row = 0;
        if (a.is_ring != 0) {
            // Position p lies in row p % capacity: only the window's rows are read.
            const int most =
                a.window > 0 && a.window < a.capacity ? static_cast<int>(a.window) : a.capacity;
            c.count = position + 1 < most ? position + 1 : most;
            c.first_row = (position + 1 - c.count) % a.capacity;
        }
        c.by_head = c.count <= a.head_parts * kHeadKeys ? 1 : 0;
        if (c.by_head != 0) {
            // One part if that is possible: then nothing has to be merged.
            const int round = a.head_parts * kComputeWarps;
            c.chunk =
                c.count <= kHeadKeys ? kHeadKeys : (c.count + round - 1) / round * kComputeWarps;
            c.split = exchange.block / a.num_heads;
            c.head = exchange.block - c.split * a.num_heads;
            c.kv_head = c.head / (a.num_heads / a.num_kv_heads);
        } else {
            const int tiles = (c.count + kTileKeys - 1) / kTileKeys;
            const int per_part = (tiles + a.splits - 1) / a.splits;
            c.chunk = (per_part > 0 ? per_part : 1) * kTileKeys;
            c.split = exchange.block / a.num_kv_heads;
            c.kv_head = exchange.block - c.split * a.num_kv_heads;
        }
        c.parts = (c.count + c.chunk - 1) / c.chunk;
        c.position_at = a.position;
        c.count_at = a.key_count;
        c.slot_at = slot_at;
        c.inv_freq = a.inv_freq;
    }
    syncCompute();
    return c;
}

__device__ __forceinline__ float roundBf16(float v) {
    return __bfloat162float(__float2bfloat16_rn(v));
}

/// Cache row of key i.
__device__ __forceinline__ int
rowOf(const AttendStepKernelArgs& a, const AttendConstants& constants, int i) {
    const int row = constants.first_row + i;
    return row < a.capacity ? row : row - a.capacity;
}

/// One head off its packets: a lane holds the same elements of both halves, fours 32 lanes apart.
struct HeadValues {
    static constexpr int kFours = kTurnFloats / 2 / 128;
    float4 at[2][kFours];

    /// first: value with which the head begins.
    __device__ __forceinline__ void take(const uint2* packets, int first, int half, uint32_t mark) {
        const int lane = threadIdx.x & 31;
        bool is_there = false;
        while (!is_there) {
            is_there = true;
#pragma unroll
            for (int i = 0; i < 2 * kFours; ++i) {
                const int d = 4 * lane + 128 * (i >> 1);
                uint4 v[2] = {make_uint4(0, mark, 0, mark), make_uint4(0, mark, 0, mark)};
                if (d < half) {
                    const uint2* const at = packets + packetPlace(first + d + (i & 1) * half);
                    v[0] = loadPackets(at);
                    v[1] = loadPackets(at + kPacketHalf);
                }
                is_there = is_there && v[0].y == mark && v[0].w == mark && v[1].y == mark &&
                           v[1].w == mark;
                at[i & 1][i >> 1] = make_float4(__uint_as_float(v[0].x), __uint_as_float(v[0].z),
                                                __uint_as_float(v[1].x), __uint_as_float(v[1].z));
            }
        }
    }
};

__device__ __forceinline__ uint2 asBf16(const float4& v) {
    const __nv_bfloat162 first = __floats2bfloat162_rn(v.x, v.y);
    const __nv_bfloat162 second = __floats2bfloat162_rn(v.z, v.w);
    uint2 bits{};
    memcpy(&bits.x, &first, 4);
    memcpy(&bits.y, &second, 4);
    return bits;
}
/// What rounding to bf16 takes away.
__device__ __forceinline__ float4 belowBf16(const float4& v) {
    return make_float4(v.x - roundBf16(v.x), v.y - roundBf16(v.y), v.z - roundBf16(v.z),
                       v.w - roundBf16(v.w));
}

/// Norm (is_normed; no data: without weight), RoPE (turns nullptr: none) and scale of one head in
/// place; a warp. The sum of squares is needed at the very end only: it travels through the lanes
/// while the rest is computed.
__device__ __forceinline__ void turnHead(HeadValues& head,
                                         bool is_normed,
                                         const VectorArgs& norm,
                                         const float* turns,
                                         int dim,
                                         float eps,
                                         float scale) {
    const int lane = threadIdx.x & 31;
    const int half = dim / 2;
    float sum = 0.0F;
#pragma unroll
    for (int j = 0; j < HeadValues::kFours; ++j) {
        sum += sumOfSquares(head.at[0][j]) + sumOfSquares(head.at[1][j]); // zeros behind the end
    }
    const float squares = warpSum(sum);
    const float inverse =
        is_normed ? rsqrtf(__fdividef(squares, static_cast<float>(dim)) + eps) * scale : scale;
#pragma unroll
    for (int j = 0; j < HeadValues::kFours; ++j) {
        const int d = 4 * lane + 128 * j;
        if (d >= half) {
            break;
        }
        float4 a = times(head.at[0][j], loadFour(norm, d));
        float4 b = times(head.at[1][j], loadFour(norm, d + half));
        if (turns != nullptr) {
            const float4 cosine = *reinterpret_cast<const float4*>(turns + d);
            const float4 sine = *reinterpret_cast<const float4*>(turns + half + d);
            const float4 turned =
                make_float4(a.x * cosine.x - b.x * sine.x, a.y * cosine.y - b.y * sine.y,
                            a.z * cosine.z - b.z * sine.z, a.w * cosine.w - b.w * sine.w);
            b = make_float4(b.x * cosine.x + a.x * sine.x, b.y * cosine.y + a.y * sine.y,
                            b.z * cosine.z + a.z * sine.z, b.w * cosine.w + a.w * sine.w);
            a = turned;
        }
        head.at[0][j] = times(a, inverse);
        head.at[1][j] = times(b, inverse);
    }
}

/// store(d, four): elements d to d + 3 of a lane.
template <typename Store>
__device__ __forceinline__ void eachFour(const HeadValues& head, int dim, const Store& store) {
    const int lane = threadIdx.x & 31;
    const int half = dim / 2;
#pragma unroll
    for (int j = 0; j < HeadValues::kFours; ++j) {
        const int d = 4 * lane + 128 * j;
        if (d >= half) {
            break;
        }
        store(d, head.at[0][j]);
        store(d + half, head.at[1][j]);
    }
}

/// How a turned head is stored as codes; a warp.
__device__ __forceinline__ KvCoder coderOf(const HeadValues& head) {
    uint32_t largest = 0;
#pragma unroll
    for (int i = 0; i < 2 * HeadValues::kFours; ++i) {
        const float4& four = head.at[i & 1][i >> 1]; // zeros behind the end
        largest = max(max(largest, max(magnitudeOf(four.x), magnitudeOf(four.y))),
                      max(magnitudeOf(four.z), magnitudeOf(four.w)));
    }
    return KvCoder(warpMaxBits(largest));
}

} // namespace kernels::cuda
