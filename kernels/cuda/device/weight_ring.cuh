// SPDX-License-Identifier: Apache-2.0
// The stream of a block's weights through shared memory (stream.cu). Warps that do nothing else copy
// chunk after chunk of all steps of the token, as far ahead as there is room, so that memory never
// waits for the other blocks, and expand the absmax values of each chunk on the way.
#pragma once

#include "kernels/cuda/device/exchange.cuh"
#include "kernels/cuda/device/project_lora.cuh"

namespace kernels::cuda {

/// The rows of a block in one step, as tiles of up to 16 rows of one weight.
struct TileMap {
    int from[3];  ///< First row of each weight.
    int rows[3];  ///< How many of them.
    int first[4]; ///< Tile at which each weight's begin; [3]: of all.

    __device__ __forceinline__ TileMap(const ProjectKernelArgs& a, int block, int grid) {
        const int begin = firstOutput(a, block, grid);
        const int end = firstOutput(a, block + 1, grid);
        int before = 0;
        int tiles = 0;
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            from[j] = 0;
            rows[j] = 0;
            first[j] = tiles;
            if (j < a.count) {
                const RowRange range = rowsOf(a, j, begin, end, before);
                before += static_cast<int>(a.w[j].rows);
                from[j] = range.from;
                rows[j] = range.to > range.from ? range.to - range.from : 0;
                tiles += (rows[j] + kTileRows - 1) / kTileRows;
            }
        }
        first[3] = tiles;
    }

    __device__ __forceinline__ int weightOf(int tile) const {
        return tile < first[1] ? 0 : tile < first[2] ? 1 : 2;
    }
    __device__ __forceinline__ int firstOf(int weight) const {
        return weight == 0 ? first[0] : weight == 1 ? first[1] : first[2];
    }
    __device__ __forceinline__ int fromOf(int weight) const {
        return weight == 0 ? from[0] : weight == 1 ? from[1] : from[2];
    }
    __device__ __forceinline__ int rowsOfWeight(int weight) const {
        return weight == 0 ? rows[0] : weight == 1 ? rows[1] : rows[2];
    }
};

/// Places for chunks, used in turn. Both sides count the chunks in the same order.
struct WeightRing {
    uint64_t* barriers; ///< [2, kMaxChunks]: chunk is there, chunk is done with.
    char* chunks;
    int count;
    int slot = 0;
    uint32_t parity = 0;

    __device__ __forceinline__ CopyBarrier full() const { return {barriers + slot}; }
    __device__ __forceinline__ CopyBarrier empty() const { return {barriers + kMaxChunks + slot}; }
    __device__ __forceinline__ char* chunk() const { return chunks + slot * kChunkBytes; }
    __device__ __forceinline__ void next() {
        if (++slot == count) {
            slot = 0;
            parity ^= 1U;
        }
    }
    /// One thread, at the start.
    __device__ __forceinline__ void init() const {
        for (int i = 0; i < count; ++i) {
            CopyBarrier{barriers + i}.init(1);
            CopyBarrier{barriers + kMaxChunks + i}.init(kComputeWarps);
        }
        fenceBarriers();
    }
};

/// One warp: units [first, first + units) of rows [from, from + rows) of a weight into the chunk.
__device__ __forceinline__ void fetchChunk(
    const WeightArgs& w, int format, int block_shift, const WeightRing& ring, int from, int rows, int row_units, int first, int units) {
    const int lane = threadIdx.x & 31;
    const CopyBarrier full = ring.full();
    char* const chunk = ring.chunk();
    if (lane == 0) {
        full.expect(rows * units * kUnitBytes);
    }
    __syncwarp();
    if (lane < rows) {
        copyBulk(sharedAddress(chunk + lane * chunkRowBytes(units)),
                 static_cast<const char*>(w.data) +
                     (static_cast<int64_t>(from + lane) * row_units + first) * kUnitBytes,
                 units * kUnitBytes, full);
    }
    if (format == kFormatNf4 || format == kFormatFp4) {
        // A unit is 64 weights: absmax of the block that it lies in. Two lanes a row.
        const int row = lane >> 1;
        const int per_row = row_units >> (block_shift - 6);
        float* const to = reinterpret_cast<float*>(chunk + kChunkCodeBytes) + (row & 7) * 2 + (row >> 3);
        if (row < rows) {
            const int64_t row_block = static_cast<int64_t>(from + row) * per_row;
            if (w.absmax != nullptr) {
#pragma unroll 4
                for (int u = lane & 1; u < units; u += 2) {
                    to[u * kTileRows] = __ldg(w.absmax + row_block + ((first + u) >> (block_shift - 6)));
                }
            } else {
#pragma unroll 1
                for (int u0 = lane & 1; u0 < units; u0 += 24) {
                    int code[12];
                    float outer[12];
#pragma unroll
                    for (int i = 0; i < 12; ++i) {
                        const int u = u0 + 2 * i < units ? u0 + 2 * i : u0;
                        const int64_t at = row_block + ((first + u) >> (block_shift - 6));
                        code[i] = __ldg(w.absmax_q + at);
                        outer[i] = __ldg(w.nested_absmax + (at >> 8));
                    }
#pragma unroll
                    for (int i = 0; i < 12; ++i) {
                        if (u0 + 2 * i < units) {
                            // As blockScale(): a rounded product, then a rounded sum.
                            to[(u0 + 2 * i) * kTileRows] = __fadd_rn(
                                __fmul_rn(__ldg(w.nested_code + code[i]), outer[i]), w.nested_offset);
                        }
                    }
                }
            }
        }
    }
    __syncwarp();
    if (lane == 0) {
        full.arrive();
    }
}

/// One of the fetching warps, for the whole token: every kFetchWarps'th chunk is its own.
__device__ __forceinline__ void
fetchWeights(const TokenStep* steps, int count, WeightRing ring, int warp, int block, int grid) {
    int turn = 0;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        if (steps[i].kind != kStepProject) {
            continue;
        }
        const ProjectKernelArgs& a = steps[i].project;
        const TileMap map(a, block, grid);
        const int format = a.w[0].format;
        const int row_units = a.units;
        const int chunk_units = a.chunk_units;
        const int shift = a.block_shift;
#pragma unroll 1
        for (int tile = 0; tile < map.first[3]; ++tile) {
            const int weight = map.weightOf(tile);
            const int done = (tile - map.firstOf(weight)) * kTileRows;
            const int left = map.rowsOfWeight(weight) - done;
            const int rows = left < kTileRows ? left : kTileRows;
#pragma unroll 1
            for (int first = 0; first < row_units; first += chunk_units) {
                if (turn == warp) {
                    const int units =
                        row_units - first < chunk_units ? row_units - first : chunk_units;
                    ring.empty().wait(ring.parity ^ 1U);
                    fetchChunk(a.w[weight], format, shift, ring, map.fromOf(weight) + done, rows,
                               row_units, first, units);
                }
                turn = turn + 1 == kFetchWarps ? 0 : turn + 1;
                ring.next();
            }
        }
    }
}

} // namespace kernels::cuda
