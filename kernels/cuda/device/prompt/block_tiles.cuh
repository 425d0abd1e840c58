// SPDX-License-Identifier: Apache-2.0
// Tiles of products of 64 bf16 rows with 128 rows of weights in GGUF's blocks, in bf16, or in Int4
// with a scale for each 32 values, as they lie in memory (product_experts.cu). The bytes of a piece
// of the rows come by asynchronous copies while the piece before is multiplied. Four warps have 32
// rows of the weights each, so that a code is expanded once a tile, in registers: its value in
// fp32, then bf16, as expand.cu has it. Needs sm_80.
#pragma once

#include "kernels/cuda/device/common/block_codes.cuh"
#include "kernels/cuda/device/common/expert_args.h"
#include "kernels/cuda/device/prompt/code_tiles.cuh"

namespace kernels::cuda {

/// A code c stands as 128 + c in fp32, or, where it may have eight bits, as 32768 + c: its byte is
/// one of the number's four.
template <WeightFormat F>
constexpr bool kIsByteCode =
    F == WeightFormat::Q8_0 || F == WeightFormat::IQ4_NL || F == WeightFormat::IQ4_XS;
template <WeightFormat F>
constexpr float kCodeBase = (kIsByteCode<F> ? 32768.0F : 128.0F) + kCodeZero<F>;

/// scale * (code - kCodeZero) + offset of byte `i` of four codes, where shift is offset -
/// kCodeBase * scale: a product that is rounded once, as such numbers are short.
template <WeightFormat F>
__device__ __forceinline__ float valueOfByte(uint32_t codes, int i, float scale, float shift) {
    const uint32_t selector = kIsByteCode<F> ? 0x4505U | static_cast<uint32_t>(i) << 4
                                             : 0x4055U | static_cast<uint32_t>(i) << 8;
    const uint32_t top = kIsByteCode<F> ? 0x47U : 0x43U;
    return fmaf(scale, __uint_as_float(permuteBytes(codes, top, selector)), shift);
}

__device__ __forceinline__ uint32_t pairOf(float low, float high) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&both);
}

template <WeightFormat F>
struct BlockTile : TileSums<4> {
    using Piece = BlockPiece<F>;
    static constexpr int kRows = 64;
    static constexpr int kSlots = 3; // stages of x
    static_assert(Piece::kOutputs == kOutputs);

    int lead;      ///< Bytes of the expert's first chunk of 16 that lie in front of it.
    int row_bytes; ///< A row of the weights.
    float scales[Piece::kIsCodes ? Piece::kRanges : 1]; ///< askScales()

    /// Which of the expert's rows is row r of the tile. Those of a pair stand in turns of eight;
    /// those behind the last repeat it.
    static __device__ __forceinline__ int
    numberOf(const ProductKernelArgs& a, bool is_pair, int n0, int r) {
        const int row = is_pair ? n0 + r / 16 * 8 + r % 8 : n0 + r;
        const int last = a.n[0] - 1;
        const int which = is_pair && (r >> 3 & 1) != 0 ? a.n[0] : 0;
        return which + (row < last ? row : last);
    }
    /// Where it begins, from the expert's first chunk on.
    __device__ __forceinline__ int
    offsetOf(const ProductKernelArgs& a, bool is_pair, int n0, int r) const {
        return lead + numberOf(a, is_pair, n0, r) * row_bytes;
    }

    /// Sums over all columns of rows m0 on of `from` and outputs n0 on.
    __device__ __forceinline__ void multiply(
        const ProductCodesArgs& args, const TileSource& from, int64_t m0, bool is_pair, int n0) {
        const ProductKernelArgs& a = args.product;
        const auto thread = static_cast<int>(threadIdx.x);
        const int lane = thread % 32;
        const auto k = static_cast<int>(a.k);
        const int stages = (k + kTileDepth - 1) / kTileDepth;
        row_bytes = Piece::kIsBf16 ? k * 2 : Piece::kIsCodes ? k / 2 : args.w[0].block_size;
        const int64_t before = static_cast<int64_t>(from.first) * row_bytes;
        lead = static_cast<int>(before & 15);
        const uint8_t* const data = static_cast<const uint8_t*>(args.w[0].data) + (before - lead);
        const uint32_t base = sharedAddress(dynamicShared());

        // A thread copies the same chunk of every 16th row of x, and every fourth chunk of every
        // 32nd row of a piece.
        const int chunk = thread % kTileChunks;
        const int x_row = thread / kTileChunks;
        const uint32_t x_to =
            static_cast<uint32_t>(x_row * kTileChunks + (chunk ^ (x_row & 7))) * 16U;
        const int64_t left = from.m - m0 - x_row;
        const int inputs = left <= 0 ? 0 : static_cast<int>((left + 15) / 16);
        const char* x[4];
        int offsets[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int64_t at = i < inputs ? m0 + x_row + i * 16 : 0;
            if (from.rows != nullptr && i < inputs) {
                at = from.rows[at];
            }
            x[i] = static_cast<const char*>(from.x) + (at * k + chunk * 8) * 2;
            offsets[i] = offsetOf(a, is_pair, n0, thread / 4 + 32 * i);
        }
        const auto copyStage = [&](int stage, int slot) {
            const bool is_inside = stage * kTileDepth + chunk * 8 < k;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const bool is_valid = is_inside && i < inputs;
                copyAsync16(base + static_cast<uint32_t>(slot * kRows * 128) + x_to + i * 16 * 128,
                            is_valid ? x[i] + stage * 128 : static_cast<const char*>(from.x),
                            is_valid);
            }
        };
        const auto copyPiece = [&](int piece) {
            const int begin = piece * Piece::kBytes;
            const int bytes = row_bytes - begin < Piece::kBytes ? row_bytes - begin : Piece::kBytes;
            const uint32_t to =
                base + static_cast<uint32_t>(Piece::kPiecesAt +
                                             ((piece & 1) * kOutputs + thread / 4) * Piece::kPitch);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int at = offsets[i] + begin;
                const int first = Piece::kIsAligned ? at : at & ~15;
                const int end = at + bytes;
#pragma unroll
                for (int c = 0; c < Piece::kChunks; c += 4) {
                    const int own = c + thread % 4;
                    const bool is_inside = first + own * 16 < end;
                    // What lies behind bf16 rows is multiplied by zeros; blocks have a scale of 0.
                    if (own < Piece::kChunks && (is_inside || Piece::kIsBf16)) {
                        copyAsync16(to + i * 32 * Piece::kPitch + own * 16,
                                    data + (is_inside ? first + own * 16 : first), is_inside);
                    }
                }
            }
        };
        // For this thread's row of ranges, and for the rows that this lane multiplies.
        const int own_lead = offsetOf(a, is_pair, n0, thread) & 15;
        const float* absmax = nullptr;
        if constexpr (Piece::kIsCodes) {
            absmax = args.w[0].absmax +
                     (static_cast<int64_t>(from.first) + numberOf(a, is_pair, n0, thread)) *
                         (k / Piece::kBlockValues);
            askScales(absmax, 0, k);
        }
        int lane_lead[kOutputFragments];
#pragma unroll
        for (int j = 0; j < kOutputFragments; ++j) {
            lane_lead[j] =
                offsetOf(a, is_pair, n0, thread / 32 * kWarpOutputs + j * 8 + lane / 4) & 15;
        }

        copyPiece(0);
        copyStage(0, 0);
        commitCopies();
        if (stages > 1) {
            copyStage(1, 1);
        }
        commitCopies();
        int slot = 0;
#pragma unroll 1
        for (int stage = 0; stage < stages; ++stage) {
            const int piece = stage / Piece::kStages;
            const int within = stage % Piece::kStages;
            waitForCopyGroups<1>();
            __syncthreads();
            if (within == 0 && (piece + 1) * Piece::kStages < stages) {
                copyPiece(piece + 1);
            }
            if (stage + 2 < stages) {
                copyStage(stage + 2, slot == 0 ? kSlots - 1 : slot - 1);
            }
            commitCopies();
            if (within == 0 && !Piece::kIsBf16) {
                makeRanges(piece, own_lead, k);
                if constexpr (Piece::kIsCodes) {
                    askScales(absmax, piece + 1, k);
                }
                __syncthreads();
            }
            add(base + static_cast<uint32_t>(slot * kRows * 128), piece, within, lane_lead);
            slot = slot + 1 == kSlots ? 0 : slot + 1;
        }
    }

    /// Row `row` of a piece; lead: of the row's first piece.
    static const __device__ __forceinline__ uint8_t* rowOf(int piece, int row, int lead) {
        const int shift = Piece::kIsAligned ? 0 : (lead + piece * Piece::kBytes) & 15;
        return reinterpret_cast<const uint8_t*>(dynamicShared()) + Piece::kPiecesAt +
               ((piece & 1) * kOutputs + row) * Piece::kPitch + shift;
    }
    static __device__ __forceinline__ float* ranges() {
        return reinterpret_cast<float*>(dynamicShared() + Piece::kRangesAt);
    }

    /// Scales of codes that lie elsewhere, of this thread's row, before they are needed.
    __device__ __forceinline__ void askScales(const float* absmax, int piece, int k) {
#pragma unroll
        for (int g = 0; g < Piece::kRanges; ++g) {
            const int block = piece * Piece::kRanges + g;
            scales[g] = block * Piece::kBlockValues < k ? absmax[block] : 0.0F;
        }
    }

    /// Scales of this thread's row in a piece, with offsets what valueOfByte() adds.
    __device__ __forceinline__ void makeRanges(int piece, int lead, int k) const {
        if constexpr (!Piece::kIsBf16) {
            const auto thread = static_cast<int>(threadIdx.x);
            const uint8_t* const row = rowOf(piece, thread, lead);
#pragma unroll
            for (int g = 0; g < Piece::kRanges; ++g) {
                constexpr int kValues = Piece::kRangeRuns * kRunValues;
                const int block = g * kValues / Piece::kBlockValues * Piece::kBlockBytes;
                const int run = g * kValues % Piece::kBlockValues / kRunValues;
                BlockRange range{0.0F, 0.0F};
                if constexpr (Piece::kIsCodes) {
                    range.scale = scales[g] * 0.125F; // of a step
                } else if (piece * Piece::kValues + g * kValues < k) {
                    range = rangeOf<F>(row + block, run);
                }
                float* const to = ranges() + (g * kOutputs + thread) * Piece::kRangeFloats;
                if constexpr (hasOffset<F>()) {
                    *reinterpret_cast<float2*>(to) =
                        make_float2(range.scale, fmaf(-kCodeBase<F>, range.scale, range.offset));
                } else {
                    *to = range.scale;
                }
            }
        }
    }

    /// A stage of x at `tile`, stage `within` of a piece.
    __device__ __forceinline__ void
    add(uint32_t tile, int piece, int within, const int (&lane_lead)[kOutputFragments]) {
        const int lane = threadIdx.x % 32;
        const int t = lane & 3;
        const int first_row = static_cast<int>(threadIdx.x) / 32 * kWarpOutputs + lane / 4;
        const uint32_t rows = tile + static_cast<uint32_t>(lane & 15) * (kTileDepth * 2);
        const int swizzle = (lane >> 4) ^ (lane & 7);
#pragma unroll
        for (int kk = 0; kk < kTileDepth / 16; ++kk) {
            const int run = within * 4 + kk; // of the piece
            uint32_t b[kOutputFragments][2];
#pragma unroll
            for (int j = 0; j < kOutputFragments; ++j) {
                const int own = first_row + j * 8;
                const uint8_t* const row = rowOf(piece, own, lane_lead[j]);
                if constexpr (Piece::kIsBf16) {
                    const auto* const pairs = reinterpret_cast<const uint32_t*>(row + run * 32);
                    b[j][0] = pairs[t];
                    b[j][1] = pairs[t + 4];
                } else {
                    uint32_t codes = 0;
                    if constexpr (Piece::kIsCodes) { // the even ones are the upper halves of bytes
                        const uint8_t* const at = row + run * (kRunValues / 2) + t;
                        const uint32_t two = at[0] | static_cast<uint32_t>(at[4]) << 16;
                        codes = (two >> 4 & 0x000f000fU) | (two & 0x000f000fU) << 8;
                    } else {
                        constexpr int kRuns = Piece::kBlockValues / kRunValues;
                        codes = laneCodes<F>(
                            codesAt<F>(row + run / kRuns * Piece::kBlockBytes, run % kRuns), t);
                    }
                    const float* const range =
                        ranges() + (run / Piece::kRangeRuns * kOutputs + own) * Piece::kRangeFloats;
                    float2 both;
                    if constexpr (hasOffset<F>()) {
                        both = *reinterpret_cast<const float2*>(range);
                    } else {
                        both = make_float2(*range, -kCodeBase<F> * *range);
                    }
                    float v[4];
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        v[i] = valueOfByte<F>(codes, i, both.x, both.y);
                    }
                    b[j][0] = pairOf(v[0], v[1]);
                    b[j][1] = pairOf(v[2], v[3]);
                }
            }
#pragma unroll
            for (int i = 0; i < kRows / 16; ++i) {
                uint32_t a[4];
                loadMatrix4(a, rows + i * 16 * kTileDepth * 2 +
                                   static_cast<uint32_t>(swizzle ^ (kk * 2)) * 16U);
#pragma unroll
                for (int j = 0; j < kOutputFragments; ++j) {
                    multiplyAdd(sums[i][j], a, b[j][0], b[j][1]);
                }
            }
        }
    }
};

} // namespace kernels::cuda
