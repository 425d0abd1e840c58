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
        int before = 0;
        int tiles = 0;
        if (a.count == 1 || a.output == kOutputGeluPair) {
            // All that most steps need.
            const int each = (end - begin + kTileRows - 1) / kTileRows;
#pragma unroll
            for (int j = 0; j < 3; ++j) {
                from[j] = begin;
                rows[j] = j < a.count ? end - begin : 0;
                first[j] = tiles;
                tiles += j < a.count ? each : 0;
            }
            first[3] = tiles;
            return;
        }
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
                before += all;
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
    /// A warp that computes: all its lanes have what they need of the chunk. After a multiplication
    /// of the tensor cores, which waits for all lanes' operands, nothing else is needed to know that.
    __device__ __forceinline__ void release() {
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
    const int row_bytes = part.units * kUnitBytes;
    if (lane == 0) {
        full.expect(part.rows * row_bytes);
    }
    __syncwarp();
    // A chunk of whole rows: four of them in one copy.
    const int rows = part.units == row_units ? kFourRows : 1;
    const int row = lane * rows;
    if (row < part.rows) {
        const int left = part.rows - row;
        copyBulk(ring.chunkAddress() + row / kFourRows * fourRowsBytes(part.units) +
                     row % kFourRows * row_bytes,
                 static_cast<const char*>(w.data) +
                     (static_cast<int64_t>(part.from + row) * row_units + part.first) * kUnitBytes,
                 (left < rows ? left : rows) * row_bytes, full);
    }
}

/// A unit is 64 weights: absmax of the block that it lies in. Two lanes a row, each with half of the
/// chunk's units. Loads may be ahead of the chunk's place: load() first, then store(). All loads of
/// a lane are on their way before one is needed.
struct ChunkScales {
    static constexpr int kOfLane = kChunkUnits / 2;
    static_assert(kOfLane == 12, "three times four");
    uint32_t words[kOfLane]; ///< fp32; nested: four codes a word.
    float outer[2];          ///< Nested: of the first block's group of 256 and of the last one's.
    int row;
    int units;    ///< Of this lane.
    int first;    ///< Block of the first of them, counted over the weight.
    int position; ///< Of the first unit in its block.
    int shift;    ///< Blocks of 1 << shift units.

    [[nodiscard]] __device__ __forceinline__ int blockOf(int i) const {
        return first + ((position + i) >> shift);
    }

    __device__ __forceinline__ void
    load(const WeightArgs& w, int row_units, int block_shift, const ChunkPart& part) {
        const int lane = threadIdx.x & 31;
        const int unit = (lane & 1) * kOfLane;
        const int left = part.units - unit;
        shift = block_shift;
        row = lane >> 1;
        units = row >= part.rows || left < 0 ? 0 : left < kOfLane ? left : kOfLane;
        position = (part.first + unit) & ((1 << shift) - 1);
        // Below 2^31: rows of one weight times their blocks.
        first = (part.from + row) * (row_units >> shift) + ((part.first + unit) >> shift);
        if (units == 0) {
            return;
        }
        // Four neighbours at a time where a row's units come in fours.
        const bool is_aligned = shift == 0 && (row_units & 3) == 0;
        if (w.absmax != nullptr) {
            if (is_aligned) {
#pragma unroll
                for (int i = 0; i < kOfLane; i += 4) {
                    if (i < units) {
                        const uint4 four =
                            __ldg(reinterpret_cast<const uint4*>(w.absmax + first + i));
                        words[i] = four.x;
                        words[i + 1] = four.y;
                        words[i + 2] = four.z;
                        words[i + 3] = four.w;
                    }
                }
            } else {
#pragma unroll
                for (int i = 0; i < kOfLane; ++i) {
                    words[i] = __float_as_uint(__ldg(w.absmax + blockOf(i < units ? i : 0)));
                }
            }
            return;
        }
        outer[0] = __ldg(w.nested_absmax + (first >> 8));
        outer[1] = __ldg(w.nested_absmax + (blockOf(units - 1) >> 8));
if (is_aligned) {
#pragma unroll
            for (int i = 0; i < kOfLane / 4; ++i) {
                words[i] = 0;
                if (4 * i < units) {
                    words[i] =
                        __ldg(reinterpret_cast<const uint32_t*>(w.absmax_q + first + 4 * i));
                }
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < kOfLane / 4; ++i) {
            words[i] = 0;
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int u = 4 * i + j < units ? 4 * i + j : 0;
                words[i] |= static_cast<uint32_t>(__ldg(w.absmax_q + blockOf(u))) << (8 * j);
            }
        }
    }

    __device__ __forceinline__ void store(const WeightArgs& w, char* chunk) const {
        if (units == 0) {
            return;
        }
        float* const to = reinterpret_cast<float*>(chunk + kChunkCodeBytes) +
                          (threadIdx.x & 1) * (kOfLane * kTileRows) +
                          ((row >> 2) + (row & 1) * 4) * 2 + (row >> 1 & 1); // tileRow()
        if (w.absmax != nullptr) {
#pragma unroll
            for (int i = 0; i < kOfLane; ++i) {
                if (i < units) {
                    to[i * kTileRows] = __uint_as_float(words[i]);
                }
            }
            return;
        }
        float value[kOfLane];
#pragma unroll
        for (int i = 0; i < kOfLane; ++i) {
            value[i] = __ldg(w.nested_code + ((words[i / 4] >> (8 * (i % 4))) & 255U));
        }
        const float offset = w.nested_offset;
#pragma unroll
        for (int i = 0; i < kOfLane; ++i) {
            // As blockScale(): a rounded product, then a rounded sum.
            const bool is_first = ((blockOf(i) ^ first) >> 8) == 0;
            value[i] = __fadd_rn(__fmul_rn(value[i], is_first ? outer[0] : outer[1]), offset);
            if (i < units) {
                to[i * kTileRows] = value[i];
            }
        }
    }
};

/// One of `warps` fetching warps, for the whole token. heads: [2, kStepHeadBytes], this warp's.
__device__ __forceinline__ void fetchWeights(const TokenStep* steps,
                                             int count,
                                             WeightRing ring,
                                             int warp,
                                             int warps,
                                             char* heads,
                                             int block) {
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
                        scales.store(a.w[weight], ring.chunk());
                    }
                    __syncwarp();
                    if (lane == 0) {
                        ring.full().arrive();
                    }
                }
                turn = turn + 1 == warps ? 0 : turn + 1;
                ring.next();
            }
        }
    }
    waitForCopies();
}

} // namespace kernels::cuda
