// SPDX-License-Identifier: Apache-2.0
// One projection of stream_rows.cu: behind its input (stream_rows_input.cuh) a block's weights
// times up to four rows in tiles from the ring, each code looked up once for all rows, and what is
// done with the sums. Warps share the columns of every tile as in stream_step.cuh; where a product
// of the tensor cores has eight columns, here they are two rows of each of four sets of weight
// rows.
#pragma once

#include "kernels/cuda/device/small_batch/stream_rows_lora.cuh"

namespace kernels::cuda {

/// Whether unit `unit` of a weight row is one of stretch `fold`: every warp works on two units, and
/// what its second one has in the chunk then counts nothing.
__device__ __forceinline__ bool hasUnit(const ProjectKernelArgs& a, int fold, int unit) {
    return unit < a.units && unit < (fold + 1) * stretchOf(a);
}

/// Tiles [first, end) of the block times all rows, for rows of up to four stretches. As
/// multiplyTiles(), whose way through a chunk it shares. A warp takes two units always: a chunk has
/// room for 24 of a stretch.
template <bool IS_FOUR_BIT>
__device__ __forceinline__ void multiplyRowTiles(const ProjectKernelArgs& a,
                                                 const RowsWork<BulkForm>& w,
                                                 WeightRing& ring,
                                                 const GappedCodePairs& table,
                                                 int first,
                                                 int end) {
    constexpr int kPairs = kStreamRows / 2;
    constexpr int COUNT = 2;
    const int lane = threadIdx.x & 31;
    const TileLane own(a, false);
    uint4 x[kPairs][COUNT][2];
    float scale[COUNT];
    {
        const int column = lane >> 2;
        const int set = column >> 1;
        const int unit = TileLane::unitOf(a, set * foldsOf(a) >> 2, set);
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const int u = unitThere(a, unit + i * kComputeWarps);
            const int own_u = own.unit + i * kComputeWarps;
#pragma unroll
            for (int p = 0; p < kPairs; ++p) {
                const int row = 2 * p + (column & 1);
                const int pitch = w.pitch(row);
                const uint32_t at = sharedAddress(w.rowAt(row)) + (lane & 3) * 16;
                if (IS_FOUR_BIT) {
                    x[p][i][0] = loadShared16(at + u * pitch);
                    x[p][i][1] = loadShared16(at + u * pitch + 64);
                } else {
                    x[p][i][0] = loadShared16(at + (u >> 1) * pitch + (u & 1) * 64);
                }
            }
            // Nothing to add behind the row's end, nor of the next stretch.
            const int block = IS_FOUR_BIT ? own_u : own_u >> 1;
            scale[i] = hasUnit(a, own.fold, own_u) ? w.scales[block] : 0.0F;
        }
    }
    const uint32_t next_row = a.units * kUnitBytes;
    const uint32_t next_absmax = a.units * 4;
    const uint32_t codes_at = own.row * next_row + own.unit * kUnitBytes + (lane & 3) * 8;
    const uint32_t absmax_at = ring.codeBytes() + own.row * next_absmax + own.unit * 4;
    const bool is_own = (lane & 3) == own.set;
    const int folds = foldsOf(a);
    // The four rows' sums lie together: one store of eight lanes is one or two ways into memory.
    float4* to =
        w.partial + static_cast<int>(threadIdx.x) / 32 * w.sums + own.row * folds + own.fold;
#pragma unroll 1
    for (int tile = first; tile < end; ++tile) {
        const uint32_t at = ring.chunkAddress();
        ring.full().wait(ring.parity);
        uint2 rows[COUNT][2];
        uint32_t absmax[COUNT][2];
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
        float sums[2][kStreamRows] = {};
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            float c[kPairs][4] = {};
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const uint32_t wa = q == 0 ? rows[i][0].x : rows[i][0].y;
                const uint32_t wb = q == 0 ? rows[i][1].x : rows[i][1].y;
                if (IS_FOUR_BIT) {
                    const uint32_t low[4] = {table.pairOf<0>(wa), table.pairOf<0>(wb),
                                             table.pairOf<1>(wa), table.pairOf<1>(wb)};
#pragma unroll
                    for (int p = 0; p < kPairs; ++p) {
                        multiplyAddHalves(c[p], low, x[p][i][q].x, x[p][i][q].y);
                    }
                    const uint32_t high[4] = {table.pairOf<2>(wa), table.pairOf<2>(wb),
                                              table.pairOf<3>(wa), table.pairOf<3>(wb)};
#pragma unroll
                    for (int p = 0; p < kPairs; ++p) {
                        multiplyAddHalves(c[p], high, x[p][i][q].z, x[p][i][q].w);
                    }
                } else {
                    const uint32_t ba = wa ^ 0x80808080U;
                    const uint32_t bb = wb ^ 0x80808080U;
                    const uint32_t codes[4] = {
                        halvesOfBytes(ba, 0x4140U), halvesOfBytes(bb, 0x4140U),
                        halvesOfBytes(ba, 0x4342U), halvesOfBytes(bb, 0x4342U)};
#pragma unroll
                    for (int p = 0; p < kPairs; ++p) {
                        multiplyAddHalves(c[p], codes, q == 0 ? x[p][i][0].x : x[p][i][0].z,
                                          q == 0 ? x[p][i][0].y : x[p][i][0].w);
                    }
                }
            }
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const float factor =
                    IS_FOUR_BIT ? __uint_as_float(absmax[i][h]) * scale[i] : scale[i];
#pragma unroll
                for (int r = 0; r < kStreamRows; ++r) {
                    sums[h][r] = fmaf(c[r >> 1][2 * h + (r & 1)], factor, sums[h][r]);
                }
            }
        }
        ring.release();
        if (is_own) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                to[h * folds] = make_float4(sums[h][0], sums[h][1], sums[h][2], sums[h][3]);
            }
        }
        to += kTileRows;
    }
}

/// The same for wide rows of 4-bit weights: eight stretches beside each other, two weight rows a
/// tile. The input stays in shared memory; a multiplication takes one row's eight stretches.
__device__ __forceinline__ void multiplyWideTiles(const ProjectKernelArgs& a,
                                                  const RowsWork<BulkForm>& w,
                                                  WeightRing& ring,
                                                  const GappedCodePairs& table,
                                                  int first,
                                                  int end) {
    constexpr int COUNT = 2;
    const int lane = threadIdx.x & 31;
    const TileLane own(a, true);
    const int column = lane >> 2;
    const int unit = TileLane::unitOf(a, column, column & 3);
    uint32_t x_at[kStreamRows];
    float scale[COUNT];
#pragma unroll
    for (int r = 0; r < kStreamRows; ++r) {
        x_at[r] = sharedAddress(w.rowAt(r)) + (lane & 3) * 16;
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int own_u = own.unit + i * kComputeWarps;
        scale[i] = hasUnit(a, own.fold, own_u) ? w.scales[own_u] : 0.0F;
    }
    const int swap = (column & 1) * 64; // as makePlainRows() has it
    const uint32_t next_row = a.units * kUnitBytes;
    const uint32_t next_absmax = a.units * 4;
    const uint32_t codes_at = own.unit * kUnitBytes + (lane & 3) * 8;
    const uint32_t absmax_at = kChunkCodeBytes + own.unit * 4;
    const bool is_own = (lane & 3) == lane >> 3;
    const bool is_odd = (lane & 4) != 0;
    float* to = reinterpret_cast<float*>(w.partial + static_cast<int>(threadIdx.x) / 32 * w.sums);
#pragma unroll 1
    for (int tile = first; tile < end; ++tile) {
        const uint32_t at = ring.chunkAddress();
        ring.full().wait(ring.parity);
        float sums[2 * kStreamRows] = {};
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const uint32_t codes = at + codes_at + i * kComputeWarps * kUnitBytes;
            const uint2 rows[2] = {loadShared8(codes), loadShared8(codes + next_row)};
            const uint32_t values = at + absmax_at + i * kComputeWarps * 4;
            const float absmax[2] = {__uint_as_float(loadShared(values)),
                                     __uint_as_float(loadShared(values + next_absmax))};
            const int u = unitThere(a, unit + i * kComputeWarps);
            float c[kStreamRows][4] = {};
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const uint32_t wa = q == 0 ? rows[0].x : rows[0].y;
                const uint32_t wb = q == 0 ? rows[1].x : rows[1].y;
                const uint32_t low[4] = {table.pairOf<0>(wa), table.pairOf<0>(wb),
                                         table.pairOf<1>(wa), table.pairOf<1>(wb)};
                const uint32_t high[4] = {table.pairOf<2>(wa), table.pairOf<2>(wb),
                                          table.pairOf<3>(wa), table.pairOf<3>(wb)};
#pragma unroll
                for (int r = 0; r < kStreamRows; ++r) {
                    const uint4 x = loadShared16(x_at[r] + u * (r == 0 ? kCodeEntryBytes : 128) +
                                                 (q * 64 ^ swap));
                    multiplyAddHalves(c[r], low, x.x, x.y);
                    multiplyAddHalves(c[r], high, x.z, x.w);
                }
            }
            const float factor[2] = {absmax[0] * scale[i], absmax[1] * scale[i]};
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    sums[2 * r + h] =
                        fmaf(is_odd ? c[r][2 * h + 1] : c[r][2 * h], factor[h], sums[2 * r + h]);
                }
            }
        }
        ring.release();
#pragma unroll
        for (int i = 0; i < 2 * kStreamRows; ++i) {
            sums[i] = is_own ? sums[i] : 0.0F;
        }
        const float sum = sumsOfWarp(sums);
        if ((lane & 3) == 0) {
            const int value = lane >> 2;
            to[(value & 1) * kStreamRows + (value >> 1)] = sum;
        }
        to += 2 * kStreamRows;
    }
}

/// The same of LargeForm, two tiles at a time: rows of one are the upper eight rows of a product,
/// rows of the other its lower ones, so that two stretches of four rows each are all of its eight
/// columns: one product for four rows of the input, where there are two in multiplyRowTiles(). Then
/// the other two stretches. Sums of part `piece` of the columns are added to those of the parts
/// before it.
template <bool IS_FOUR_BIT, int COUNT>
__device__ __forceinline__ void multiplyTilePairs(const ProjectKernelArgs& a,
                                                  const RowsWork<LargeForm>& w,
                                                  RingOf<LargeForm>& ring,
                                                  const GappedCodePairs& table,
                                                  int piece,
                                                  int first,
                                                  int end) {
    const int lane = threadIdx.x & 31;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int stretch = stretchOf(a);
    const int fold = lane >> 2 & 1; ///< Which of two.
    const int row = lane >> 3;
    // Stretches in an order of their own where they begin at the same bank.
    const auto unitOf = [&](int f) { return f * stretch + ((stretch & 3) == 0 ? warp ^ f : warp); };
    // Only the part's columns of a plain row are there.
    const int before = a.input != kInputPlain ? piece * a.units : 0;
    uint4 x[2][COUNT][2] = {};
    float scale[2][COUNT];
    uint32_t codes_at[2];
    uint32_t absmax_at[2];
    const uint32_t next_row = a.units * kUnitBytes;
    {
        const int x_row = lane >> 2 & 3;
        const int pitch = w.pitch(x_row);
        const uint32_t at = sharedAddress(w.rowAt(x_row)) + (lane & 3) * 16;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int own_fold = 2 * half + fold;
            codes_at[half] = row * next_row + unitOf(own_fold) * kUnitBytes + (lane & 3) * 8;
            absmax_at[half] = ring.codeBytes() + (row * a.units + unitOf(own_fold)) * 4;
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                const int more = i * kComputeWarps;
                const int u = before + unitThere(a, unitOf(2 * half + (lane >> 4)) + more);
                if (IS_FOUR_BIT) {
                    x[half][i][0] = loadShared16(at + u * pitch);
                    x[half][i][1] = loadShared16(at + u * pitch + 64);
                } else {
                    x[half][i][0] = loadShared16(at + (u >> 1) * pitch + (u & 1) * 64);
                }
                const int own_u = unitOf(own_fold) + more;
                const int block = IS_FOUR_BIT ? before + own_u : (before + own_u) >> 1;
                scale[half][i] = hasUnit(a, own_fold, own_u) ? w.scales[block] : 0.0F;
            }
        }
    }
    const bool is_own = (lane >> 1 & 1) == fold;
    float2* to = reinterpret_cast<float2*>(w.partial + warp * w.sums + row * 2 + fold) + (lane & 1);
    constexpr int kNextTile = 4 * 2 * 2; // rows, stretches, halves of four sums
#pragma unroll 1
    for (int tile = first; tile < end; tile += 2) {
        const bool has_other = tile + 1 < end;
        uint32_t at[2];
        RingOf<LargeForm> other = ring;
        at[0] = ring.chunkAddress();
        ring.full().wait(ring.parity);
        if (has_other) {
            other.next();
            other.full().wait(other.parity);
        }
        at[1] = other.chunkAddress();
        float2 sums[2] = {};
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                uint2 codes[2];
                float factor[2];
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    codes[h] = loadShared8(at[h] + codes_at[half] + i * kComputeWarps * kUnitBytes);
                    factor[h] = scale[half][i];
                    if (IS_FOUR_BIT) {
                        factor[h] *= __uint_as_float(
                            loadShared(at[h] + absmax_at[half] + i * kComputeWarps * 4));
                    }
                }
                float c[4] = {};
                if (IS_FOUR_BIT) {
                    multiplyCodes(c, table, codes[0], codes[1], x[half][i]);
                } else {
                    multiplyBytes(c, codes[0], codes[1], x[half][i][0]);
                }
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    sums[h].x = fmaf(c[2 * h], factor[h], sums[h].x);
                    sums[h].y = fmaf(c[2 * h + 1], factor[h], sums[h].y);
                }
            }
        }
        ring.release();
        if (has_other) {
            ring.release();
        }
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            if (is_own && (h == 0 || has_other)) {
                float2* const sum = to + h * kNextTile;
                const float2 others = piece > 0 ? *sum : make_float2(0.0F, 0.0F);
                *sum = make_float2(sums[h].x + others.x, sums[h].y + others.y);
            }
        }
        to += 2 * kNextTile;
    }
}

/// Tiles [first, end) times part `piece` of the input.
template <typename FORM>
__device__ __forceinline__ void multiplyRows(const ProjectKernelArgs& a,
                                             const RowsWork<FORM>& w,
                                             RingOf<FORM>& ring,
                                             const GappedCodePairs& table,
                                             int piece,
                                             int first,
                                             int end) {
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    if constexpr (FORM::kIsLarge) {
        const bool has_second = stretchOf(a) - static_cast<int>(threadIdx.x) / 32 > kComputeWarps;
        if (is_four_bit && has_second) {
            multiplyTilePairs<true, 2>(a, w, ring, table, piece, first, end);
        } else if (is_four_bit) {
            multiplyTilePairs<true, 1>(a, w, ring, table, piece, first, end);
        } else if (has_second) {
            multiplyTilePairs<false, 2>(a, w, ring, table, piece, first, end);
        } else {
            multiplyTilePairs<false, 1>(a, w, ring, table, piece, first, end);
        }
    } else if (!is_four_bit) {
        multiplyRowTiles<false>(a, w, ring, table, first, end);
    } else if (w.is_wide) {
        multiplyWideTiles(a, w, ring, table, first, end);
    } else {
        multiplyRowTiles<true>(a, w, ring, table, first, end);
    }
}

/// Sum of row `row` of the input times weight row i of a pass, over warps and stretches.
template <typename FORM>
__device__ __forceinline__ float rowsSum(const RowsWork<FORM>& w, int i, int row, int folds) {
    const float* at = reinterpret_cast<const float*>(w.partial + i * folds) + row;
    float sum = 0.0F;
#pragma unroll 1
    for (int f = 0; f < folds; ++f, at += kStreamRows) {
#pragma unroll
        for (int warp = 0; warp < kComputeWarps; ++warp) {
            sum += at[warp * w.sums * kStreamRows];
        }
    }
    return sum;
}

/// Tiles from `first` on of the block's outputs [begin, begin + outputs), `each` of a weight.
struct RowsPass {
    int first, begin, outputs, each;
    bool is_whole_pair, is_in_turn;
};
/// Where row i of the pass, which has `rows`, goes.
__device__ __forceinline__ ResultRow
resultOfPass(const ProjectKernelArgs& a, int block, const RowsPass& pass, int rows, int i) {
    const int shift = a.tile_shift;
    const bool is_pair = a.output == kOutputGatedPair;
    if (!is_pair && a.count > 1) {
        return resultRow(a, TileMap(a, block), pass.first, rows, i);
    }
    ResultRow r{};
    int tiles = pass.first;
    if (is_pair) {
        r.weight = pass.is_whole_pair || pass.first < pass.each ? 0 : 1;
        tiles = pass.is_in_turn ? pass.first / 2 : pass.first - r.weight * pass.each;
    }
    r.local = i + (tiles << shift);
    r.is_there = i < rows && r.local < pass.outputs;
    r.at = pass.begin + r.local;
    r.packet = r.at;
    return r;
}

/// The rows of the input, of a plain one its first part.
template <typename FORM>
__device__ __forceinline__ void makeInput(const ProjectKernelArgs& a,
                                          const RowsWork<FORM>& w,
                                          int token_rows,
                                          KeptRows& kept_rows,
                                          const Exchange& exchange,
                                          int step,
                                          const StepClocks& clocks) {
    if (a.input == kInputPlain) {
        makePlainRows(a, w, token_rows, 0, exchange, step, clocks);
    } else if constexpr (FORM::kIsLarge) {
        makeNormedRows(a, w, token_rows, exchange, step, clocks);
    } else {
        makeShortRows(a, w, token_rows, kept_rows, exchange, step, clocks);
    }
}

/// What a weight gives one row of the input.
template <typename FORM, bool HAS_UPDATES>
struct RowResults {
    const ProjectKernelArgs& a;
    const RowsWork<FORM>& w;
    const RowUpdates<FORM>& updates;
    int row;        ///< The input's row.
    int folds;      ///< Folds of the input's columns.
    bool has_scale; ///< One of each output: 8-bit weights.

    /// Output `at`, whose sums lie at place `i`, times `factor`, the input's norm.
    [[nodiscard]] __device__ __forceinline__ float
    of(int weight, int at, int i, float factor) const {
        float value = rowsSum(w, i, row, folds) * factor;
        if (has_scale) {
            value *= a.w[weight].row_scale[at];
        }
        if (HAS_UPDATES && updates.is_there) {
            value = fmaf(updates.of(a, weight, at, row), factor, value);
        }
        return value;
    }
};

/// One step. tail: where the last row of a wide input lies. HAS_UPDATES: there are steps with
/// low-rank updates, which the other kernel knows nothing of.
template <typename FORM, bool HAS_UPDATES>
__device__ __forceinline__ void projectRows(const ProjectKernelArgs& a,
                                            char* memory,
                                            char* table_memory,
                                            char* tail,
                                            RingOf<FORM>& ring,
                                            const GappedCodePairs& table,
                                            int token_rows,
                                            KeptRows& kept_rows,
                                            const Exchange& exchange,
                                            int step,
                                            const StepClocks& clocks) {
    const RowsWork<FORM> w(a, memory, table_memory, tail);
    const bool is_pair = a.output == kOutputGatedPair;
    const bool is_plain = a.input == kInputPlain;
    const int pieces = FORM::kIsLarge ? a.pieces : 1;
    const RowUpdates<FORM> updates(a, memory);
    const bool has_updates = HAS_UPDATES && updates.is_there;
    if (has_updates) {
        updates.prefetch(a, exchange);
    }
    makeInput(a, w, token_rows, kept_rows, exchange, step, clocks);
    syncCompute();
    clocks.note(2);
    if (has_updates) {
        updates.publish(a, w, token_rows, exchange, step);
    }
    const int shift = a.tile_shift;
    const int begin = firstOutput(a, exchange.block);
    const int outputs = firstOutput(a, exchange.block + 1) - begin; // of one weight or a pair
    const int each = (outputs + (1 << shift) - 1) >> shift;
    const int tiles = is_pair        ? 2 * each
                      : a.count == 1 ? each
                                     : TileMap(a, exchange.block).first[3];
    const bool is_in_turn = takesPairsInTurn<FORM>(a);
    const bool is_whole_pair = is_pair && (is_in_turn || a.pass_tiles >= tiles);
    float4* const held = w.partial + w.sums * kComputeWarps;
    // Rows of the input next to each other, so that lanes read what lies together.
    const int own_row = static_cast<int>(threadIdx.x) % kStreamRows;
    const RowResults<FORM, HAS_UPDATES> results{
        a, w, updates, own_row, w.stretches(a), a.w[0].layout == WeightLayout::Int8Row};
    const float inverse_cols = a.inverse_cols;
    const float eps = a.eps;
    const bool has_packets =
        !FORM::kIsLarge && (a.publish == kLinkPackets || a.publish == kLinkBoth);
#pragma unroll 1
    for (int first = 0;;) {
        int end = tiles < first + a.pass_tiles ? tiles : first + a.pass_tiles;
        if (is_pair && !is_whole_pair && first < each && end > each) {
            end = each; // the first weight's sums are held until the second's come
        }
        multiplyRows(a, w, ring, table, 0, first, end);
#pragma unroll 1
        for (int piece = 1; piece < pieces; ++piece) {
            if (is_plain) {
                syncCompute(); // the part before has been read
                makePlainRows(a, w, token_rows, piece, exchange, step, clocks);
                syncCompute();
            }
            multiplyRows(a, w, ring, table, piece, first, end);
        }
        if (has_updates && first == 0) {
            updates.collect(a, exchange, step);
        }
        syncCompute();
        clocks.note(3);
        const float factor = a.norm.data == nullptr
                                 ? 1.0F
                                 : rsqrtf(sumOfRow(w.buffer + 64, own_row) * inverse_cols + eps);
        const int output_tiles = is_in_turn      ? (end - first) / 2
                                 : is_whole_pair ? each
                                                 : end - first;
        const RowsPass pass{first, begin, outputs, each, is_whole_pair, is_in_turn};
        // Whole warps: publishRows() takes four lanes.
#pragma unroll 1
        for (int base = static_cast<int>(threadIdx.x) / 32 * 8; base < output_tiles << shift;
             base += kComputeThreads / kStreamRows) {
            const int i = base + static_cast<int>(threadIdx.x & 31) / kStreamRows;
            const ResultRow r = resultOfPass(a, exchange.block, pass, output_tiles << shift, i);
            float value = 0.0F;
            if (r.is_there && own_row < token_rows) {
                const SumRows sums =
                    is_in_turn ? sumRows<FORM>(a, tiles, i) : SumRows{i, (each << shift) + i};
                value = results.of(r.weight, r.at, sums.first, factor);
                float* const kept = reinterpret_cast<float*>(held + r.local) + own_row;
                bool is_result = true;
                if (is_whole_pair) {
                    value = activatedFast(a.activation, value) *
                            results.of(1, r.at, sums.second, factor);
                } else if (is_pair && r.weight == 0) {
                    *kept = value;
                    is_result = false;
                } else if (is_pair) {
                    value *= activatedFast(a.activation, *kept);
                } else if (a.output == kOutputGatedMultiply) {
                    value = activatedFast(a.activation, value) *
                            __ldcg(a.multiply + own_row * a.multiply_stride + r.at);
                }
                if (is_result) {
                    float* const to = a.y[is_pair ? 0 : r.weight];
                    to[static_cast<int64_t>(own_row) * a.w[r.weight].rows + r.at] = value;
                }
            }
            if (has_packets) {
                publishRows(exchange, step, r.packet, value, r.is_there);
            }
        }
        first = end;
        if (first >= tiles) {
            break;
        }
        syncCompute(); // the sums of the pass before have been read
        if (is_plain && pieces > 1) {
            makePlainRows(a, w, token_rows, 0, exchange, step, clocks);
            syncCompute();
        }
    }
    if (a.publish == kLinkFlags || a.publish == kLinkBoth) {
        exchange.raiseFlag(step);
    }
}

} // namespace kernels::cuda
