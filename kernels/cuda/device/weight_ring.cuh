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

/// The rows of a block in one step, as tiles of rows of one weight.
struct TileMap {
    int from[3];  ///< First row of each weight.
    int rows[3];  ///< How many of them.
    int first[4]; ///< Tile at which each weight's begin; [3]: of all.

    __device__ __forceinline__ TileMap(const ProjectKernelArgs& a, int block) {
        const int begin = firstOutput(a, block);
        const int end = firstOutput(a, block + 1);
        int before = 0;
        int tiles = 0;
        const int shift = a.tile_shift;
        const int more = (1 << shift) - 1;
        if (a.count == 1 || a.output == kOutputGeluPair) {
            // All that most steps need.
            const int each = (end - begin + more) >> shift;
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
                tiles += (rows[j] + more) >> shift;
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
    /// A warp that computes: all its lanes have what they need of the chunk. The products behind
    /// their loads keep the warp together; one without products syncs itself.
    __device__ __forceinline__ void release() {
        if ((threadIdx.x & 31) == 0) {
            empty().arrive();
        }
        next();
    }
    /// `threads` threads, at the start: what is read and multiplied by zero (TileLane) is finite.
    __device__ __forceinline__ void clear(int threads) const {
        constexpr int kWords = (kChunkBytes - kChunkCodeBytes) / 4;
        for (int i = threadIdx.x; i < count * kWords; i += threads) {
            char* const at = chunks + i / kWords * kChunkBytes + kChunkCodeBytes;
            reinterpret_cast<float*>(at)[i % kWords] = 0.0F;
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

/// Absmax of a chunk's units of 64 weights, in the order of memory, where those of its rows lie
/// behind each other. Loads may be ahead of the chunk's place: load() first, then store(). All
/// loads of a lane are on their way before one is needed.
struct ChunkScales {
    /// Fours of a lane.
    static constexpr int kFours = kChunkUnits * kTileRows / 4 / 32;
    static_assert(kFours * 4 * 32 == kChunkUnits * kTileRows);
    uint32_t codes[kFours]; ///< Nested: four of them.
    float outer[kFours];
    int first; ///< Unit of the weight.
    int count;
    int shift; ///< Blocks of 1 << shift units.
    bool is_nested;
    bool is_aligned; ///< Fours of units are fours of absmax values.
    int copied;      ///< Bytes that one copy brings as they are; 0: store() makes them.

    __device__ __forceinline__ void
    load(const WeightArgs& w, int row_units, int block_shift, int from, int rows) {
        const int lane = threadIdx.x & 31;
        // Below 2^31: rows of one weight times their blocks.
        first = from * row_units;
        count = rows * row_units;
        shift = block_shift;
        is_nested = w.absmax == nullptr;
        is_aligned = shift == 0 && (row_units & 3) == 0;
        copied = !is_nested && is_aligned && reinterpret_cast<uintptr_t>(w.absmax) % 16 == 0
                     ? count * 4
                     : 0;
        if (!is_nested || !is_aligned) {
            return;
        }
#pragma unroll
        for (int i = 0; i < kFours; ++i) {
            const int four = (lane + 32 * i) * 4;
            const int unit = first + (four < count ? four : 0);
            codes[i] = __ldg(reinterpret_cast<const uint32_t*>(w.absmax_q + unit));
            outer[i] = __ldg(w.nested_absmax + (unit >> 8));
        }
    }

    /// As blockScale(): a rounded product, then a rounded sum.
    static __device__ __forceinline__ float
    unnested(const WeightArgs& w, uint32_t code, float outer) {
        return __fadd_rn(__fmul_rn(__ldg(w.nested_code + (code & 255U)), outer), w.nested_offset);
    }

    __device__ __forceinline__ void store(const WeightArgs& w, char* chunk) const {
        const int lane = threadIdx.x & 31;
        float* const to = reinterpret_cast<float*>(chunk + kChunkCodeBytes);
        if (copied > 0) {
            return;
        }
        if (!is_nested || !is_aligned) {
#pragma unroll 1
            for (int i = lane; i < count; i += 32) {
                const int block = (first + i) >> shift;
                to[i] = is_nested ? unnested(w, __ldg(w.absmax_q + block),
                                             __ldg(w.nested_absmax + (block >> 8)))
                                  : __ldg(w.absmax + block);
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < kFours; ++i) {
            const int four = (lane + 32 * i) * 4;
            if (four < count) {
                *reinterpret_cast<float4*>(to + four) = make_float4(
                    unnested(w, codes[i], outer[i]), unnested(w, codes[i] >> 8, outer[i]),
                    unnested(w, codes[i] >> 16, outer[i]), unnested(w, codes[i] >> 24, outer[i]));
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
    const uint64_t once = evictFirst();
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
            if (turn == warp) {
                const int weight = map.weightOf(tile);
                const int done = (tile - map.tileOf(weight)) << a.tile_shift;
                const int left = map.rowsOfWeight(weight) - done;
                const int rows = left < 1 << a.tile_shift ? left : 1 << a.tile_shift;
                const int from = map.fromOf(weight) + done;
                const WeightArgs& w = a.w[weight];
                const int row_bytes = row_units * kUnitBytes;
                const char* const codes =
                    static_cast<const char*>(w.data) + static_cast<int64_t>(from) * row_bytes;
                ChunkScales scales;
                scales.copied = 0;
                if (is_four_bit) {
                    scales.load(w, row_units, a.block_shift - 6, from, rows);
                }
                const CopyBarrier full = ring.full();
                ring.empty().wait(ring.parity ^ 1U);
                if (lane == 0) {
                    full.expect(rows * row_bytes + scales.copied);
                    copyBulkOnce(ring.chunkAddress(), codes, rows * row_bytes, full, once);
                    if (scales.copied > 0) {
                        fenceBulkCopies(); // other weights' values were stored there
                        copyBulk(ring.chunkAddress() + kChunkCodeBytes, w.absmax + scales.first,
                                 scales.copied, full);
                    }
                }
                if (is_four_bit) {
                    scales.store(w, ring.chunk());
                }
                __syncwarp();
                if (lane == 0) {
                    full.arrive();
                }
            }
            turn = turn + 1 == warps ? 0 : turn + 1;
            ring.next();
        }
    }
    waitForCopies();
}

} // namespace kernels::cuda
