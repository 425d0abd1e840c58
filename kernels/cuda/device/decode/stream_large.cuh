// SPDX-License-Identifier: Apache-2.0
// What stream_large.cu and stream_async_large.cu do otherwise than stream.cu, for rows as long as
// those of 12B and 31B (LargeForm, AsyncLargeForm): residual rows of up to 6144 columns, others of
// up to 24576.
//
// Such a row leaves no room for itself, for norms or for what was taken of packets: the residual
// row and the norms are read from L2, and what has come stays in registers until it is fp16. A row
// of weights that is too long for a tile is multiplied in parts of its columns, all tiles of a pass
// for one part, then all for the next, so that a warp's share of the input stays in registers. Gate
// and up come in turn and in passes. What is no residual row travels in memory behind flags; q, k
// and v of 31B are packets all the same, because a block of attention needs few of them.
//
// With 99 KiB of shared memory (AsyncLargeForm) a long input is there one part at a time, made from
// memory when the part before is done with, and the sums of a part are added to those before.
#pragma once

#include "kernels/cuda/device/decode/stream_input.cuh"
#include "kernels/cuda/device/decode/weight_parts.cuh"

namespace kernels::cuda {

/// Where part `piece` of the columns has its input and its sums. folds: as of the sums.
template <typename FORM>
__device__ __forceinline__ StreamWork
pieceWork(const ProjectKernelArgs& a, const StreamWork& w, int piece, int folds) {
    StreamWork part = w;
    const int units = piece * a.units;
    const int blocks = a.w[0].layout == WeightLayout::Int8Row ? units >> 1 : units;
    if (!holdsPart<FORM>(a)) {
        part.planes += blocks * w.block_bytes;
        part.scales += blocks;
    }
    if constexpr (FORM::kHoldsPart) {
        part.has_sums = piece > 0;
    } else {
        part.partial += piece * ((a.pass_tiles << a.tile_shift) * folds * kComputeWarps);
    }
    return part;
}

/// Columns [from, from + columns) of a row in memory to one part of fp16. The 128 columns of a warp
/// share a scale; `from` is a multiple of that, of 8-bit weights of 64.
__device__ __forceinline__ void
takeLongColumns(const ProjectKernelArgs& a, const StreamWork& w, int from, int columns) {
    constexpr int kAtOnce = 7; // half of 21504 columns
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const int fours = columns / 4;
    const float* const x = a.x + from;
#pragma unroll 1
    for (int first = 0; first < fours; first += kAtOnce * kComputeThreads) {
        float4 v[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int c = first + i * kComputeThreads + static_cast<int>(threadIdx.x);
            v[i] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
            if (c < fours) {
                v[i] = loadFour(x + 4 * c);
            }
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int c = first + i * kComputeThreads + static_cast<int>(threadIdx.x);
            if ((c & ~31) >= fours) {
                continue; // the whole warp
            }
            const PowerScale scale =
                powerScale(__uint_as_float(warpMaxBits(__float_as_uint(largestOf(v[i])))));
            if (c < fours) {
                *reinterpret_cast<uint2*>(w.planes + (c >> 4) * 128 +
                                          planeOffset(c, is_four_bit, true)) =
                    make_uint2(bitsOf(__floats2half2_rn(v[i].x * scale.up, v[i].y * scale.up)),
                               bitsOf(__floats2half2_rn(v[i].z * scale.up, v[i].w * scale.up)));
                if ((c & 15) == 0) {
                    w.scales[c >> 4] = scale.down;
                }
            }
        }
    }
}

/// A row that is not added to anything, longer than what packets take: all of it, or its first
/// part. Ends with a barrier.
template <typename FORM>
__device__ __forceinline__ void makeLongPlane(const ProjectKernelArgs& a,
                                              const StreamWork& w,
                                              const UnitSignalsOf<FORM>& units,
                                              bool has_units,
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    if (a.link == kLinkFlags) {
        exchange.waitForFlags(step - 1, exchange.grid);
    }
    clocks.note(1);
    takeLongColumns(a, w, 0, heldColumns<FORM>(a));
    units.giveInput(has_units);
    syncCompute();
}

/// Part `piece` in the place of another one, which every warp has in registers or is done with.
/// Ends with a barrier.
template <typename FORM>
__device__ __forceinline__ void
replacePart(const ProjectKernelArgs& a, const StreamWork& w, int piece) {
    const int columns = heldColumns<FORM>(a);
    syncCompute();
    takeLongColumns(a, w, piece * columns, columns);
    syncCompute();
}

/// makePlanes() of a row that meets norms: all of it in registers. The residual row is in memory,
/// written by the first block at least one step with flags ago.
template <typename FORM>
__device__ __forceinline__ void makeLargeRow(const ProjectKernelArgs& a,
                                             const StreamWork& w,
                                             const UnitSignalsOf<FORM>& units,
                                             bool has_units,
                                             const Exchange& exchange,
                                             int step,
                                             const StepClocks& clocks) {
    constexpr int kFours = kPackets / 4 / kComputeThreads;
    constexpr int kPairs = kFours / 2; // that takeShort() takes at a time
    static_assert(kPairs * 2 * 4 * kComputeThreads == kPackets);
    const bool has_residual = a.input == kInputResidualNorm || a.input == kInputResidual;
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    const int fours = a.cols / 4;
    const float scalar = a.scalar;
    float4 x[kFours];
    float4 norm[kFours];
    float4 t_norm[kFours];
    // Asked for in front of the wait.
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
        const int c = static_cast<int>(threadIdx.x) + i * kComputeThreads;
        x[i] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        norm[i] = x[i];
        t_norm[i] = x[i];
        if (c < fours) {
            x[i] = loadFour(a.x + 4 * c);
            norm[i] = loadFour(a.norm, 4 * c);
            t_norm[i] = loadFour(a.t_norm, 4 * c);
        }
    }
    if (has_residual) {
        float4 v[kFours];
#pragma unroll
        for (int i = 0; i < kPairs; ++i) {
            float4 two[2] = {};
            const int first = i * 2 * kComputeThreads;
            if (a.link == kLinkPackets) {
                takeShort(exchange.packetsOf(step - 1 + kPacketSteps) + 4 * first, fours - first,
                          exchange.markOf(step - 1), two);
            } else {
#pragma unroll
                for (int j = 0; j < 2; ++j) {
                    const int c = first + j * kComputeThreads + static_cast<int>(threadIdx.x);
                    if (c < fours) {
                        two[j] = loadFour(a.t + 4 * c);
                    }
                }
            }
            v[2 * i] = two[0];
            v[2 * i + 1] = two[1];
        }
        clocks.note(1);
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < kFours; ++i) {
            sum += sumOfSquares(v[i]);
        }
        sum = warpSum(sum);
        if (lane == 0) {
            w.buffer[warp] = sum;
        }
        syncCompute();
        const float scale = addedScale(a, w.buffer);
#pragma unroll
        for (int i = 0; i < kFours; ++i) {
            const int c = static_cast<int>(threadIdx.x) + i * kComputeThreads;
            x[i] = make_float4(fmaf(v[i].x * scale, t_norm[i].x, x[i].x * scalar),
                               fmaf(v[i].y * scale, t_norm[i].y, x[i].y * scalar),
                               fmaf(v[i].z * scale, t_norm[i].z, x[i].z * scalar),
                               fmaf(v[i].w * scale, t_norm[i].w, x[i].w * scalar));
            if (exchange.block == 0 && c < fours) {
                *reinterpret_cast<float4*>(a.x_out + 4 * c) = x[i];
            }
        }
    } else {
        clocks.note(1);
    }
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kFours; ++i) {
        const int c = static_cast<int>(threadIdx.x) + i * kComputeThreads;
        sum += sumOfSquares(x[i]);
        if ((c & ~31) < fours) {
            storePlanes<FORM>(a, w, c, times(x[i], norm[i]), is_four_bit, c < fours);
        }
    }
    if (a.norm.data != nullptr) {
        sum = warpSum(sum);
        if (lane == 0) {
            w.buffer[64 + warp] = sum;
        }
    }
    units.giveInput(has_units);
    syncCompute();
}

template <typename FORM>
__device__ __forceinline__ void makeLargePlanes(const ProjectKernelArgs& a,
                                                const StreamWork& w,
                                                const UnitSignalsOf<FORM>& units,
                                                bool has_units,
                                                const Exchange& exchange,
                                                int step,
                                                const StepClocks& clocks) {
    if (isWide(a)) {
        makeLongPlane(a, w, units, has_units, exchange, step, clocks);
    } else if (a.input == kInputPlain) {
        makePlainPlanes<FORM>(a, w, units, has_units, exchange, step, clocks);
    } else {
        makeLargeRow<FORM>(a, w, units, has_units, exchange, step, clocks);
    }
}

/// A chunk on its way: rows (or a part of each) and the absmax values that can be copied. All
/// lanes; the last arrival is the caller's.
template <typename FORM>
__device__ __forceinline__ void copyParts(const RingOf<FORM>& ring,
                                          const FetchWeight& w,
                                          const PartScales* scales,
                                          int units,
                                          int pieces,
                                          const ChunkRows& its,
                                          int piece,
                                          uint64_t once) {
    const int lane = threadIdx.x & 31;
    const int segments = pieces == 1 ? 1 : its.count;
    const int segment_units = pieces == 1 ? its.count * units : units;
    const bool is_copied = scales != nullptr && scales->is_copied;
    const CopyBarrier full = ring.full();
    if (lane == 0) {
        full.expect(its.count * units * (kUnitBytes + (is_copied ? 4 : 0)));
        if (is_copied) {
            fenceBulkCopies(); // other weights' values were stored there
        }
    }
    __syncwarp();
    if (lane < segments) {
        const int64_t unit = static_cast<int64_t>(its.from + lane) * units * pieces + piece * units;
        copyBulkOnce(ring.chunkAddress() + lane * segment_units * kUnitBytes,
                     w.data + unit * kUnitBytes, segment_units * kUnitBytes, full, once);
        if (is_copied) {
            copyBulk(ring.chunkAddress() + ring.codeBytes() + lane * segment_units * 4,
                     w.absmax + unit, segment_units * 4, full);
        }
    }
}

/// fetchWeights() of LargeForm.
template <typename FORM>
__device__ __forceinline__ void fetchLarge(const TokenStep* steps,
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
    heads.ask(0);
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        const TokenStep& step = heads.take(i);
        if (step.kind != kStepProject) {
            continue;
        }
        const ProjectKernelArgs& a = step.project;
        const FetchStep<FORM> its_step(a, block);
        FetchWeight w;
        ChunkTurn at;
#pragma unroll 1
        while (at.tile < its_step.tiles) {
            if (turn == warp) {
                const ChunkRows its = its_step.rowsOf(at.tile);
                w.take(a, its.weight);
                PartScales scales;
                if (its_step.is_four_bit) {
                    scales.load(w, its_step.units, its_step.pieces, its_step.block_shift, its.from,
                                its.count, at.piece);
                }
                ring.empty().wait(ring.parity ^ 1U);
                copyParts(ring, w, its_step.is_four_bit ? &scales : nullptr, its_step.units,
                          its_step.pieces, its, at.piece, once);
                if (its_step.is_four_bit) {
                    scales.store(w, ring.chunk() + ring.codeBytes());
                }
                __syncwarp();
                if (lane == 0) {
                    ring.full().arrive();
                }
            }
            turn = turn + 1 == warps ? 0 : turn + 1;
            ring.next();
            at.next(its_step);
        }
    }
    waitForCopies();
}

} // namespace kernels::cuda
