// SPDX-License-Identifier: Apache-2.0
// One projection of stream.cu: the input as fp16, the block's rows times it in tiles
// from the ring, and what is done with the sums. The warps share the columns of every tile, unit by
// unit, so that a block with two rows is as busy as one with two hundred.
#pragma once

#include "kernels/cuda/device/decode/stream_blocks.cuh"
#include "kernels/cuda/device/decode/stream_direct.cuh"
#include "kernels/cuda/device/decode/stream_large.cuh"
#include "kernels/cuda/device/decode/stream_lora.cuh"
#include "kernels/cuda/device/decode/weight_ring.cuh"

namespace kernels::cuda {

/// Where a lane is in every tile. Lanes with the same number / 4 (a group of 8) have two rows next
/// to each other of one stretch; the tensor cores take the columns of four sets of groups (group
/// % 4), each with the input's upper and lower parts, or of a wide row's eight stretches. Sets take
/// the units of every four in an order of their own, so that they read different banks.
struct TileLane {
    int row;  ///< The first of its two.
    int fold; ///< Their stretch.
    int unit; ///< The warp's first unit of the row.
    int set;
    __device__ __forceinline__ TileLane(const ProjectKernelArgs& a, bool is_wide) {
        const int group = (threadIdx.x & 31) >> 2;
        set = group & 3;
        row = is_wide ? 0 : ((set & ((1 << a.tile_shift >> 2) - 1)) * 2 + (group >> 2)) * 2;
        fold = is_wide ? group : set * foldsOf(a) >> 2;
        unit = unitOf(a, fold, set);
    }
    /// First unit of this warp of a stretch.
    static __device__ __forceinline__ int unitOf(const ProjectKernelArgs& a, int fold, int set) {
        const int warp = threadIdx.x / 32;
        const int stretch = stretchOf(a);
        return fold * stretch + ((stretch & 3) == 0 ? warp ^ set : warp);
    }
};

/// A unit of the row, for input behind its end: what codes and absmax lie there in the chunk is
/// finite, and its scale is zero.
__device__ __forceinline__ int unitThere(const ProjectKernelArgs& a, int unit) {
    return unit < a.units ? unit : a.units - 1;
}

/// Tiles [first, end) of the block: sums of this warp's columns into w.partial. A warp takes units
/// `warp` and `warp` + 12 of every stretch: COUNT of them. Their input stays in registers. The loop
/// is bound by its instructions: whatever can be is outside.
template <typename FORM, bool IS_FOUR_BIT, bool IS_WIDE, int COUNT>
__device__ __forceinline__ void multiplyTiles(const ProjectKernelArgs& a,
                                              const StreamWork& w,
                                              RingOf<FORM>& ring,
                                              const typename FORM::Table& table,
                                              int first,
                                              int end) {
    const int lane = threadIdx.x & 31;
    const TileLane own(a, IS_WIDE);
    uint4 x[COUNT + 1][2] = {};
    float scale[COUNT + 1] = {};
    {
        const int column = lane >> 2;
        const int set = IS_WIDE ? column & 3 : column >> 1;
        const int unit = TileLane::unitOf(a, IS_WIDE ? column : set * foldsOf(a) >> 2, set);
        const int half = w.block_bytes / 2;
        const uint32_t at =
            sharedAddress(w.planes) + (IS_WIDE ? 0 : (column & 1) * 64) + (lane & 3) * 16;
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const int u = unitThere(a, unit + i * kComputeWarps);
            const int own_u = own.unit + i * kComputeWarps;
            if (IS_FOUR_BIT) {
                x[i][0] = loadShared16(at + u * w.block_bytes);
                x[i][1] = loadShared16(at + u * w.block_bytes + half);
            } else {
                x[i][0] = loadShared16(at + (u >> 1) * w.block_bytes + (u & 1) * half);
            }
            // Behind the row's end is nothing to add.
            scale[i] = own_u < a.units ? w.scales[IS_FOUR_BIT ? own_u : own_u >> 1] : 0.0F;
        }
    }
    const uint32_t next_row = a.units * kUnitBytes;
    const uint32_t next_absmax = a.units * 4;
    const uint32_t codes_at = own.row * next_row + own.unit * kUnitBytes + (lane & 3) * 8;
    const uint32_t absmax_at = ring.codeBytes() + own.row * next_absmax + own.unit * 4;
    // Sums of a row are in the lanes that have its set's columns.
    const bool is_own = (lane & 3) == (IS_WIDE ? lane >> 3 : own.set);
    const bool is_second = (lane & 8) != 0;
    const int folds = IS_WIDE ? 1 : foldsOf(a);
    float* to = w.partial + threadIdx.x / 32 +
                (IS_WIDE ? (is_second ? 1 : 0) : own.row * folds + own.fold) * kComputeWarps;
    const int next_sums = folds * kComputeWarps;
    const int next_tile = next_sums << a.tile_shift;
#pragma unroll 1
    for (int tile = first; tile < end; ++tile) {
        const uint32_t at = ring.chunkAddress();
        ring.full().wait(ring.parity);
        uint2 rows[COUNT + 1][2];
        uint32_t absmax[COUNT + 1][2];
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const uint32_t codes = at + codes_at + i * kComputeWarps * kUnitBytes;
            rows[i][0] = loadShared8(codes);
            rows[i][1] = loadShared8(codes + next_row);
            if (IS_FOUR_BIT) {
                const uint32_t values = at + absmax_at + i * kComputeWarps * 4;
                absmax[i][0] = loadShared(values);
                absmax[i][1] = loadShared(values + next_absmax);
            }
        }
        if (!FORM::kIsBulk) {
            // There are few places: the next chunk may come as soon as this one is in registers.
            __syncwarp();
            ring.release();
        }
        float sums[2] = {};
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            float c[4] = {};
            if (IS_FOUR_BIT) {
                multiplyCodes(c, table, rows[i][0], rows[i][1], x[i]);
            } else {
                multiplyBytes(c, rows[i][0], rows[i][1], x[i][0]);
            }
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                // Columns 2 t and 2 t + 1: the input's two parts, or two stretches.
                const float sum = !IS_WIDE          ? c[2 * h] + c[2 * h + 1]
                                  : (lane & 4) != 0 ? c[2 * h + 1]
                                                    : c[2 * h];
                const float factor =
                    IS_FOUR_BIT ? __uint_as_float(absmax[i][h]) * scale[i] : scale[i];
                sums[h] = fmaf(sum, factor, sums[h]);
            }
        }
        if (FORM::kIsBulk) {
            if (COUNT == 0) {
                __syncwarp();
            }
            ring.release();
        }
        if (IS_WIDE) {
            // Eight stretches: added here, in halves of the warp (8) for the two rows at once.
            const float mine = is_own ? (is_second ? sums[1] : sums[0]) : 0.0F;
            const float others = is_own ? (is_second ? sums[0] : sums[1]) : 0.0F;
            float sum = mine + __shfl_xor_sync(0xffffffffU, others, 8);
#pragma unroll
            for (int i = 1; i < 32; i = i == 4 ? 16 : i * 2) {
                sum += __shfl_xor_sync(0xffffffffU, sum, i);
            }
            if ((lane & ~8) == 0) { // one lane for each of the two rows
                to[0] = FORM::kHoldsPart && w.has_sums ? to[0] + sum : sum;
            }
        } else if (is_own) {
            if (FORM::kHoldsPart && w.has_sums) {
                sums[0] += to[0];
                sums[1] += to[next_sums];
            }
            to[0] = sums[0];
            to[next_sums] = sums[1];
        }
        to += next_tile;
    }
}

/// multiplyTiles() of bf16 weights: a tile is `pieces` chunks, one after the other. What a piece
/// has of the input is read for each tile anew: there is little else to do.
template <typename FORM, int COUNT>
__device__ __forceinline__ void multiplyHalfTiles(
    const ProjectKernelArgs& a, const StreamWork& w, RingOf<FORM>& ring, int first, int end) {
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x / 32;
    const int folds = foldsOf(a);
    const int pieces = a.pieces;
    const int piece_units = a.units / pieces;
    const int stretch = piece_units / folds;
    // As TileLane has it, units in order.
    const int set = lane >> 2 & 3;
    const int row = ((set & ((1 << a.tile_shift >> 2) - 1)) * 2 + (lane >> 4)) * 2;
    const int fold = set * folds >> 2;
    const int column = lane >> 2;
    const uint32_t x_at = sharedAddress(w.planes) + (column & 1) * 32 + (lane & 3) * 8 +
                          (((column >> 1) * folds >> 2) * stretch + warp) * 64;
    const uint32_t next_row = piece_units * kUnitBytes;
    const uint32_t halves_at =
        row * next_row + (fold * stretch + warp) * kUnitBytes + (lane & 3) * 8;
    const bool is_own = (lane & 3) == set;
    float* to = w.partial + warp + (row * folds + fold) * kComputeWarps;
    const int next_sums = folds * kComputeWarps;
    const int next_tile = next_sums << a.tile_shift;
#pragma unroll 1
    for (int tile = first; tile < end; ++tile) {
        float c[COUNT + 1][4] = {};
#pragma unroll 1
        for (int piece = 0; piece < pieces; ++piece) {
            uint2 x[COUNT + 1];
            uint2 rows[COUNT + 1][2];
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                x[i] = loadShared8(x_at + (piece * piece_units + i * kComputeWarps) * 64);
            }
            const uint32_t at = ring.chunkAddress() + halves_at;
            ring.full().wait(ring.parity);
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                rows[i][0] = loadShared8(at + i * kComputeWarps * kUnitBytes);
                rows[i][1] = loadShared8(at + next_row + i * kComputeWarps * kUnitBytes);
            }
            if (!FORM::kIsBulk) {
                // As in multiplyTiles(): free as soon as it is in registers.
                __syncwarp();
                ring.release();
            }
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                multiplyHalfUnit(c[i], rows[i][0], rows[i][1], x[i]);
            }
            if (FORM::kIsBulk) {
                if (COUNT == 0) {
                    __syncwarp();
                }
                ring.release();
            }
        }
        if (is_own) {
            float sums[2] = {};
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                sums[0] += c[i][0] + c[i][1];
                sums[1] += c[i][2] + c[i][3];
            }
            to[0] = sums[0];
            to[next_sums] = sums[1];
        }
        to += next_tile;
    }
}

/// multiplyHalfTiles() with as many units as this warp has.
template <typename FORM>
__device__ __forceinline__ void multiplyOwnHalves(
    const ProjectKernelArgs& a, const StreamWork& w, RingOf<FORM>& ring, int first, int end) {
    const int left = a.units / a.pieces / foldsOf(a) - static_cast<int>(threadIdx.x) / 32;
    if (left > kComputeWarps) {
        multiplyHalfTiles<FORM, 2>(a, w, ring, first, end);
    } else if (left > 0) {
        multiplyHalfTiles<FORM, 1>(a, w, ring, first, end);
    } else {
        multiplyHalfTiles<FORM, 0>(a, w, ring, first, end);
    }
}

/// multiplyTiles() with as many units as this warp has.
template <typename FORM, bool IS_FOUR_BIT, bool IS_WIDE>
__device__ __forceinline__ void multiplyOwn(const ProjectKernelArgs& a,
                                            const StreamWork& w,
                                            RingOf<FORM>& ring,
                                            const typename FORM::Table& table,
                                            int first,
                                            int end) {
    const int left = stretchOf(a) - static_cast<int>(threadIdx.x) / 32;
    if (left > kComputeWarps) {
        multiplyTiles<FORM, IS_FOUR_BIT, IS_WIDE, 2>(a, w, ring, table, first, end);
    } else if (left > 0) {
        multiplyTiles<FORM, IS_FOUR_BIT, IS_WIDE, 1>(a, w, ring, table, first, end);
    } else {
        multiplyTiles<FORM, IS_FOUR_BIT, IS_WIDE, 0>(a, w, ring, table, first, end);
    }
}

/// multiplyTiles() of LargeForm and AsyncLargeForm: one part of the columns after the other.
template <typename FORM>
__device__ __forceinline__ void multiplyPieces(const ProjectKernelArgs& a,
                                               const StreamWork& w,
                                               RingOf<FORM>& ring,
                                               const typename FORM::Table& table,
                                               int folds,
                                               int first,
                                               int end) {
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const bool is_wide = isWide(a);
#pragma unroll 1
    for (int piece = 0; piece < a.pieces; ++piece) {
        if (holdsPart<FORM>(a) && a.pieces > 1 && (piece > 0 || first > 0)) {
            replacePart<FORM>(a, w, piece);
        }
        const StreamWork part = pieceWork<FORM>(a, w, piece, folds);
        if (is_four_bit && is_wide) {
            multiplyOwn<FORM, true, true>(a, part, ring, table, first, end);
        } else if (is_four_bit) {
            multiplyOwn<FORM, true, false>(a, part, ring, table, first, end);
        } else if (is_wide) {
            multiplyOwn<FORM, false, true>(a, part, ring, table, first, end);
        } else {
            multiplyOwn<FORM, false, false>(a, part, ring, table, first, end);
        }
    }
}

/// Sum of one row over the warps and its `folds` stretches; `row` counts from the first tile of the
/// pass.
__device__ __forceinline__ float rowSum(const StreamWork& w, int row, int folds) {
    const float4* at = reinterpret_cast<const float4*>(w.partial + row * folds * kComputeWarps);
    float sum = 0.0F;
#pragma unroll 1
    for (int f = 0; f < folds; ++f) {
#pragma unroll
        for (int i = 0; i < kComputeWarps / 4; ++i) {
            const float4 v = *at++;
            sum += (v.x + v.y) + (v.z + v.w);
        }
    }
    return sum;
}

/// rowSum() of all parts of the row's columns (LargeForm; of AsyncLargeForm they are one sum).
template <typename FORM>
__device__ __forceinline__ float
wholeSum(const ProjectKernelArgs& a, const StreamWork& w, int row, int folds) {
    float sum = rowSum(w, row, folds);
    if constexpr (FORM::kIsLarge && !FORM::kHoldsPart) {
#pragma unroll 1
        for (int piece = 1; piece < a.pieces; ++piece) {
            sum += rowSum(pieceWork<FORM>(a, w, piece, folds), row, folds);
        }
    }
    return sum;
}

/// Where a thread's result goes, known before there is anything to multiply.
struct ResultRow {
    bool is_there;
    int weight;
    int at;                    ///< Row of the weight;
    int local;                 ///< counted from the block's first.
    int packet;                ///< Number among all results of the step.
    float scale, second_scale; ///< For 8-bit weights; those of a pair's second weight.
    float multiply;
};

/// i: row of the pass, counted from tile `first`. What it is multiplied by is planPass()'s.
__device__ __forceinline__ ResultRow
resultRow(const ProjectKernelArgs& a, const TileMap& map, int first, int rows, int i) {
    ResultRow r{};
    const int tile = first + (i >> a.tile_shift);
    r.weight = map.weightOf(tile);
    const int local = i + ((first - map.tileOf(r.weight)) << a.tile_shift);
    r.is_there = i >= 0 && i < rows && local < map.rowsOfWeight(r.weight);
    r.at = map.fromOf(r.weight) + local;
    r.local = local;
    r.packet = r.at;
    if (r.weight > 0) {
        r.packet +=
            static_cast<int>(a.w[0].rows) + (r.weight > 1 ? static_cast<int>(a.w[1].rows) : 0);
    }
    return r;
}

/// Tiles of a pass, and the thread's first row of it.
struct Pass {
    int tiles; ///< Tiles of all passes.
    int end;   ///< Behind the pass's last one.
    int rows;
    ResultRow row;
};

/// The pass that begins with tile `first`; i: the thread's row of it. A step of one weight or a
/// pair does without TileMap: this is in front of every step's input.
template <typename FORM>
__device__ __forceinline__ Pass planPass(const ProjectKernelArgs& a, int block, int first, int i) {
    Pass p{};
    const bool is_pair = a.output == kOutputGatedPair;
    if (a.count == 1 || is_pair) {
        // Most steps: one after the other from the block's first row on.
        const int begin = firstOutput(a, block);
        const int count = firstOutput(a, block + 1) - begin;
        const int each = (count + (1 << a.tile_shift) - 1) >> a.tile_shift;
        p.tiles = is_pair ? 2 * each : each;
        p.end = p.tiles < first + a.pass_tiles ? p.tiles : first + a.pass_tiles;
        // Pairs come in one pass: the first weight's rows.
        // Or in several, in turn.
        p.rows = is_pair ? count : (p.end - first) << a.tile_shift;
        p.row.local = i + (first << a.tile_shift);
        if (takesPairsInTurn<FORM>(a)) {
            p.rows = (p.end - first) / 2 << a.tile_shift;
            p.row.local = i + (first / 2 << a.tile_shift);
        }
        p.row.is_there = i >= 0 && i < p.rows && p.row.local < count;
        p.row.at = begin + p.row.local;
        p.row.packet = p.row.at;
    } else {
        const TileMap map(a, block);
        p.tiles = map.first[3];
        p.end = p.tiles < first + a.pass_tiles ? p.tiles : first + a.pass_tiles;
        p.rows = (p.end - first) << a.tile_shift;
        p.row = resultRow(a, map, first, p.rows, i);
    }
    ResultRow& r = p.row;
    r.scale = 1.0F;
    r.second_scale = 1.0F;
    if (r.is_there && a.w[0].layout == WeightLayout::Int8Row) {
        r.scale = a.w[r.weight].row_scale[r.at];
        r.second_scale = is_pair ? a.w[1].row_scale[r.at] : 1.0F;
    }
    if (r.is_there && a.output == kOutputGatedMultiply) {
        r.multiply = a.multiply[r.at];
    }
    return p;
}

/// Rows of a warp that publishes packets of three: the last two lanes have none.
constexpr int kWideRows = 30;

/// Where row i of a pass has its sums, and row i of a pair's second weight.
struct SumRows {
    int first, second;
};
template <typename FORM>
__device__ __forceinline__ SumRows sumRows(const ProjectKernelArgs& a, int tiles, int i) {
    if (takesPairsInTurn<FORM>(a)) {
        const int at = i + (i >> a.tile_shift << a.tile_shift);
        return {at, at + (1 << a.tile_shift)};
    }
    return {i, (tiles / 2 << a.tile_shift) + i};
}

/// What updates add to the block's rows of a weight, wherever their operands are.
template <typename FORM>
__device__ __forceinline__ const float*
addedTo(const UnitSignalsOf<FORM>& units, const ProjectKernelArgs& a, char* memory, int weight) {
    return units.is_direct ? DirectUpdates(memory, a).of(weight) : updatesOf(a, memory, weight);
}

template <typename FORM>
__device__ __forceinline__ void streamProject(const ProjectKernelArgs& a,
                                              char* memory,
                                              float4* row,
                                              const char* norms,
                                              int norm_bytes,
                                              RingOf<FORM>& ring,
                                              const typename FORM::Table& table,
                                              const UnitSignalsOf<FORM>& units,
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    const StreamWork w = streamWork<FORM>(memory, a);
    const bool is_pair = a.output == kOutputGatedPair;
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const bool has_units = units.areOf(a);
    const bool is_wide_result = a.publish == kLinkWide;
    const int lane = threadIdx.x & 31;
    // A thread's first row of a pass, and from that to its next one.
    const int own = !is_wide_result    ? static_cast<int>(threadIdx.x)
                    : lane < kWideRows ? static_cast<int>(threadIdx.x) / 32 * kWideRows + lane
                                       : -(1 << 20);
    const int stride = is_wide_result ? kWideRows * kComputeWarps : kComputeThreads;
    // A wide row has one sum left.
    const int folds = hasWidePlane<FORM>(a) ? 1 : foldsOf(a);
    if (units.is_begin_told && has_units && threadIdx.x == 0) {
        units.begun().arrive();
    }
    // Made anew where it is needed: nobody has registers for more of it while products are made.
    Pass pass = planPass<FORM>(a, exchange.block, 0, own);
    if constexpr (FORM::kIsLarge) {
        makeLargePlanes<FORM>(a, w, units, has_units, exchange, step, clocks);
    } else {
        makePlanes<FORM>(a, w, units, has_units, row, norms, norm_bytes, exchange, step, clocks);
    }
    clocks.note(2);
#pragma unroll 1
    for (int first = 0;;) {
        const int end = pass.end;
        const int rows = pass.rows;
        if constexpr (FORM::kIsLarge) {
            multiplyPieces<FORM>(a, w, ring, table, folds, first, end);
        } else if (hasBlocks<FORM>(a)) {
            if constexpr (FORM::kHasBlocks) {
                multiplyBlocks<FORM>(a, w, ring, exchange.block, first, end);
            }
        } else if (isHalf<FORM>(a)) {
            multiplyOwnHalves<FORM>(a, w, ring, first, end);
        } else if (!is_four_bit) {
            multiplyOwn<FORM, false, false>(a, w, ring, table, first, end);
        } else if constexpr (!FORM::kIsBulk || FORM::kHasGaps) {
            if (isWide(a)) {
                multiplyOwn<FORM, true, true>(a, w, ring, table, first, end);
            } else {
                multiplyOwn<FORM, true, false>(a, w, ring, table, first, end);
            }
        }
        syncCompute();
        clocks.note(3);
        if (has_units && rows == 0) {
            // Nobody waits for updates below, and the warp for them must not be left behind.
            units.ready().wait(units.turnOf(a));
        }
#pragma unroll 1
        for (int base = 0; base < rows; base += stride) {
            const int i = base + own;
            if (base > 0) {
                pass.row = planPass<FORM>(a, exchange.block, first, i).row;
            }
            const ResultRow& r = pass.row;
            float value = 0.0F;
            float* to = nullptr;
            if (r.is_there) {
                float factor = 1.0F;
                if (a.norm.data != nullptr) {
                    factor = rsqrtf(sumOfWarps(w.buffer + 64) * a.inverse_cols + a.eps);
                }
                const SumRows sums = sumRows<FORM>(a, pass.tiles, i);
                value = wholeSum<FORM>(a, w, sums.first, folds) * factor * r.scale;
                float other = r.multiply;
                if (is_pair) {
                    other = wholeSum<FORM>(a, w, sums.second, folds) * factor * r.second_scale;
                }
                // Read before the wait: nothing of them stands between updates and results.
                const bool is_stored = a.output == kOutputStore;
                const bool has_packet = a.publish == kLinkPackets;
                to = a.y[r.weight] + r.at;
                if (has_units) {
                    const float* const updates = addedTo(units, a, memory, r.weight) + r.local;
                    const float* const others =
                        addedTo(units, a, memory, is_pair ? 1 : 0) + r.local;
                    units.ready().wait(units.turnOf(a));
                    value = fmaf(factor, *updates, value);
                    if (is_pair) {
                        other = fmaf(factor, *others, other);
                    }
                }
                if (!is_stored) {
                    value = activatedFast(a.activation, value) * other;
                }
                if (has_packet) {
                    exchange.publish(step, r.packet, value);
                }
            }
            if (is_wide_result) {
                const float next = __shfl_down_sync(0xffffffffU, value, 1);
                const float third = __shfl_down_sync(0xffffffffU, value, 2);
                if (r.is_there && lane % 3 == 0) {
                    uint2* const packets = exchange.widePackets(a.wide_region);
                    const uint32_t mark = exchange.wideMark(a.wide_region, a.publish_use);
                    exchange.publishWide(packets, mark, r.at / 3, value, next, third);
                    // One more fills the last one's pair.
                    if (r.at + 3 >= a.outputs && (r.at / 3 & 1) == 0) {
                        exchange.publishWide(packets, mark, r.at / 3 + 1, 0.0F, 0.0F, 0.0F);
                    }
                }
            }
            if (r.is_there) {
                *to = value; // also for who reads it after the launch
            }
        }
        first += a.pass_tiles;
        if (first >= pass.tiles) {
            break;
        }
        pass = planPass<FORM>(a, exchange.block, first, own);
        syncCompute(); // the sums of the pass before have been read
    }
    if (a.publish == kLinkFlags) {
        exchange.raiseFlag(step);
    }
}

} // namespace kernels::cuda
