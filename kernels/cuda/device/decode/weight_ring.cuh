// SPDX-License-Identifier: Apache-2.0
// The stream of a block's weights through shared memory (stream.cu). Warps that do nothing else
// copy chunk after chunk of all steps of the token, as far ahead as there is room, so that memory
// never waits for the other blocks, and expand the absmax values of each chunk on the way.
#pragma once

#include "kernels/cuda/device/decode/exchange.cuh"
#include "kernels/cuda/device/decode/stream_form.cuh"

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
        if (a.count == 1 || a.output == kOutputGatedPair) {
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

/// Stretches of a row in a tile, and units of a stretch (the last one may have fewer).
__device__ __forceinline__ int foldsOf(const ProjectKernelArgs& a) {
    return kTileRows >> a.tile_shift;
}
__device__ __forceinline__ int stretchOf(const ProjectKernelArgs& a) {
    const int shift = kTileShift - a.tile_shift;
    return (a.units + (1 << shift) - 1) >> shift;
}

/// The tiles of a pair of weights come in turn, so that a step may be in several passes; else those
/// of the second weight behind those of the first.
template <typename FORM>
__device__ __forceinline__ bool takesPairsInTurn(const ProjectKernelArgs& a) {
    return (!FORM::kIsBulk || FORM::kIsLarge || FORM::kHasBlocks) && a.output == kOutputGatedPair;
}

/// Places for chunks, used in turn. Both sides count the chunks in the same order.
template <typename FORM>
struct RingOf {
    using Barrier = typename FORM::Barrier;
    uint64_t* barriers; ///< [2, kMaxChunks]: chunk is there, chunk is done with.
    char* chunks;
    int count;
    int own_codes =
        0; ///< AsyncForm: bytes of codes of a chunk, and (BlocksForm, too) of all of it;
    int own_bytes = 0;
    int32_t* asked = nullptr; ///< chunks that were asked for.
    int slot = 0;
    uint32_t parity = 0;

    __device__ __forceinline__ int chunkBytes() const {
        return !FORM::kIsBulk || FORM::kHasBlocks ? own_bytes
               : FORM::kIsLarge                   ? kLargeChunkBytes
                                                  : kChunkBytes;
    }
    /// Where absmax values begin in a chunk.
    __device__ __forceinline__ int codeBytes() const {
        return !FORM::kIsBulk ? own_codes : FORM::kIsLarge ? kLargeChunkCodeBytes : kChunkCodeBytes;
    }
    __device__ __forceinline__ Barrier full() const { return {barriers + slot}; }
    __device__ __forceinline__ Barrier empty() const { return {barriers + kMaxChunks + slot}; }
    __device__ __forceinline__ char* chunk() const { return chunks + slot * chunkBytes(); }
    __device__ __forceinline__ uint32_t chunkAddress() const {
        return sharedAddress(chunks) + slot * chunkBytes();
    }
    __device__ __forceinline__ void next() {
        if (++slot == count) {
            slot = 0;
            parity ^= 1U;
        }
    }
    /// next(), so many times, no more than there are places.
    __device__ __forceinline__ void skip(int times) {
        slot += times;
        if (slot >= count) {
            slot -= count;
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
        if (FORM::kHasBlocks && FORM::kIsBulk) {
            return; // no absmax of their own
        }
        const int words = (chunkBytes() - codeBytes()) / 4;
        for (int i = threadIdx.x; i < count * words; i += threads) {
            char* const at = chunks + i / words * chunkBytes() + codeBytes();
            reinterpret_cast<float*>(at)[i % words] = 0.0F;
        }
    }
    /// One thread, at the start.
    __device__ __forceinline__ void init() const {
        for (int i = 0; i < count; ++i) {
            Barrier{barriers + i}.init(FORM::kChunkArrivals);
            Barrier{barriers + kMaxChunks + i}.init(kComputeWarps);
        }
        if (FORM::kIsBulk) {
            fenceBarriers();
        }
    }
};
using WeightRing = RingOf<BulkForm>;

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
    template <typename WEIGHT>
    static __device__ __forceinline__ float unnested(const WEIGHT& w, uint32_t code, float outer) {
        return __fadd_rn(__fmul_rn(__ldg(w.nested_code + (code & 255U)), outer), w.nested_offset);
    }

    /// at: of the chunk's first value.
    __device__ __forceinline__ void store(const WeightArgs& w, char* at) const {
        const int lane = threadIdx.x & 31;
        float* const to = reinterpret_cast<float*>(at);
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

/// A chunk on its way: `bytes` of codes and the absmax values that can be copied. All lanes; the
/// last arrival is the caller's.
template <typename FORM>
__device__ __forceinline__ void copyChunk(const RingOf<FORM>& ring,
                                          const char* codes,
                                          int bytes,
                                          const char* absmax,
                                          int absmax_bytes,
                                          uint64_t once) {
    if constexpr (FORM::kIsBulk) {
        if ((threadIdx.x & 31) != 0) {
            return;
        }
        const CopyBarrier full = ring.full();
        full.expect(bytes + absmax_bytes);
        copyBulkOnce(ring.chunkAddress(), codes, bytes, full, once);
        if (absmax_bytes > 0) {
            fenceBulkCopies(); // other weights' values were stored there
            copyBulk(ring.chunkAddress() + ring.codeBytes(), absmax, absmax_bytes, full);
        }
    } else {
        const int own = (threadIdx.x & 31) * 16;
        const uint32_t to = ring.chunkAddress() + own;
        codes += own;
#pragma unroll 4
        for (int at = 0; at < bytes - own; at += 512) {
            copyAsyncOnce16(to + at, codes + at, once);
        }
#pragma unroll 1
        for (int at = 0; at < absmax_bytes - own; at += 512) {
            copyAsyncOnce16(to + ring.codeBytes() + at, absmax + own + at, once);
        }
        ring.full().arriveBehindCopies();
    }
}

/// Piece `piece` of each of some rows.
template <typename FORM>
__device__ __forceinline__ void copyPieces(const RingOf<FORM>& ring,
                                           const char* from,
                                           int rows,
                                           int row_bytes,
                                           int piece_bytes,
                                           int piece,
                                           uint64_t once) {
    if constexpr (FORM::kHasHalves && !FORM::kIsBulk) {
        const int own = (threadIdx.x & 31) * 16;
        const char* at_row = from + piece * piece_bytes + own;
        uint32_t to = ring.chunkAddress() + own;
        // A stretch has at most kChunkUnits units, a row four of them: all of it on its way at
        // once.
        constexpr int kRounds = 4 * kChunkUnits * kUnitBytes / 512;
#pragma unroll 1
        for (int row = 0; row < rows; ++row) {
#pragma unroll
            for (int i = 0; i < kRounds; ++i) {
                if (i * 512 < piece_bytes - own) {
                    copyAsyncOnce16(to + i * 512, at_row + i * 512, once);
                }
            }
            to += piece_bytes;
            at_row += row_bytes;
        }
        ring.full().arriveBehindCopies();
    } else if constexpr (FORM::kHasHalves) {
        const int lane = threadIdx.x & 31;
        if (lane == 0) {
            ring.full().expect(rows * piece_bytes);
        }
        __syncwarp();
        if (lane < rows) {
            copyBulkOnce(ring.chunkAddress() + lane * piece_bytes,
                         from + static_cast<int64_t>(lane) * row_bytes + piece * piece_bytes,
                         piece_bytes, ring.full(), once);
        }
    }
}

/// How far behind 16 bytes piece `piece`, counted from the weight's first, begins. Pieces lie
/// behind each other from an address on that is a multiple of them.
__device__ __forceinline__ uint32_t blockShift(int piece, int piece_bytes) {
    return (static_cast<uint32_t>(piece) * static_cast<uint32_t>(piece_bytes)) & 15U;
}

/// Piece `piece` of `rows` rows of blocks from row `from` on, each with what lies between it and
/// whole 16 bytes; of codes their absmax behind them. All lanes; the last arrival is the caller's.
template <typename FORM>
__device__ __forceinline__ void copyBlocks(const RingOf<FORM>& ring,
                                           const ProjectKernelArgs& a,
                                           const WeightArgs& w,
                                           int from,
                                           int rows,
                                           int piece,
                                           uint64_t once) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const bool is_codes = w.layout == WeightLayout::Codes;
    const int bytes = w.block_size;
    const auto copyRow = [&](int row, const auto& copy) {
        const int number = row * a.pieces + piece;
        const int shift = static_cast<int>(blockShift(number, bytes));
        copy(0, static_cast<const char*>(w.data) + static_cast<int64_t>(number) * bytes - shift,
             (shift + bytes + 15) / 16 * 16);
        if (is_codes) {
            copy(bytes,
                 reinterpret_cast<const char*>(w.absmax) +
                     static_cast<int64_t>(number) * (bytes / 4),
                 bytes / 4);
        }
    };
    if constexpr (FORM::kIsBulk) {
        int all = 0;
        if (lane < rows) {
            copyRow(from + lane, [&](int, const char*, int count) { all += count; });
        }
#pragma unroll
        for (int other = 8; other > 0; other /= 2) {
            all += __shfl_xor_sync(0xffffffffU, all, other);
        }
        if (lane == 0) {
            ring.full().expect(all);
        }
        __syncwarp();
        if (lane < rows) {
            const uint32_t slot = ring.chunkAddress() + lane * a.slot_bytes;
            copyRow(from + lane, [&](int at, const char* source, int count) {
                copyBulkOnce(slot + at, source, count, ring.full(), once);
            });
        }
    } else {
#pragma unroll 1
        for (int row = 0; row < rows; ++row) {
            const uint32_t slot = ring.chunkAddress() + row * a.slot_bytes;
            copyRow(from + row, [&](int at, const char* source, int count) {
#pragma unroll 4
                for (int own = lane * 16; own < count; own += 512) {
                    copyAsyncOnce16(slot + at + own, source + own, once);
                }
            });
        }
        ring.full().arriveBehindCopies();
    }
}

/// The beginnings of steps on their way to a fetching warp, one step ahead. memory: [kHeadsOf,
/// kStepHeadBytes], this warp's.
template <typename FORM>
struct StepHeads {
    const TokenStep* steps;
    int count;
    char* memory;
    uint4 next = {}; ///< AsyncForm: 16 bytes of the next one a lane. Groups of copies are full.

    __device__ __forceinline__ void ask(int index) {
        const int lane = threadIdx.x & 31;
        const bool is_there = index < count && lane < kStepHeadBytes / 16;
        const char* const from = reinterpret_cast<const char*>(steps + index) + lane * 16;
        if (!FORM::kIsBulk) {
            if (is_there) {
                next = __ldcg(reinterpret_cast<const uint4*>(from));
            }
            return;
        }
        if (is_there) {
            copyAsync16(memory + (index & 1) * kStepHeadBytes + lane * 16, from);
        }
        commitCopies();
    }
    /// The head of step `index`, which was asked for last; asks for the next one.
    const __device__ __forceinline__ TokenStep& take(int index) {
        const int lane = threadIdx.x & 31;
        __syncwarp();
        if (FORM::kIsBulk) {
            ask(index + 1);
            waitForCopyGroups<1>();
        } else {
            if (lane < kStepHeadBytes / 16) {
                reinterpret_cast<uint4*>(memory)[lane] = next;
            }
            ask(index + 1);
        }
        __syncwarp();
        return *reinterpret_cast<const TokenStep*>(memory + (FORM::kIsBulk ? index & 1 : 0) *
                                                                kStepHeadBytes);
    }
};

/// The rows of a weight that a chunk holds.
struct ChunkRows {
    int weight, from, count;
};
template <typename FORM>
__device__ __forceinline__ ChunkRows chunkRows(const ProjectKernelArgs& a,
                                               const TileMap& map,
                                               int tile) {
    const bool is_in_turn = takesPairsInTurn<FORM>(a);
    const int weight = is_in_turn ? tile & 1 : map.weightOf(tile);
    const int done = (is_in_turn ? tile >> 1 : tile - map.tileOf(weight)) << a.tile_shift;
    const int left = map.rowsOfWeight(weight) - done;
    return {weight, map.fromOf(weight) + done, left < 1 << a.tile_shift ? left : 1 << a.tile_shift};
}

__device__ __forceinline__ void prefetchLines(const void* from, int bytes) {
    const int past = static_cast<int>(reinterpret_cast<uintptr_t>(from) & 127U);
    const char* const first = static_cast<const char*>(from) - past;
#pragma unroll 1
    for (int at = (threadIdx.x & 31) * 128; at < bytes + past; at += 32 * 128) {
        prefetchL2(first + at);
    }
}

/// AsyncForm: the warp that goes ahead of the fetching ones by up to `ahead` chunks, for the whole
/// token. Memory is at work while they have no place for a chunk, and what they ask for is near.
/// Not of bf16 rows in pieces: asking for those takes longer than fetching them (E4B on an H100:
/// 147 tokens/s with it, 177 without).
template <typename FORM>
__device__ __forceinline__ void
prefetchWeights(const TokenStep* steps, int count, const int32_t* asked, int ahead, int block) {
    int number = 0;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        const TokenStep& step = steps[i];
        if (step.kind != kStepProject) {
            continue;
        }
        const ProjectKernelArgs& a = step.project;
        const TileMap map(a, block);
        const bool is_four_bit = a.w[0].layout == WeightLayout::Codes;
        const int units = a.units;
        const int block_shift = a.block_shift - 6;
        const int pieces = isHalf<FORM>(a) ? a.pieces : 1;
        if (pieces > 1 || hasBlocks<FORM>(a)) {
            number += map.first[3] * pieces;
            continue;
        }
#pragma unroll 1
        for (int tile = 0; tile < map.first[3]; ++tile, ++number) {
            if ((threadIdx.x & 31) == 0) {
                while (askShared(asked) + ahead <= number) {
                }
            }
            __syncwarp();
            const ChunkRows rows = chunkRows<FORM>(a, map, tile);
            const WeightArgs& w = a.w[rows.weight];
            const int row_bytes = units * kUnitBytes;
            prefetchLines(static_cast<const char*>(w.data) +
                              static_cast<int64_t>(rows.from) * row_bytes,
                          rows.count * row_bytes);
            if (is_four_bit) {
                const int first = rows.from * units >> block_shift;
                const int blocks = (rows.count * units >> block_shift) + 1;
                if (w.absmax != nullptr) {
                    prefetchLines(w.absmax + first, blocks * 4);
                } else {
                    prefetchLines(w.absmax_q + first, blocks);
                    prefetchLines(w.nested_absmax + (first >> 8), (blocks >> 8) * 4 + 8);
                }
            }
        }
    }
}

/// One of `warps` fetching warps, for the whole token. heads: StepHeads::memory.
template <typename FORM>
__device__ __forceinline__ void fetchWeights(const TokenStep* steps,
                                             int count,
                                             RingOf<FORM> ring,
                                             int warp,
                                             int warps,
                                             char* heads_memory,
                                             int block) {
    const int lane = threadIdx.x & 31;
    StepHeads<FORM> heads{steps, count, heads_memory};
    const uint64_t once = evictFirst();
    int turn = 0;
    int number = 0;
    heads.ask(0);
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        const TokenStep& step = heads.take(i);
        if (step.kind != kStepProject) {
            continue;
        }
        const ProjectKernelArgs& a = step.project;
        const TileMap map(a, block);
        const bool is_four_bit = a.w[0].layout == WeightLayout::Codes && !hasBlocks<FORM>(a);
        const int row_units = a.units;
        const int pieces = isHalf<FORM>(a) ? a.pieces : 1;
        int piece = 0;
#pragma unroll 1
        for (int tile = 0; tile < map.first[3];) {
            if (turn == warp) {
                const ChunkRows its = chunkRows<FORM>(a, map, tile);
                const int rows = its.count;
                const int from = its.from;
                const WeightArgs& w = a.w[its.weight];
                const int row_bytes = row_units * kUnitBytes;
                const char* const codes =
                    static_cast<const char*>(w.data) + static_cast<int64_t>(from) * row_bytes;
                ChunkScales scales;
                scales.copied = 0;
                if (is_four_bit) {
                    scales.load(w, row_units, a.block_shift - 6, from, rows);
                }
                ring.empty().wait(ring.parity ^ 1U);
                if (hasBlocks<FORM>(a)) {
                    copyBlocks(ring, a, w, from, rows, piece, once);
                } else if (pieces > 1) {
                    copyPieces(ring, codes, rows, row_bytes, row_bytes / pieces, piece, once);
                } else {
                    copyChunk(ring, codes, rows * row_bytes,
                              scales.copied > 0
                                  ? reinterpret_cast<const char*>(w.absmax + scales.first)
                                  : nullptr,
                              scales.copied, once);
                }
                if (is_four_bit) {
                    scales.store(w, ring.chunk() + ring.codeBytes());
                }
                __syncwarp();
                if (lane == 0) {
                    ring.full().arrive();
                    if (!FORM::kIsBulk) {
                        tellShared(ring.asked, number + 1);
                    }
                }
            }
            ++number;
            turn = turn + 1 == warps ? 0 : turn + 1;
            ring.next();
            if (++piece == pieces) {
                piece = 0;
                ++tile;
            }
        }
    }
    waitForCopies();
}

} // namespace kernels::cuda
