// SPDX-License-Identifier: Apache-2.0
// Products of streamed steps with GGUF's blocks as files have them (kernels/block_formats.h), and
// with 4-bit codes in blocks of 32. A chunk holds a piece of each of its rows, the rows slot_bytes
// apart. The input lies there as two parts of bf16, as it does for bf16 weights.
//
// A lane has four neighbouring columns of every run of 16. Its codes become bf16 as 128 + code: two
// of them by a shift and a mask. What is too much meets the sum of the input, as offsets of blocks
// do. Tensor cores make that sum, too: they multiply the input by a row of ones.
#pragma once

#include "kernels/cuda/device/decode/stream_input.cuh"
#include "kernels/cuda/device/decode/weight_ring.cuh"

namespace kernels::cuda {

/// What a code is too large by when its bits stand behind those of 128 in bf16.
template <WeightFormat F>
constexpr float kCodeExcess = F == WeightFormat::Q4_0   ? 128.0F + 8.0F
                              : F == WeightFormat::Q5_0 ? 128.0F + 16.0F
                              : F == WeightFormat::Q6_K ? 128.0F + 32.0F
                              : F == WeightFormat::Q4_1 || F == WeightFormat::Q5_1 ||
                                      F == WeightFormat::Q4_K || F == WeightFormat::Q5_K
                                  ? 128.0F
                                  : 0.0F; // Q8_0 and Int4: these become what they are

/// Values that share a scale, of the 64 of a unit.
template <WeightFormat F>
constexpr int kRangeRuns = F == WeightFormat::Q6_K ? 1 : 2; ///< In runs of 16.
template <WeightFormat F>
constexpr int kUnitRanges = 4 / kRangeRuns<F>;

/// The codes of a lane in a unit of 64 columns: of run r columns 4 t and 4 t + 2, then 4 t + 1 and
/// 4 t + 3. A word of four bytes gives such pairs without a permutation.
using UnitCodes = uint32_t[4][2];
template <WeightFormat F>
struct UnitRanges {
    float scale[kUnitRanges<F>];
    float offset[kUnitRanges<F>]; ///< What the sum of the input is multiplied by.
};

constexpr uint32_t kNibbles = 0x000f000fU;
constexpr uint32_t kBf16Of128 = 0x43004300U;

/// a - b of two pairs of bf16 values; exact here.
__device__ __forceinline__ uint32_t subtractPairs(uint32_t a, uint32_t b) {
    return multiplyAddPairs(b, 0xbf80bf80U, a);
}

/// An fp16 value in the lower bits.
__device__ __forceinline__ float asFloat(uint32_t half) {
    return __half22float2(asHalf2(half)).x;
}
/// Byte `which` of a word as a number.
__device__ __forceinline__ float byteAsFloat(uint32_t word, uint32_t which) {
    return __uint_as_float(permuteBytes(word, 0x4b000000U, 0x7650U | which)) - 8388608.0F;
}

/// Four bytes at an address that is a multiple of two.
__device__ __forceinline__ uint32_t loadWord(uint32_t address) {
    return permuteBytes(loadShared2(address), loadShared2(address + 2), 0x5410U);
}

/// What a lane reads of a row's unit: all of it is on its way before the first is wanted. row:
/// shared address of the piece's first block of the row; unit: of the piece, of `units`; t: lane
/// & 3.
template <WeightFormat F>
struct LoadedUnit { // formats with 32 values: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0
    static constexpr bool kHasHigh = F == WeightFormat::Q5_0 || F == WeightFormat::Q5_1;
    static constexpr int kWords = F == WeightFormat::Q8_0 ? 2 : 1;
    uint32_t words[2][kWords]; ///< Four codes of a run, or of both.
    uint32_t high[2][2];       ///< Fifth bits of a run.
    uint32_t scale[2], offset[2];

    __device__ __forceinline__ void load(uint32_t row, int unit, int /*units*/, int t) {
        constexpr int kRange = hasOffset<F>() ? 4 : 2;
        constexpr int kCodes = kRange + (kHasHigh ? 4 : 0);
        // Rows are whole units, of a multiple of four bytes.
        const uint32_t first = row + unit * 2 * BlockFormat<F>::kBytes;
#pragma unroll
        for (int b = 0; b < 2; ++b) {
            const int before = b * BlockFormat<F>::kBytes;
            scale[b] = loadShared2(first + before);
            offset[b] = hasOffset<F>() ? loadShared2(first + before + 2) : 0U;
#pragma unroll
            for (int r = 0; kHasHigh && r < 2; ++r) {
                high[b][r] = loadShared2(first + before + kRange + 2 * r);
            }
#pragma unroll
            for (int i = 0; i < kWords; ++i) {
                const uint32_t at = first + before + kCodes + t * 4 + i * 16;
                words[b][i] = (before + kCodes) % 4 == 0 ? loadShared(at) : loadWord(at);
            }
        }
    }
    __device__ __forceinline__ void makeCodes(int /*unit*/, int t, UnitCodes& codes) const {
#pragma unroll
        for (int b = 0; b < 2; ++b) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
#pragma unroll
                for (int r = 0; r < 2; ++r) {
                    uint32_t& own = codes[2 * b + r][h];
                    if constexpr (F == WeightFormat::Q8_0) {
                        // 128 + lower bits, less 128 or, where the sign is set, 256.
                        const uint32_t pair = words[b][r] >> 8 * h;
                        own = subtractPairs(maskAndSet<0x007f007fU>(pair, kBf16Of128),
                                            maskAndSet<0x00800080U>(pair, kBf16Of128));
                    } else {
                        own = maskAndSet<kNibbles>(words[b][0] >> (8 * h + 4 * r), kBf16Of128);
                    }
                    if constexpr (kHasHigh) {
                        const uint32_t bits = high[b][r] >> (t * 4 + h);
                        own |= (bits & 1U) << 4 | (bits & 4U) << 18;
                    }
                }
            }
        }
    }
    __device__ __forceinline__ void makeRanges(int /*unit*/, UnitRanges<F>& ranges) const {
#pragma unroll
        for (int b = 0; b < 2; ++b) {
            ranges.scale[b] = asFloat(scale[b]);
            ranges.offset[b] = hasOffset<F>() ? asFloat(offset[b]) : 0.0F;
        }
    }
};

template <WeightFormat F>
struct LoadedGroup {  // Q4_K, Q5_K
    uint32_t low[2];  ///< Runs i and i + 2.
    uint32_t high[2]; ///< Fifth bits of the block.
    uint4 head;

    __device__ __forceinline__ void load(uint32_t row, int unit, int /*units*/, int t) {
        const uint32_t at = row + (unit >> 2) * BlockFormat<F>::kBytes;
        head = loadShared16(at);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            low[i] = loadShared(at + (F == WeightFormat::Q4_K ? 16 : 48) + (unit & 3) * 32 +
                                i * 16 + t * 4);
            high[i] = F == WeightFormat::Q5_K ? loadShared(at + 16 + i * 16 + t * 4) : 0U;
        }
    }
    __device__ __forceinline__ void makeCodes(int unit, int /*t*/, UnitCodes& codes) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint32_t bits = high[i] >> (unit & 3) * 2;
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                codes[i][h] = maskAndSet<kNibbles>(low[i] >> 8 * h, kBf16Of128);
                codes[i + 2][h] = maskAndSet<kNibbles>(low[i] >> (8 * h + 4), kBf16Of128);
                if constexpr (F == WeightFormat::Q5_K) {
                    const uint32_t five = bits >> 8 * h;
                    codes[i][h] = maskAndSet<0x00100010U>(five << 4, codes[i][h]);
                    codes[i + 2][h] = maskAndSet<0x00100010U>(five << 3, codes[i + 2][h]);
                }
            }
        }
    }
    /// Scales and minima of groups 2 j and 2 j + 1 are six bits each.
    __device__ __forceinline__ void makeRanges(int unit, UnitRanges<F>& ranges) const {
        const int shift = (unit & 1) * 16;
        const uint32_t first = head.y >> shift;
        const uint32_t second = head.z >> shift;
        const uint32_t third = head.w >> shift;
        const bool is_low = (unit & 3) < 2;
        const uint32_t scales =
            is_low ? first & 0x3f3fU : (third & 0x0f0fU) | (first & 0xc0c0U) >> 2;
        const uint32_t minima =
            is_low ? second & 0x3f3fU : (third >> 4 & 0x0f0fU) | (second & 0xc0c0U) >> 2;
        const float2 both = __half22float2(asHalf2(head.x));
#pragma unroll
        for (int g = 0; g < 2; ++g) {
            ranges.scale[g] = both.x * byteAsFloat(scales, g);
            ranges.offset[g] = -both.y * byteAsFloat(minima, g);
        }
    }
};
template <>
struct LoadedUnit<WeightFormat::Q4_K> : LoadedGroup<WeightFormat::Q4_K> {};
template <>
struct LoadedUnit<WeightFormat::Q5_K> : LoadedGroup<WeightFormat::Q5_K> {};

template <>
struct LoadedUnit<WeightFormat::Q6_K> {
    uint32_t low[2][2]; ///< Runs i + 2 n.
    uint32_t high[2];
    uint32_t scales, scale;

    __device__ __forceinline__ void load(uint32_t row, int unit, int /*units*/, int t) {
        const uint32_t at = row + (unit >> 2) * BlockFormat<WeightFormat::Q6_K>::kBytes;
        const int half = unit >> 1 & 1;
        scale = loadShared2(at + 208);
        scales = loadWord(at + 192 + (unit & 3) * 4);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint32_t own = at + i * 16 + t * 4;
            low[0][i] = loadWord(own + half * 64);
            low[1][i] = loadWord(own + half * 64 + 32);
            high[i] = loadWord(own + 128 + half * 32);
        }
    }
    __device__ __forceinline__ void makeCodes(int unit, int /*t*/, UnitCodes& codes) const {
        const int shift = (unit & 1) * 4;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint32_t bits = high[i] >> shift;
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                const uint32_t own = low[n][i] >> shift;
                const uint32_t two = n == 0 ? bits << 4 : bits << 2;
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    codes[i + 2 * n][h] = maskAndSet<0x00300030U>(
                        two >> 8 * h, maskAndSet<kNibbles>(own >> 8 * h, kBf16Of128));
                }
            }
        }
    }
    __device__ __forceinline__ void makeRanges(int /*unit*/,
                                               UnitRanges<WeightFormat::Q6_K>& ranges) const {
        const uint32_t four = scales ^ 0x80808080U;
#pragma unroll
        for (int g = 0; g < 4; ++g) {
            ranges.scale[g] = asFloat(scale) * (byteAsFloat(four, g) - 128.0F);
            ranges.offset[g] = 0.0F;
        }
    }
};

/// 4-bit codes in blocks of 32 become the values that they stand for: code * absmax / 8, rounded to
/// bf16. Scales may have more bits than bf16 has: two products with four bits of a code each are
/// exact, and their sum is rounded once.
template <>
struct LoadedUnit<WeightFormat::Int4> {
    uint32_t pairs[2][2]; ///< Two bytes of a run.
    uint2 absmax;

    __device__ __forceinline__ void load(uint32_t row, int unit, int units, int t) {
        const uint32_t at = row + unit * kUnitBytes + t * 2;
        absmax = loadShared8(row + units * kUnitBytes + unit * 8);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            pairs[r >> 1][r & 1] = loadShared2(at + r * 8);
        }
    }
    __device__ __forceinline__ void makeCodes(int /*unit*/, int /*t*/, UnitCodes& codes) const {
#pragma unroll
        for (int b = 0; b < 2; ++b) {
            const float scale = __uint_as_float(b == 0 ? absmax.x : absmax.y) * 0.125F;
            const TwoHalves parts(scale, scale);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    // Columns h and h + 2: the even ones are the upper halves of the bytes.
                    const uint32_t two = permuteBytes(pairs[b][i], 0U, 0x4140U);
                    const uint32_t biased =
                        maskAndSet<kNibbles>(h == 0 ? two >> 4 : two, kBf16Of128);
                    const uint32_t code = subtractPairs(biased, 0x43084308U);
                    codes[2 * b + i][h] =
                        multiplyAddPairs(code, parts.high, multiplyHalves(code, parts.low));
                }
            }
        }
    }
    __device__ __forceinline__ void makeRanges(int /*unit*/,
                                               UnitRanges<WeightFormat::Int4>& ranges) const {
#pragma unroll
        for (int b = 0; b < 2; ++b) {
            ranges.scale[b] = 1.0F;
            ranges.offset[b] = 0.0F;
        }
    }
};

/// What a lane has of the input for a unit, and the sums of it that its ranges meet.
template <int RANGES>
struct UnitInput {
    uint2 x[4] = {};
    float sum[RANGES] = {};

    /// at: shared address of the lane's part; zeros where there is none.
    __device__ __forceinline__ void load(uint32_t at, bool is_there, bool has_sums) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const uint2 four = is_there ? loadShared8(at + r * 64) : make_uint2(0, 0);
            x[r] = make_uint2(permuteBytes(four.x, four.y, 0x5410U),
                              permuteBytes(four.x, four.y, 0x7632U));
        }
        if (!has_sums) {
            return;
        }
        const uint32_t ones[4] = {0x3f803f80U, 0x3f803f80U, 0x3f803f80U, 0x3f803f80U};
#pragma unroll
        for (int g = 0; g < RANGES; ++g) {
            float c[4] = {};
#pragma unroll
            for (int r = g * 4 / RANGES; r < (g + 1) * 4 / RANGES; ++r) {
                multiplyAdd(c, ones, x[r].x, x[r].y);
            }
            sum[g] = c[0] + c[1];
        }
    }
};

/// multiplyHalfTiles() of rows in blocks: tiles [first, end), all of weight `weight` or of a pair
/// of one format.
template <typename FORM, WeightFormat F, int COUNT>
__device__ __forceinline__ void multiplyBlockTiles(const ProjectKernelArgs& a,
                                                   const StreamWork& w,
                                                   RingOf<FORM>& ring,
                                                   int block,
                                                   int weight,
                                                   int before,
                                                   int first,
                                                   int end) {
    constexpr bool kIsCodes = F == WeightFormat::Int4;
    constexpr bool kIsAligned = kIsCodes || F == WeightFormat::Q4_K || F == WeightFormat::Q5_K;
    constexpr bool kHasSums = kCodeExcess<F> != 0.0F || hasOffset<F>();
    constexpr int kRanges = kUnitRanges<F>;
    constexpr int kTileSums = kTileRows * kComputeWarps;
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x / 32;
    const int folds = foldsOf(a);
    const int stretch = stretchOf(a);
    const int pieces = a.pieces;
    const int units = a.units;
    const int set = lane >> 2 & 3; // as TileLane has it
    // Two rows half a tile apart: rows that lanes read at once follow each other, which are in
    // different banks.
    const int row = (set & ((1 << a.tile_shift >> 2) - 1)) * 2 + (lane >> 4);
    const int next_row = 1 << a.tile_shift >> 1;
    const int unit = (set * folds >> 2) * stretch + warp;
    const int column = lane >> 2;
    const int x_unit = ((column >> 1) * folds >> 2) * stretch + warp;
    const uint32_t x_at = sharedAddress(w.planes) + (column & 1) * 32 + (lane & 3) * 8;
    const bool is_own = (lane & 3) == set;
    const bool is_unaligned = !kIsAligned && (a.block_traits & kBlocksUnaligned) != 0;
    float* to = w.partial + (first - before) * kTileSums + warp +
                (row * folds + (set * folds >> 2)) * kComputeWarps;
    UnitInput<kRanges> input[COUNT + 1];
#pragma unroll 1
    for (int tile = first; tile < end; ++tile) {
        float sums[2] = {};
        const int from = is_unaligned ? chunkRows<FORM>(a, TileMap(a, block), tile).from + row : 0;
#pragma unroll 1
        for (int piece = 0; piece < pieces; ++piece) {
            if (pieces > 1 || tile == first) {
#pragma unroll
                for (int i = 0; i < COUNT; ++i) {
                    const int u = x_unit + i * kComputeWarps;
                    input[i].load(x_at + (piece * units + u) * 256, u < units, kHasSums);
                }
            }
            uint32_t at[2] = {ring.chunkAddress() + row * a.slot_bytes};
            at[1] = at[0] + next_row * a.slot_bytes;
            if (is_unaligned) {
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    at[h] +=
                        blockShift((from + h * next_row) * pieces + piece, a.w[weight].block_size);
                }
            }
            ring.full().wait(ring.parity);
            LoadedUnit<F> loaded[COUNT + 1][2];
            int own[COUNT + 1];
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                // Behind the row's end the input is zero, and what is read here is finite.
                const int u = unit + i * kComputeWarps;
                own[i] = u < units ? u : units - 1;
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    loaded[i][h].load(at[h], own[i], units, lane & 3);
                }
            }
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                UnitCodes codes[2];
                UnitRanges<F> ranges[2];
                float c[kRanges][4] = {};
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    loaded[i][h].makeCodes(own[i], lane & 3, codes[h]);
                }
                // A product waits for the one before that adds to the same sums.
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    const int g = k % kRanges;
                    const int r = g * kRangeRuns<F> + k / kRanges;
                    const uint32_t both[4] = {codes[0][r][0], codes[1][r][0], codes[0][r][1],
                                              codes[1][r][1]};
                    multiplyAdd(c[g], both, input[i].x[r].x, input[i].x[r].y);
                }
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    loaded[i][h].makeRanges(own[i], ranges[h]);
#pragma unroll
                    for (int g = 0; g < kRanges; ++g) {
                        const float sum = c[g][2 * h] + c[g][2 * h + 1];
                        sums[h] = kIsCodes ? sums[h] + sum : fmaf(sum, ranges[h].scale[g], sums[h]);
                        if constexpr (kHasSums) {
                            const float offset =
                                fmaf(-kCodeExcess<F>, ranges[h].scale[g], ranges[h].offset[g]);
                            sums[h] = fmaf(offset, input[i].sum[g], sums[h]);
                        }
                    }
                }
            }
            if (COUNT == 0) {
                __syncwarp();
            }
            ring.release();
        }
        if (is_own) {
            to[0] = sums[0];
            to[kTileSums / 2] = sums[1];
        }
        to += kTileSums;
    }
}

template <typename FORM, WeightFormat F>
__device__ __forceinline__ void multiplyOwnBlocks(const ProjectKernelArgs& a,
                                                  const StreamWork& w,
                                                  RingOf<FORM>& ring,
                                                  int block,
                                                  int weight,
                                                  int before,
                                                  int first,
                                                  int end) {
    const int left = stretchOf(a) - static_cast<int>(threadIdx.x) / 32;
    if (left > kComputeWarps) {
        multiplyBlockTiles<FORM, F, 2>(a, w, ring, block, weight, before, first, end);
    } else if (left > 0) {
        multiplyBlockTiles<FORM, F, 1>(a, w, ring, block, weight, before, first, end);
    } else {
        multiplyBlockTiles<FORM, F, 0>(a, w, ring, block, weight, before, first, end);
    }
}

/// Tiles [first, end) of a step with blocks, a weight after the other: each may have a format of
/// its own, but those of a pair.
template <typename FORM>
__device__ __forceinline__ void multiplyBlocks(const ProjectKernelArgs& a,
                                               const StreamWork& w,
                                               RingOf<FORM>& ring,
                                               int block,
                                               int first,
                                               int end) {
    const bool is_mixed = (a.block_traits & kBlocksDiffer) != 0;
#pragma unroll 1
    for (int weight = 0, at = first; at < end; ++weight) {
        const int behind = is_mixed && weight < 2 ? TileMap(a, block).tileOf(weight + 1) : end;
        const int last = behind < end ? behind : end;
        if (last <= at) {
            continue;
        }
        const auto multiply = [&](auto f) {
            multiplyOwnBlocks<FORM, decltype(f)::kFormat>(a, w, ring, block, weight, first, at,
                                                          last);
        };
        switch (a.w[weight].format) {
        case WeightFormat::Int4:
            multiply(BlockFormat<WeightFormat::Int4>{});
            break;
        case WeightFormat::Q4_1:
            multiply(BlockFormat<WeightFormat::Q4_1>{});
            break;
        case WeightFormat::Q5_0:
            multiply(BlockFormat<WeightFormat::Q5_0>{});
            break;
        case WeightFormat::Q5_1:
            multiply(BlockFormat<WeightFormat::Q5_1>{});
            break;
        case WeightFormat::Q8_0:
            multiply(BlockFormat<WeightFormat::Q8_0>{});
            break;
        case WeightFormat::Q4_K:
            multiply(BlockFormat<WeightFormat::Q4_K>{});
            break;
        case WeightFormat::Q5_K:
            multiply(BlockFormat<WeightFormat::Q5_K>{});
            break;
        case WeightFormat::Q6_K:
            multiply(BlockFormat<WeightFormat::Q6_K>{});
            break;
        default:
            multiply(BlockFormat<WeightFormat::Q4_0>{});
            break;
        }
        at = last;
    }
}

} // namespace kernels::cuda
