// SPDX-License-Identifier: Apache-2.0
// Chunks of rows that are multiplied in parts of their columns (stream_large.cuh): which they are,
// and their absmax.
#pragma once

#include "kernels/cuda/device/decode/weight_ring.cuh"

namespace kernels::cuda {

/// What fetching needs to know of a step and of a weight, in registers: where they are in memory
/// the compiler would read them anew behind every copy and barrier, one after the other.
template <typename FORM>
struct FetchStep {
    TileMap map;
    int tiles;
    int units; ///< Units in a part of a row, which has `pieces` of them.
    int pieces;
    int pass_tiles;
    int tile_shift;
    int block_shift; ///< log2 of the units of 64 weights of a block.
    bool is_in_turn;
    bool is_four_bit;
    __device__ __forceinline__ FetchStep(const ProjectKernelArgs& a, int block)
        : map(a, block), tiles(map.first[3]), units(a.units), pieces(a.pieces),
          pass_tiles(a.pass_tiles), tile_shift(a.tile_shift), block_shift(a.block_shift - 6),
          is_in_turn(takesPairsInTurn<FORM>(a)), is_four_bit(a.w[0].layout == WeightLayout::Codes) {
    }
    [[nodiscard]] __device__ __forceinline__ ChunkRows rowsOf(int tile) const {
        const int weight = is_in_turn ? tile & 1 : map.weightOf(tile);
        const int done = (is_in_turn ? tile >> 1 : tile - map.tileOf(weight)) << tile_shift;
        const int left = map.rowsOfWeight(weight) - done;
        return {weight, map.fromOf(weight) + done, left < 1 << tile_shift ? left : 1 << tile_shift};
    }
};
struct FetchWeight {
    int which = -1;
    const char* data = nullptr;
    const float* absmax = nullptr;
    const uint8_t* absmax_q = nullptr;
    const float* nested_absmax = nullptr;
    const float* nested_code = nullptr;
    float nested_offset = 0.0F;
    __device__ __forceinline__ void take(const ProjectKernelArgs& a, int weight) {
        if (which == weight) {
            return;
        }
        const WeightArgs& w = a.w[weight];
        which = weight;
        data = static_cast<const char*>(w.data);
        absmax = w.absmax;
        absmax_q = w.absmax_q;
        nested_absmax = w.nested_absmax;
        nested_code = w.nested_code;
        nested_offset = w.nested_offset;
    }
};

/// The next chunk of a step: of rows in parts all tiles of a pass, part by part.
struct ChunkTurn {
    int tile = 0;
    int piece = 0;
    int first = 0; ///< Tile of the pass.
    template <typename FORM>
    __device__ __forceinline__ void next(const FetchStep<FORM>& step) {
        ++tile;
        if (step.pieces > 1 && (tile == step.tiles || tile == first + step.pass_tiles)) {
            ++piece;
            if (piece < step.pieces) {
                tile = first;
            } else {
                piece = 0;
                first = tile;
            }
        }
    }
    /// next(), so many times, no further than to the step's end.
    template <typename FORM>
    __device__ __forceinline__ void skip(const FetchStep<FORM>& step, int times) {
#pragma unroll 1
        for (int i = 0; i < times && tile < step.tiles; ++i) {
            next(step);
        }
    }
};

/// ChunkScales of a part of each of some rows. `units` of 64 weights a part, `pieces` parts a row.
struct PartScales {
    static constexpr int kFours = ChunkScales::kFours;
    uint32_t codes[kFours]; ///< Nested: four of them.
    float outer[kFours];
    int units, row_units, first; ///< first: unit of the weight.
    int rows, shift;
    bool is_fast;   ///< Nested, and fours of units are fours of values.
    bool is_copied; ///< Copies bring them as they are.

    __device__ __forceinline__ int unitOf(int value) const {
        if (rows == 1) {
            return first + value;
        }
        int row = 0;
#pragma unroll
        for (int r = 1; r < kTileRows / 4; ++r) {
            row += r < rows && value >= r * units ? 1 : 0;
        }
        return first + row * (row_units - units) + value;
    }
    /// from: the first row; piece: of its columns.
    __device__ __forceinline__ void load(const FetchWeight& w,
                                         int units_,
                                         int pieces,
                                         int block_shift,
                                         int from,
                                         int rows_,
                                         int piece) {
        const int lane = threadIdx.x & 31;
        // All rows of a tile lie behind each other where there is one part.
        units = pieces == 1 ? units_ * rows_ : units_;
        rows = pieces == 1 ? 1 : rows_;
        row_units = units_ * pieces;
        first = from * row_units + piece * units_; // below 2^31
        shift = block_shift;
        const bool is_aligned = shift == 0 && (units_ & 3) == 0;
        is_copied =
            w.absmax != nullptr && is_aligned && reinterpret_cast<uintptr_t>(w.absmax) % 16 == 0;
        is_fast = w.absmax == nullptr && is_aligned;
        if (!is_fast) {
            return;
        }
#pragma unroll
        for (int i = 0; i < kFours; ++i) {
            const int four = (lane + 32 * i) * 4;
            const int unit = unitOf(four < rows * units ? four : 0);
            codes[i] = __ldg(reinterpret_cast<const uint32_t*>(w.absmax_q + unit));
            outer[i] = __ldg(w.nested_absmax + (unit >> 8));
        }
    }
    /// at: of the chunk's first value.
    __device__ __forceinline__ void store(const FetchWeight& w, char* at) const {
        const int lane = threadIdx.x & 31;
        float* const to = reinterpret_cast<float*>(at);
        const int count = rows * units;
        if (is_copied) {
            return;
        }
        if (!is_fast) {
#pragma unroll 1
            for (int i = lane; i < count; i += 32) {
                const int block = unitOf(i) >> shift;
                to[i] = w.absmax == nullptr
                            ? ChunkScales::unnested(w, __ldg(w.absmax_q + block),
                                                    __ldg(w.nested_absmax + (block >> 8)))
                            : __ldg(w.absmax + block);
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < kFours; ++i) {
            const int four = (lane + 32 * i) * 4;
            if (four < count) {
                *reinterpret_cast<float4*>(to + four) =
                    make_float4(ChunkScales::unnested(w, codes[i], outer[i]),
                                ChunkScales::unnested(w, codes[i] >> 8, outer[i]),
                                ChunkScales::unnested(w, codes[i] >> 16, outer[i]),
                                ChunkScales::unnested(w, codes[i] >> 24, outer[i]));
            }
        }
    }
};

} // namespace kernels::cuda
