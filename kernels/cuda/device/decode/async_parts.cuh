// SPDX-License-Identifier: Apache-2.0
// The stream of stream_async_large.cu's weights through shared memory: as in weight_ring.cuh two
// warps fetch chunks in turn and one asks for what comes behind in L2. A step has so many chunks
// there that the loop over them counts: what it needs of the step is in registers, and what a
// chunk's absmax needs is on its way while the one before is copied. In steps of few chunks (E2B,
// E4B) the beginning of a step would cost more than that brings: 2 %.
#pragma once

#include "kernels/cuda/device/decode/weight_parts.cuh"

namespace kernels::cuda {

/// `bytes` from `from` to `to`, multiples of 16, by cp.async. All lanes.
__device__ __forceinline__ void copyLanes(uint32_t to, const char* from, int bytes, uint64_t once) {
    constexpr int kRound = 32 * 16;
    constexpr int kAtOnce = 7; // three times a chunk of 31B
    const int own = (static_cast<int>(threadIdx.x) & 31) * 16;
    to += own;
    from += own;
    int at = 0;
#pragma unroll 1
    for (; at + kAtOnce * kRound <= bytes; at += kAtOnce * kRound) {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            copyAsyncOnce16(to + at + i * kRound, from + at + i * kRound, once);
        }
    }
#pragma unroll 2
    for (; at < bytes - own; at += kRound) {
        copyAsyncOnce16(to + at, from + at, once);
    }
}

/// The codes of a chunk, and absmax that needs no expansion, on their way.
template <typename FORM>
__device__ __forceinline__ void copyRows(const RingOf<FORM>& ring,
                                         const FetchStep<FORM>& step,
                                         const FetchWeight& w,
                                         const ChunkRows& its,
                                         int piece,
                                         bool is_copied,
                                         uint64_t once) {
    // Rows in one piece lie behind each other.
    const int pieces = step.pieces;
    const int segments = pieces == 1 ? 1 : its.count;
    const int units = pieces == 1 ? its.count * step.units : step.units;
    int64_t unit = (static_cast<int64_t>(its.from) * pieces + piece) * step.units;
    const uint32_t to = ring.chunkAddress();
#pragma unroll 1
    for (int s = 0; s < segments; ++s) {
        copyLanes(to + s * units * kUnitBytes, w.data + unit * kUnitBytes, units * kUnitBytes,
                  once);
        if (is_copied) {
            copyLanes(to + ring.codeBytes() + s * units * 4,
                      reinterpret_cast<const char*>(w.absmax + unit), units * 4, once);
        }
        unit += static_cast<int64_t>(pieces) * step.units;
    }
    ring.full().arriveBehindCopies();
}

/// One of kAsyncFetchWarps warps that fetch the chunks of the token in turn. What the next one
/// needs for its absmax is on its way while this one is copied. heads: StepHeads::memory.
template <typename FORM>
__device__ __forceinline__ void fetchInTurn(
    const TokenStep* steps, int count, RingOf<FORM> ring, int warp, char* heads_memory, int block) {
    constexpr int kWarps = kAsyncFetchWarps;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    StepHeads<FORM> heads{steps, count, heads_memory};
    const uint64_t once = evictFirst();
    ring.skip(warp);
    int number = warp; // of the next own chunk
    int index = warp;  // and its place in its step
    heads.ask(0);
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        const TokenStep& step = heads.take(i);
        if (step.kind != kStepProject) {
            continue;
        }
        const ProjectKernelArgs& a = step.project;
        const FetchStep<FORM> its_step(a, block);
        const int total = its_step.tiles * its_step.pieces;
        FetchWeight next_of;
        ChunkRows next_rows{};
        PartScales next;
        ChunkTurn at;
        const auto load = [&]() {
            next_rows = its_step.rowsOf(at.tile);
            next_of.take(a, next_rows.weight);
            if (its_step.is_four_bit) {
                next.load(next_of, its_step.units, its_step.pieces, its_step.block_shift,
                          next_rows.from, next_rows.count, at.piece);
            }
        };
        at.skip(its_step, index);
        if (index < total) {
            load();
        }
#pragma unroll 1
        while (index < total) {
            const PartScales own = next;
            const FetchWeight of = next_of;
            const ChunkRows rows = next_rows;
            const int piece = at.piece;
            index += kWarps;
            if (index < total) {
                at.skip(its_step, kWarps);
                load();
            }
            ring.empty().wait(ring.parity ^ 1U);
            copyRows(ring, its_step, of, rows, piece, its_step.is_four_bit && own.is_copied, once);
            if (its_step.is_four_bit) {
                own.store(of, ring.chunk() + ring.codeBytes());
            }
            __syncwarp();
            if (lane == 0) {
                ring.full().arrive();
                tellShared(ring.asked, number + 1);
            }
            number += kWarps;
            ring.skip(kWarps);
        }
        index -= total;
    }
    waitForCopies();
}

/// What of the rows' parts is a chunk, and its absmax, on the way into L2.
template <typename FORM>
__device__ __forceinline__ void
prefetchParts(const FetchStep<FORM>& step, const FetchWeight& w, const ChunkRows& its, int piece) {
    // Rows in one piece lie behind each other.
    const int segments = step.pieces == 1 ? 1 : its.count;
    const int units = step.pieces == 1 ? its.count * step.units : step.units;
#pragma unroll 1
    for (int s = 0; s < segments; ++s) {
        const int unit = ((its.from + s) * step.pieces + piece) * step.units; // below 2^31
        prefetchLines(w.data + static_cast<int64_t>(unit) * kUnitBytes, units * kUnitBytes);
        if (step.is_four_bit) {
            const int first = unit >> step.block_shift;
            const int blocks = (units >> step.block_shift) + 1;
            if (w.absmax != nullptr) {
                prefetchLines(w.absmax + first, blocks * 4);
            } else {
                prefetchLines(w.absmax_q + first, blocks);
                prefetchLines(w.nested_absmax + (first >> 8), (blocks >> 8) * 4 + 8);
            }
        }
    }
}

/// prefetchWeights() of rows in parts.
template <typename FORM>
__device__ __forceinline__ void
prefetchLarge(const TokenStep* steps, int count, const int32_t* asked, int ahead, int block) {
    int number = 0;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        const TokenStep& step = steps[i];
        if (step.kind != kStepProject) {
            continue;
        }
        const ProjectKernelArgs& a = step.project;
        const FetchStep<FORM> its_step(a, block);
        FetchWeight w;
        ChunkTurn turn;
#pragma unroll 1
        while (turn.tile < its_step.tiles) {
            if ((threadIdx.x & 31) == 0) {
                while (askShared(asked) + ahead <= number) {
                }
            }
            __syncwarp();
            const ChunkRows its = its_step.rowsOf(turn.tile);
            w.take(a, its.weight);
            prefetchParts(its_step, w, its, turn.piece);
            ++number;
            turn.next(its_step);
        }
    }
}

} // namespace kernels::cuda
