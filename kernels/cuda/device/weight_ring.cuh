// SPDX-License-Identifier: Apache-2.0
// The stream of a block's weights through shared memory (stream.cu). Warps that do nothing else
// copy chunk after chunk of all steps of the token, as far ahead as there is room, so that memory
// never waits for the other blocks, and expand the absmax values of each chunk on the way.
#pragma once

#include "kernels/cuda/device/exchange.cuh"

namespace kernels::cuda {

/// First output of a block: `share` each, and one grain more for the first `extra` blocks.
__device__ __forceinline__ int firstOutput(const ProjectKernelArgs& a, int block) {
    const int first = block * a.share + (block < a.extra ? block : a.extra) * a.grain;
    return first < a.outputs ? first : a.outputs;
}

/// The rows of a block in one step, as tiles of up to 16 rows of one weight.
struct TileMap {
    int from[3];  ///< First row of each weight.
    int rows[3];  ///< How many of them.
    int first[4]; ///< Tile at which each weight's begin; [3]: of all.

    __device__ __forceinline__ TileMap(const ProjectKernelArgs& a, int block) {
        const int begin = firstOutput(a, block);
        const int end = firstOutput(a, block + 1);
        const bool is_pair = a.output == kOutputGeluPair;
        int before = 0;
        int tiles = 0;
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            from[j] = 0;
            rows[j] = 0;
            first[j] = tiles;
            if (j < a.count) {
                const int all = static_cast<int>(a.w[j].rows);
                const int low = begin > before ? begin - before : 0;
                const int high = end - before < all ? end - before : all;
                from[j] = low;
                rows[j] = high > low ? high - low : 0;
                tiles += (rows[j] + kTileRows - 1) / kTileRows;
                before += is_pair ? 0 : all;
            }
        }
        first[3] = tiles;
    }

    __device__ __forceinline__ int weightOf(int tile) const {
        return tile < first[1] ? 0 : tile < first[2] ? 1 : 2;
    }
    __device__ __forceinline__ int tileOf(int weight) const {
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
    __device__ __forceinline__ uint32_t chunkAddress() const {
        return sharedAddress(chunks) + slot * kChunkBytes;
    }
    __device__ __forceinline__ void next() {
        if (++slot == count) {
            slot = 0;
            parity ^= 1U;
        }
    }
    /// A warp that computes: it has what it needs of the chunk.
    __device__ __forceinline__ void release() {
        __syncwarp();
        if ((threadIdx.x & 31) == 0) {
            empty().arrive();
        }
        next();
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

/// A chunk is brought by one of the fetching warps, in turn.
struct ChunkPart {
    int from; ///< First row.
    int rows;
    int first; ///< First unit.
    int units;
};

__device__ __forceinline__ void
copyCodes(const WeightArgs& w, const WeightRing& ring, int row_units, const ChunkPart& part) {
    const int lane = threadIdx.x & 31;
    const CopyBarrier full = ring.full();
    if (lane == 0) {
        full.expect(part.rows * part.units * kUnitBytes);
    }
    __syncwarp();
    if (lane < part.rows) {
        copyBulk(sharedAddress(ring.chunk() + lane * chunkRowBytes(part.units)),
                 static_cast<const char*>(w.data) +
                     (static_cast<int64_t>(part.from + lane) * row_units + part.first) * kUnitBytes,
                 part.units * kUnitBytes, full);
    }
}

/// A unit is 64 weights: absmax of the block that it lies in, two lanes a row. Loads may be ahead
/// of the chunk's place: load() first, then store().
struct ChunkScales {
    static constexpr int kOfLane = kChunkUnits / 2;
    int code[kOfLane];
    float outer[kOfLane];

    __device__ __forceinline__ void
    load(const WeightArgs& w, int row_units, int shift, const ChunkPart& part) {
        const int lane = threadIdx.x & 31;
        if ((lane >> 1) >= part.rows) {
            return;
        }
        // Below 2^31: rows of one weight times their blocks.
        const int row_block = (part.from + (lane >> 1)) * (row_units >> shift);
#pragma unroll
        for (int i = 0; i < kOfLane; ++i) {
            const int u = (lane & 1) + 2 * i;
            if (u < part.units) {
                const int at = row_block + ((part.first + u) >> shift);
                code[i] = 0;
                if (w.absmax != nullptr) {
                    outer[i] = __ldg(w.absmax + at);
                } else {
                    code[i] = __ldg(w.absmax_q + at);
                    outer[i] = __ldg(w.nested_absmax + (at >> 8));
                }
            }
        }
    }
    __device__ __forceinline__ void
    store(const WeightArgs& w, char* chunk, const ChunkPart& part) const {
        const int lane = threadIdx.x & 31;
        const int row = lane >> 1;
        float* const to =
            reinterpret_cast<float*>(chunk + kChunkCodeBytes) + (row & 7) * 2 + (row >> 3);
        if (row >= part.rows) {
            return;
        }
#pragma unroll
        for (int i = 0; i < kOfLane; ++i) {
            const int u = (lane & 1) + 2 * i;
            if (u < part.units) {
                // As blockScale(): a rounded product, then a rounded sum.
                to[u * kTileRows] =
                    w.absmax != nullptr
                        ? outer[i]
                        : __fadd_rn(__fmul_rn(__ldg(w.nested_code + code[i]), outer[i]),
                                    w.nested_offset);
            }
        }
    }
};

/// One of the fetching warps, for the whole token. heads: [2, kStepHeadBytes], this warp's.
__device__ __forceinline__ void
fetchWeights(const TokenStep* steps, int count, WeightRing ring, int warp, char* heads, int block) {
    const int lane = threadIdx.x & 31;
    const auto copyHead = [&](int index) {
        if (index < count && lane < kStepHeadBytes / 16) {
            copyAsync16(heads + (index & 1) * kStepHeadBytes + lane * 16,
                        reinterpret_cast<const char*>(steps + index) + lane * 16);
        }
        commitCopies();
    };
    int turn = 0;
    copyHead(0);
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        __syncwarp();
        copyHead(i + 1);
        waitForCopyGroups<1>();
        __syncwarp();
        const TokenStep& step =
            *reinterpret_cast<const TokenStep*>(heads + (i & 1) * kStepHeadBytes);
        if (step.kind != kStepProject) {
            continue;
        }
        const ProjectKernelArgs& a = step.project;
        const TileMap map(a, block);
        const bool is_four_bit = a.w[0].format == kFormatNf4 || a.w[0].format == kFormatFp4;
        const int row_units = a.units;
#pragma unroll 1
        for (int tile = 0; tile < map.first[3]; ++tile) {
            const int weight = map.weightOf(tile);
            const int done = (tile - map.tileOf(weight)) * kTileRows;
            const int left = map.rowsOfWeight(weight) - done;
            ChunkPart part{};
            part.from = map.fromOf(weight) + done;
            part.rows = left < kTileRows ? left : kTileRows;
#pragma unroll 1
            for (part.first = 0; part.first < row_units; part.first += kChunkUnits) {
                part.units =
                    row_units - part.first < kChunkUnits ? row_units - part.first : kChunkUnits;
                if (turn == warp) {
                    ChunkScales scales;
                    if (is_four_bit) {
                        scales.load(a.w[weight], row_units, a.block_shift - 6, part);
                    }
                    ring.empty().wait(ring.parity ^ 1U);
                    copyCodes(a.w[weight], ring, row_units, part);
                    if (is_four_bit) {
                        scales.store(a.w[weight], ring.chunk(), part);
                    }
                    __syncwarp();
                    if (lane == 0) {
                        ring.full().arrive();
                    }
                }
                turn = turn + 1 == kFetchWarps ? 0 : turn + 1;
                ring.next();
            }
        }
    }
    waitForCopies();
}

} // namespace kernels::cuda
