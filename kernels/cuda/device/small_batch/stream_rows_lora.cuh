// SPDX-License-Identifier: Apache-2.0
// Low-rank updates in stream_rows.cu, of up to four rows. A and B stay in memory, as in
// stream_direct.cuh, but no warp is for them alone: the check of drafts waits longer for weights
// than an update takes. A h is made once in the grid: a unit is one row of A times a range of
// columns (UnitPiece), which a warp multiplies by all rows as soon as the input is there. Its four
// sums are a packet, as results are. While they are on their way the block multiplies weights;
// then it collects those of all units, and whoever makes a result adds B (A h) of its row.
#pragma once

#include "kernels/cuda/device/small_batch/stream_rows_input.cuh"
#include "kernels/cuda/device/decode/unit_plan.cuh"

namespace kernels::cuda {

/// Updates of one step of rows.
template <typename FORM>
struct RowUpdates {
    float* ranks; ///< [kStreamRows, pitch]: A h, each rank times the factor of its update.
    int pitch;    ///< Rows begin at different banks.
    bool is_there;

    __device__ __forceinline__ RowUpdates(const ProjectKernelArgs& a, char* work)
        : ranks(reinterpret_cast<float*>(work + a.direct_at * 16)),
          pitch(rowUpdatePitch(a.lora_first[3])), is_there(a.lora_units > 0) {}

    /// A of the block's units and B of its rows on their way into L2: before the input is waited
    /// for.
    static __device__ __forceinline__ void prefetch(const ProjectKernelArgs& a,
                                                    const Exchange& exchange) {
        constexpr int kLine = 128;
        const int lane = static_cast<int>(threadIdx.x) & 31;
        const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll 1
        for (int unit = exchange.block + warp * exchange.grid; unit < a.lora_units;
             unit += kComputeWarps * exchange.grid) {
            const UnitPiece piece = pieceOf(a, unit);
#pragma unroll 1
            for (int at = lane * kLine; at < piece.bytes; at += 32 * kLine) {
                prefetchL2(piece.at + at);
            }
        }
#pragma unroll 1
        for (int t = 0; t < a.lora_count; ++t) {
            const LoraArgs& term = a.lora[t];
            const UpdateRows rows(a, term, exchange.block);
            const int row_bytes = term.rank * elementBytes(term.b_type);
            const char* const begin =
                static_cast<const char*>(term.b) + static_cast<int64_t>(rows.from) * row_bytes;
            const int bytes = rows.to > rows.from ? (rows.to - rows.from) * row_bytes : 0;
#pragma unroll 1
            for (int at = static_cast<int>(threadIdx.x) * kLine; at < bytes;
                 at += kComputeThreads * kLine) {
                prefetchL2(begin + at);
            }
        }
    }

    /// Makes the sums of this block's units, for all blocks. The input is there.
    static __device__ __forceinline__ void publish(const ProjectKernelArgs& a,
                                                   const RowsWork<FORM>& w,
                                                   int rows,
                                                   const Exchange& exchange,
                                                   int step) {
        const int lane = static_cast<int>(threadIdx.x) & 31;
        const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll 1
        for (int unit = exchange.block + warp * exchange.grid; unit < a.lora_units;
             unit += kComputeWarps * exchange.grid) {
            const UnitPiece piece = pieceOf(a, unit);
            const float factor = *piece.factor;
            float sums[kStreamRows] = {};
            if (isInMemory(a)) {
                addMemory(a, piece, rows, sums);
            } else {
                addPlanes(a, w, piece, rows, sums);
            }
            __syncwarp();
            const float sum = sumsOfWarp(sums) * factor; // of row lane / 8
            const uint32_t first = __float_as_uint(sum);
            const uint32_t second = __shfl_sync(0xffffffffU, first, 8);
            const uint32_t third = __shfl_sync(0xffffffffU, first, 16);
            const uint32_t fourth = __shfl_sync(0xffffffffU, first, 24);
            if (lane == 0) {
                storeRowPacket(slotOf(a, unit),
                               rowPacket(first, second, third, fourth, exchange.markOf(step)));
            }
        }
    }

    /// The sums of all units of the grid, those of a rank added: A h. A barrier has to follow.
    __device__ __forceinline__ void
    collect(const ProjectKernelArgs& a, const Exchange& exchange, int step) const {
        const uint32_t mark = exchange.markOf(step);
        const int chunks = 1 << a.lora_shift;
#pragma unroll 1
        for (int base = 0; base < a.lora_units; base += kComputeThreads) { // by whole warps
            const int unit = base + static_cast<int>(threadIdx.x);
            const bool is_own = unit < a.lora_units;
            uint4 packet = make_uint4(0, 0, 0, mark);
            if (is_own) {
                do {
                    packet = loadRowPacket(slotOf(a, unit));
                } while (packet.w != mark);
            }
            __syncwarp();
            const uint32_t words[3] = {packet.x, packet.y, packet.z};
            float sums[kStreamRows];
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                sums[r] = rowOfPacket(words, r);
            }
            // Chunks of a rank are neighbours, a power of two of them up to 32.
#pragma unroll 1
            for (int other = chunks / 2; other > 0; other /= 2) {
#pragma unroll
                for (int r = 0; r < kStreamRows; ++r) {
                    sums[r] += __shfl_xor_sync(0xffffffffU, sums[r], other);
                }
            }
            if (is_own && (unit & (chunks - 1)) == 0) {
#pragma unroll
                for (int r = 0; r < kStreamRows; ++r) {
                    ranks[r * pitch + (unit >> a.lora_shift)] = sums[r];
                }
            }
        }
    }

    /// B (A h) of output `at` of a weight, for row `row` of the input.
    [[nodiscard]] __device__ __forceinline__ float
    of(const ProjectKernelArgs& a, int weight, int at, int row) const {
        float sum = 0.0F;
#pragma unroll 1
        for (int t = 0; t < a.lora_count; ++t) {
            const LoraArgs& term = a.lora[t];
            if (term.weight != weight) {
                continue;
            }
            const char* const b = static_cast<const char*>(term.b) +
                                  static_cast<int64_t>(at) * term.rank * elementBytes(term.b_type);
            const float* const h = ranks + row * pitch + term.first;
            sum += term.b_type == kElementBf16  ? dotRanks<kElementBf16>(b, h, term.rank)
                   : term.b_type == kElementF16 ? dotRanks<kElementF16>(b, h, term.rank)
                                                : dotRanks<kElementF32>(b, h, term.rank);
        }
        return sum;
    }

private:
    static constexpr int kStride = 256; ///< Columns of a warp at a time.

    static __device__ __forceinline__ UnitPiece pieceOf(const ProjectKernelArgs& a, int unit) {
        return UnitPiece(a, unit >> a.lora_shift, unit & ((1 << a.lora_shift) - 1));
    }
    static __device__ __forceinline__ uint4* slotOf(const ProjectKernelArgs& a, int unit) {
        return reinterpret_cast<uint4*>(a.lora_slots + unit * kUnitSlot);
    }
    /// What comes by way of memory is read there: of LargeForm only a part of it is in shared
    /// memory, and of wide rows every second stretch in an order of its own.
    static __device__ __forceinline__ bool isInMemory(const ProjectKernelArgs& a) {
        return a.input == kInputPlain && (a.link == kLinkFlags || a.link == kLinkNone);
    }

    static __device__ __forceinline__ void addMemory(const ProjectKernelArgs& a,
                                                     const UnitPiece& piece,
                                                     int rows,
                                                     float (&sums)[kStreamRows]) {
#pragma unroll 1
        for (int c = (static_cast<int>(threadIdx.x) & 31) * 8; c < piece.columns; c += kStride) {
            float v[8];
            eightOf(piece.type, piece.at + c * elementBytes(piece.type), v);
            const float* const x = a.x + piece.column + c;
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                if (r < rows) {
                    const float4 low = loadFour(x + r * a.cols);
                    const float4 high = loadFour(x + r * a.cols + 4);
                    sums[r] += (v[0] * low.x + v[1] * low.y) + (v[2] * low.z + v[3] * low.w) +
                               ((v[4] * high.x + v[5] * high.y) + (v[6] * high.z + v[7] * high.w));
                }
            }
        }
    }

    static __device__ __forceinline__ void addPlanes(const ProjectKernelArgs& a,
                                                     const RowsWork<FORM>& w,
                                                     const UnitPiece& piece,
                                                     int rows,
                                                     float (&sums)[kStreamRows]) {
        const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
#pragma unroll 1
        for (int c = (static_cast<int>(threadIdx.x) & 31) * 8; c < piece.columns; c += kStride) {
            float v[8];
            eightOf(piece.type, piece.at + c * elementBytes(piece.type), v);
            const int block = (piece.column + c) >> 6;
            const int place = planeOffset(((piece.column + c) >> 2) & 15, is_four_bit, true);
            const float scale = w.scales[block];
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                if (r < rows) {
                    const uint4 x =
                        *reinterpret_cast<const uint4*>(w.rowAt(r) + block * w.pitch(r) + place);
                    const uint32_t pairs[4] = {x.x, x.y, x.z, x.w};
                    float sum = 0.0F;
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        const float2 two = __half22float2(asHalf2(pairs[i]));
                        sum = fmaf(v[2 * i], two.x, sum);
                        sum = fmaf(v[2 * i + 1], two.y, sum);
                    }
                    sums[r] = fmaf(sum, scale, sums[r]);
                }
            }
        }
    }
};

} // namespace kernels::cuda
