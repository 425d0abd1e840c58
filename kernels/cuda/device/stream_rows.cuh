// SPDX-License-Identifier: Apache-2.0
// One projection of stream_rows.cu: the input of up to four rows as fp16, a block's weights times
// them in tiles from the ring, each code looked up once for all rows, and what is done with the
// sums. Warps share the columns of every tile as in stream_step.cuh; where a product of the tensor
// cores has eight columns, here they are two rows of each of four sets of weight rows.
//
// An input has one part of fp16 (11 bits), not two: prompts have eight bits. Rows share the compute
// warps when results go out: each has 12, 6, 4 or 3 of them.
#pragma once

#include "kernels/cuda/device/stream_rows_packets.cuh"
#include "kernels/cuda/device/stream_step.cuh"

namespace kernels::cuda {

/// Which row a warp works for outside the products, and as how manieth of how many.
struct RowShare {
    int rows;  ///< That are there, 1 to kStreamRows.
    int warps; ///< Of a row.
    int row;
    int warp;
    __device__ __forceinline__ explicit RowShare(int count) : rows(count) {
        const int own = static_cast<int>(threadIdx.x) / 32;
        warps = count == 1 ? 12 : count == 2 ? 6 : count == 3 ? 4 : 3;
        row = (own >= warps ? 1 : 0) + (own >= 2 * warps ? 1 : 0) + (own >= 3 * warps ? 1 : 0);
        warp = own - row * warps;
    }
    [[nodiscard]] __device__ __forceinline__ int thread() const {
        return warp * 32 + static_cast<int>(threadIdx.x & 31);
    }
    [[nodiscard]] __device__ __forceinline__ int threads() const { return warps * 32; }
};
static_assert(kStreamRows == 4 && kComputeWarps == 12, "as RowShare deals them out");

/// A row's sum, of whose shares buffer[4 warp + row] is one.
__device__ __forceinline__ float sumOfRow(const float* buffer, int row) {
    float all = 0.0F;
#pragma unroll
    for (int i = 0; i < kComputeWarps; ++i) {
        all += buffer[i * kStreamRows + row];
    }
    return all;
}

/// Work memory of a projection (streamRowsProjectBytes(), largeRowsProjectBytes()), and where the
/// input's rows lie: side by side, of a wide row or of LargeForm in the gaps of the table, too.
template <typename FORM>
struct RowsWork {
    float* buffer; ///< [2, 64]: shares of the warps in each row's sum.
    float* scales; ///< [kRowsScales], of 64 columns of all rows each
    /// [kComputeWarps, rows of a pass, stretches (of a wide row 1)]: a warp's share of the sums of
    /// all rows. Behind it the results of a pair's first weight, [rows of the block].
    float4* partial;
    char* planes;
    char* gaps; ///< Of the table of codes.
    char* tail;
    int row_bytes;
    int sums; ///< Of a warp.
    bool is_wide;

    __device__ __forceinline__
    RowsWork(const ProjectKernelArgs& a, char* memory, char* table, char* tail_)
        : buffer(reinterpret_cast<float*>(memory)),
          scales(reinterpret_cast<float*>(memory + kStreamNormSums)), partial(nullptr),
          planes(memory + kStreamNormSums + kRowsScales * 4), gaps(table + kCodeGapOffset),
          tail(tail_), row_bytes(2 * planeColumns(a)), sums(0),
          is_wide(!FORM::kIsLarge && isWide(a)) {
        sums = (a.pass_tiles << a.tile_shift) * stretches(a);
        const int apart = FORM::kIsLarge ? kStreamRows - kLargeGapRows : is_wide ? 2 : kStreamRows;
        partial = reinterpret_cast<float4*>(planes + apart * row_bytes);
    }
    /// Columns that are there at a time: of LargeForm a part of a plain row, all of others.
    static __device__ __forceinline__ int planeColumns(const ProjectKernelArgs& a) {
        if (!FORM::kIsLarge || a.input != kInputPlain) {
            return a.cols;
        }
        return a.units * (a.w[0].format == kFormatInt8Row ? 32 : 64);
    }
    /// Sums that a weight row has of each warp.
    [[nodiscard]] __device__ __forceinline__ int stretches(const ProjectKernelArgs& a) const {
        return FORM::kIsLarge ? 2 : is_wide ? 1 : foldsOf(a);
    }
    /// A block of 64 columns has 128 bytes; they begin `pitch(row)` apart.
    [[nodiscard]] __device__ __forceinline__ char* rowAt(int row) const {
        if (FORM::kIsLarge) {
            return row < kLargeGapRows ? gaps + (row_bytes >> 7) * row * kCodeEntryBytes : planes;
        }
        if (!is_wide) {
            return planes + row * row_bytes;
        }
        return row == 0 ? gaps : row == 3 ? tail : planes + (row - 1) * row_bytes;
    }
    [[nodiscard]] __device__ __forceinline__ int pitch(int row) const {
        return (FORM::kIsLarge ? row < kLargeGapRows : is_wide && row == 0) ? kCodeEntryBytes : 128;
    }
};

/// Sums of N values over the warp: a lane gets that of value lane >> (5 - log2 N).
template <int N>
__device__ __forceinline__ float sumsOfWarp(float (&v)[N]) {
    const int lane = threadIdx.x & 31;
    int offset = 16;
#pragma unroll
    for (int n = N / 2; n > 0; n /= 2) {
        const bool is_upper = (lane & offset) != 0;
#pragma unroll
        for (int i = 0; i < n; ++i) {
            const float kept = is_upper ? v[i + n] : v[i];
            const float given = is_upper ? v[i] : v[i + n];
            v[i] = kept + __shfl_xor_sync(0xffffffffU, given, offset);
        }
        offset >>= 1;
    }
    float sum = v[0];
#pragma unroll
    for (int i = 32 / N / 2; i > 0; i /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, i);
    }
    return sum;
}

/// Columns 4 c to 4 c + 3 of all rows as fp16. All lanes of the warp, whose 128 columns share a
/// scale, of all rows: fp16 has 2^29 between its largest value and the last one with all bits.
/// place: planeOffset().
template <typename FORM>
__device__ __forceinline__ void storeRows(const RowsWork<FORM>& w,
                                          int rows,
                                          int c,
                                          const float4 (&v)[kStreamRows],
                                          int place,
                                          bool is_there) {
    float largest = 0.0F;
#pragma unroll
    for (int r = 0; r < kStreamRows; ++r) {
        largest = fmaxf(largest, r < rows ? largestOf(v[r]) : 0.0F);
    }
    const PowerScale scale = powerScale(__uint_as_float(warpMaxBits(__float_as_uint(largest))));
    if (!is_there) {
        return;
    }
#pragma unroll
    for (int r = 0; r < kStreamRows; ++r) {
        if (r < rows) {
            *reinterpret_cast<uint2*>(w.rowAt(r) + (c >> 4) * w.pitch(r) + place) =
                make_uint2(bitsOf(__floats2half2_rn(v[r].x * scale.up, v[r].y * scale.up)),
                           bitsOf(__floats2half2_rn(v[r].z * scale.up, v[r].w * scale.up)));
        }
    }
    if ((c & 15) == 0) {
        w.scales[c >> 4] = scale.down;
    }
}

/// The input without norm or residual; piece: of its columns (LargeForm).
template <typename FORM>
__device__ __forceinline__ void makePlainRows(const ProjectKernelArgs& a,
                                              const RowsWork<FORM>& w,
                                              int rows,
                                              int piece,
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    // LargeForm: a part of a row at once.
    constexpr int kAtOnce = FORM::kIsLarge ? 4 : 2;
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const int fours = RowsWork<FORM>::planeColumns(a) / 4;
    if constexpr (!FORM::kIsLarge) {
        if (a.link == kLinkPackets || a.link == kLinkBoth) {
            if (a.link == kLinkBoth) {
                exchange.waitForFlags(step - 1, exchange.grid);
            }
            const uint4* const packets = rowPackets(exchange, step - 1);
#pragma unroll 1
            for (int base = 0; base < fours; base += kComputeThreads) {
                const int c = base + static_cast<int>(threadIdx.x);
                RowFour four;
                four.clear();
                while (c < fours && !four.look(packets, c, exchange.markOf(step - 1))) {
                }
                __syncwarp();
                const float4 v[kStreamRows] = {four.row(0), four.row(1), four.row(2), four.row(3)};
                storeRows(w, rows, c, v, planeOffset(c, is_four_bit, true), c < fours);
            }
            clocks.note(1);
            return;
        }
    }
    const float* const x = a.x + piece * 4 * fours;
    // Eight stretches of a wide row are read beside each other: every second one has the halves of
    // its blocks in the other order, so that two of them are in different banks.
    const int stretch = w.is_wide ? stretchOf(a) : 0;
    const unsigned inverse =
        w.is_wide ? (65536U + static_cast<unsigned>(stretch) - 1U) / static_cast<unsigned>(stretch)
                  : 0U;
    if (step > 0 && piece == 0) {
        exchange.waitForFlags(step - 1, exchange.grid);
    }
    clocks.note(1);
    // The same number of turns for all threads: the compiler makes five instructions of one that
    // needs the whole warp where some may be elsewhere.
#pragma unroll 1
    for (int base = 0; base < fours; base += kAtOnce * kComputeThreads) {
        float4 v[kAtOnce][kStreamRows];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int c = base + i * kComputeThreads + static_cast<int>(threadIdx.x);
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                v[i][r] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
                if (r < rows && c < fours) {
                    v[i][r] = loadFour(x + r * a.cols + 4 * c);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            if (base + i * kComputeThreads < fours) {
                const int c = base + i * kComputeThreads + static_cast<int>(threadIdx.x);
                const unsigned odd = static_cast<unsigned>(c >> 4) * inverse >> 16 & 1U;
                storeRows(w, rows, c, v[i],
                          planeOffset(c, is_four_bit, true) ^ static_cast<int>(odd << 6),
                          c < fours);
            }
        }
    }
}

/// Elements i to i + 3 of a norm as they are stored, without a branch between two loads.
struct NormFour {
    uint2 low, high;
    __device__ __forceinline__ void load(const VectorArgs& norm, int i, bool is_there) {
        const bool is_wide = norm.type == kElementF32;
        const char* const at = static_cast<const char*>(norm.data) + i * (is_wide ? 4 : 2);
        low = make_uint2(0, 0);
        high = low;
        if (is_there) {
            low = __ldg(reinterpret_cast<const uint2*>(at));
            high = __ldg(reinterpret_cast<const uint2*>(at + (is_wide ? 8 : 0)));
        }
    }
    [[nodiscard]] __device__ __forceinline__ float4 values(int type) const {
        if (type == kElementF32) {
            return make_float4(__uint_as_float(low.x), __uint_as_float(low.y),
                               __uint_as_float(high.x), __uint_as_float(high.y));
        }
        if (type == kElementBf16) {
            return make_float4(__uint_as_float(low.x << 16), __uint_as_float(low.x & 0xffff0000U),
                               __uint_as_float(low.y << 16), __uint_as_float(low.y & 0xffff0000U));
        }
        const float2 a = __half22float2(asHalf2(low.x));
        const float2 b = __half22float2(asHalf2(low.y));
        return make_float4(a.x, a.y, b.x, b.y);
    }
};

/// Sum over the warps of each row's share, which lies in buffer[4 warp + row].
__device__ __forceinline__ float4 sumOfShares(const float* buffer) {
    float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
#pragma unroll 4
    for (int i = 0; i < kComputeWarps; ++i) {
        const float4 v = reinterpret_cast<const float4*>(buffer)[i];
        sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    return sum;
}
__device__ __forceinline__ void putShares(float* buffer, float (&sums)[kStreamRows]) {
    const int lane = threadIdx.x & 31;
    const float sum = sumsOfWarp(sums);
    if ((lane & 7) == 0) {
        buffer[static_cast<int>(threadIdx.x) / 32 * kStreamRows + (lane >> 3)] = sum;
    }
}

/// Columns 4 c to 4 c + 3 of the rows that are there; zeros else.
__device__ __forceinline__ void
loadRowFours(float4 (&to)[kStreamRows], const float* from, int rows, int cols, int c) {
#pragma unroll
    for (int r = 0; r < kStreamRows; ++r) {
        to[r] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        if (r < rows && 4 * c < cols) {
            to[r] = loadFour(from + r * cols + 4 * c);
        }
    }
}

/// That of row `row`.
__device__ __forceinline__ float4 ofRow(const float4 (&x)[kStreamRows], int row) {
    return row == 0 ? x[0] : row == 1 ? x[1] : row == 2 ? x[2] : x[3];
}

/// The input behind a residual sum, a norm or both, of LargeForm. A thread has four columns of all
/// rows, comes back, and takes what it has seen once more.
__device__ __forceinline__ void makeNormedRows(const ProjectKernelArgs& a,
                                               const RowsWork<LargeForm>& w,
                                               int rows,
                                               const Exchange& exchange,
                                               int step,
                                               const StepClocks& clocks) {
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const bool has_residual = a.input == kInputResidualNorm || a.input == kInputResidual;
    const bool has_norm = a.norm.data != nullptr;
    const int cols = a.cols;
    const int fours = cols / 4;
    const float scalar = a.scalar;
    const int norm_type = a.norm.type;
    const int t_norm_type = a.t_norm.type;
    float4 x[kStreamRows];
    float4 t[kStreamRows];
    NormFour norm;
    NormFour t_norm;
    const auto loadRows = [&](float4(&to)[kStreamRows], const float* from, int at) {
        loadRowFours(to, from, rows, cols, at);
    };
    int c = threadIdx.x;
    if (step > 0) {
        exchange.waitForFlags(step - 1, exchange.grid);
    }
    clocks.note(1);
    // All on their way at once. In front of the wait they would stand in the way of who is last.
    norm.load(a.norm, 4 * c, has_norm && c < fours);
    t_norm.load(a.t_norm, 4 * c, has_residual && c < fours);
    loadRows(x, a.x, c);
    float4 scale = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    if (has_residual) {
        loadRows(t, a.t, c);
        float sums[kStreamRows];
#pragma unroll
        for (int r = 0; r < kStreamRows; ++r) {
            sums[r] = sumOfSquares(t[r]);
        }
        // Those of all turns on their way at once.
        constexpr int kAtOnce = kPackets / 4 / kComputeThreads - 1;
#pragma unroll
        for (int base = kComputeThreads; base <= kAtOnce * kComputeThreads;
             base += kComputeThreads) {
            float4 v[kStreamRows];
            loadRows(v, a.t, base + c);
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                sums[r] += sumOfSquares(v[r]);
            }
        }
        putShares(w.buffer, sums);
        syncCompute();
        const float4 all = sumOfShares(w.buffer);
        const float inverse = a.inverse_cols;
        const float eps = a.eps;
        scale = make_float4(
            rsqrtf(all.x * inverse + eps) * scalar, rsqrtf(all.y * inverse + eps) * scalar,
            rsqrtf(all.z * inverse + eps) * scalar, rsqrtf(all.w * inverse + eps) * scalar);
    }
    float sums[kStreamRows] = {};
#pragma unroll 1
    for (int base = 0;;) { // as many turns for all threads
        if (has_residual) {
            const float4 n = t_norm.values(t_norm_type);
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                const float factor = r == 0   ? scale.x
                                     : r == 1 ? scale.y
                                     : r == 2 ? scale.z
                                              : scale.w;
                x[r].x = fmaf(t[r].x * factor, n.x, x[r].x * scalar);
                x[r].y = fmaf(t[r].y * factor, n.y, x[r].y * scalar);
                x[r].z = fmaf(t[r].z * factor, n.z, x[r].z * scalar);
                x[r].w = fmaf(t[r].w * factor, n.w, x[r].w * scalar);
            }
            // Each row by a block of its own.
            if (exchange.block < rows && c < fours) {
                const float4 own = ofRow(x, exchange.block);
                *reinterpret_cast<float4*>(a.x_out + exchange.block * cols + 4 * c) = own;
            }
        }
        if (has_norm) {
            const float4 n = norm.values(norm_type);
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                sums[r] += sumOfSquares(x[r]);
                x[r] = times(x[r], n);
            }
        }
        const int done = c;
        const auto loadNext = [&] {
            norm.load(a.norm, 4 * c, has_norm && c < fours);
            t_norm.load(a.t_norm, 4 * c, has_residual && c < fours);
            loadRows(x, a.x, c);
            if (has_residual) {
                loadRows(t, a.t, c);
            }
        };
        base += kComputeThreads;
        c += kComputeThreads;
        // The next turn's are on their way while this one's are stored.
        const float4 v[kStreamRows] = {x[0], x[1], x[2], x[3]};
        if (base < fours) {
            loadNext();
        }
        storeRows(w, rows, done, v, planeOffset(done, is_four_bit, true), done < fours);
        if (base >= fours) {
            break;
        }
    }
    if (has_norm) {
        putShares(w.buffer + 64, sums);
    }
}

/// The same of rows of up to kShortRow columns, whose sum to add comes in packets; a thread has
/// four or twice four columns, all asked for at once, and keeps the residual rows of them.
__device__ __forceinline__ void makeShortRows(const ProjectKernelArgs& a,
                                              const RowsWork<BulkForm>& w,
                                              int rows,
                                              KeptRows& kept,
                                              const Exchange& exchange,
                                              int step,
                                              const StepClocks& clocks) {
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
    const bool has_residual = a.input != kInputNorm;
    const bool has_norm = a.norm.data != nullptr;
    const bool is_kept = a.keeps_row != 0;
    const int cols = a.cols;
    const int fours = cols / 4;
    const float scalar = a.scalar;
    const int norm_type = a.norm.type;
    const int t_norm_type = a.t_norm.type;
    int c = threadIdx.x;
    NormFour norm[2];
    NormFour t_norm[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int at = c + i * kComputeThreads;
        norm[i].load(a.norm, 4 * at, has_norm && at < fours);
        t_norm[i].load(a.t_norm, 4 * at, has_residual && at < fours);
    }
    RowFour t[2];
    float4 scale = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    if (has_residual) {
        if (a.link == kLinkBoth) {
            exchange.waitForFlags(step - 1, exchange.grid);
        }
        takeRowFours(rowPackets(exchange, step - 1), fours, exchange.markOf(step - 1), t);
        clocks.note(1);
        float sums[kStreamRows];
#pragma unroll
        for (int r = 0; r < kStreamRows; ++r) {
            sums[r] = sumOfSquares(t[0].row(r));
        }
        if (fours > kComputeThreads) {
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                sums[r] += sumOfSquares(t[1].row(r));
            }
        }
        putShares(w.buffer, sums);
        syncCompute();
        const float4 all = sumOfShares(w.buffer);
        const float inverse = a.inverse_cols;
        const float eps = a.eps;
        scale = make_float4(
            rsqrtf(all.x * inverse + eps) * scalar, rsqrtf(all.y * inverse + eps) * scalar,
            rsqrtf(all.z * inverse + eps) * scalar, rsqrtf(all.w * inverse + eps) * scalar);
    } else {
        clocks.note(1);
    }
    float sums[kStreamRows] = {};
#pragma unroll 1
    for (int turn = 0;;) { // as many turns for all threads
        float4 x[kStreamRows];
        if (is_kept) {
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                x[r] = kept.at[turn][r];
            }
        } else {
            loadRowFours(x, a.x, rows, cols, c);
        }
        if (has_residual) {
            const float4 n = t_norm[0].values(t_norm_type);
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                const float factor = r == 0   ? scale.x
                                     : r == 1 ? scale.y
                                     : r == 2 ? scale.z
                                              : scale.w;
                const float4 more = t[0].row(r);
                x[r].x = fmaf(more.x * factor, n.x, x[r].x * scalar);
                x[r].y = fmaf(more.y * factor, n.y, x[r].y * scalar);
                x[r].z = fmaf(more.z * factor, n.z, x[r].z * scalar);
                x[r].w = fmaf(more.w * factor, n.w, x[r].w * scalar);
            }
            // For who reads it after the launch: each row by a block of its own.
            if (exchange.block < rows && c < fours) {
                const float4 own = ofRow(x, exchange.block);
                *reinterpret_cast<float4*>(a.x_out + exchange.block * cols + 4 * c) = own;
            }
        }
#pragma unroll
        for (int r = 0; r < kStreamRows; ++r) {
            kept.at[turn][r] = x[r];
        }
        if (has_norm) {
            const float4 n = norm[0].values(norm_type);
#pragma unroll
            for (int r = 0; r < kStreamRows; ++r) {
                sums[r] += sumOfSquares(x[r]);
                x[r] = times(x[r], n);
            }
        }
        storeRows(w, rows, c, x, planeOffset(c, is_four_bit, true), c < fours);
        c += kComputeThreads;
        if (++turn == 2 || fours <= kComputeThreads) {
            break;
        }
        norm[0] = norm[1];
        t_norm[0] = t_norm[1];
        t[0] = t[1];
    }
    if (has_norm) {
        putShares(w.buffer + 64, sums);
    }
}

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
                                                 const CodeTable& table,
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
                                                  const CodeTable& table,
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
                                                  const CodeTable& table,
                                                  int piece,
                                                  int first,
                                                  int end) {
    const int lane = threadIdx.x & 31;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int stretch = stretchOf(a);
    const int fold = lane >> 2 & 1; ///< Of two.
    const int row = lane >> 3;
    // Stretches in an order of their own where they begin at the same bank.
    const auto unitOf = [&](int f) { return f * stretch + ((stretch & 3) == 0 ? warp ^ f : warp); };
    // Of a plain row only the part's columns are there.
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
                                             const CodeTable& table,
                                             int piece,
                                             int first,
                                             int end) {
    const bool is_four_bit = a.w[0].format != kFormatInt8Row;
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

/// One step. tail: where the last row of a wide input lies.
template <typename FORM>
__device__ __forceinline__ void projectRows(const ProjectKernelArgs& a,
                                            char* memory,
                                            char* table_memory,
                                            char* tail,
                                            RingOf<FORM>& ring,
                                            const CodeTable& table,
                                            int token_rows,
                                            KeptRows& kept_rows,
                                            const Exchange& exchange,
                                            int step,
                                            const StepClocks& clocks) {
    const RowsWork<FORM> w(a, memory, table_memory, tail);
    const bool is_pair = a.output == kOutputGeluPair;
    const bool is_plain = a.input == kInputPlain;
    const bool has_scale = a.w[0].format == kFormatInt8Row;
    const int folds = w.stretches(a);
    const int pieces = FORM::kIsLarge ? a.pieces : 1;
    if (is_plain) {
        makePlainRows(a, w, token_rows, 0, exchange, step, clocks);
    } else if constexpr (FORM::kIsLarge) {
        makeNormedRows(a, w, token_rows, exchange, step, clocks);
    } else {
        makeShortRows(a, w, token_rows, kept_rows, exchange, step, clocks);
    }
    syncCompute();
    clocks.note(2);
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
        syncCompute();
        clocks.note(3);
        float factor = 1.0F;
        if (a.norm.data != nullptr) {
            factor = rsqrtf(sumOfRow(w.buffer + 64, own_row) * inverse_cols + eps);
        }
        const int rows = (is_in_turn      ? (end - first) / 2
                          : is_whole_pair ? each
                                          : end - first)
                         << shift;
        // Whole warps: publishRows() takes four lanes.
#pragma unroll 1
        for (int base = static_cast<int>(threadIdx.x) / 32 * 8; base < rows;
             base += kComputeThreads / kStreamRows) {
            const int i = base + static_cast<int>(threadIdx.x & 31) / kStreamRows;
            ResultRow r{};
            if (is_pair) {
                r.weight = is_whole_pair || first < each ? 0 : 1;
                r.local = i + ((is_in_turn ? first / 2 : first - r.weight * each) << shift);
                r.is_there = i < rows && r.local < outputs;
                r.at = begin + r.local;
            } else if (a.count == 1) {
                r.local = i + (first << shift);
                r.is_there = i < rows && r.local < outputs;
                r.at = begin + r.local;
                r.packet = r.at;
            } else {
                r = resultRow(a, TileMap(a, exchange.block), first, rows, i);
            }
            float value = 0.0F;
            if (r.is_there && own_row < token_rows) {
                const SumRows sums =
                    is_in_turn ? sumRows<FORM>(a, tiles, i) : SumRows{i, (each << shift) + i};
                value = rowsSum(w, sums.first, own_row, folds) * factor;
                if (has_scale) {
                    value *= a.w[r.weight].row_scale[r.at];
                }
                float* const kept = reinterpret_cast<float*>(held + r.local) + own_row;
                bool is_result = true;
                if (is_whole_pair) {
                    float other = rowsSum(w, sums.second, own_row, folds) * factor;
                    if (has_scale) {
                        other *= a.w[1].row_scale[r.at];
                    }
                    value = geluFast(value) * other;
                } else if (is_pair && r.weight == 0) {
                    *kept = value;
                    is_result = false;
                } else if (is_pair) {
                    value *= geluFast(*kept);
                } else if (a.output == kOutputGeluMultiply) {
                    value =
                        geluFast(value) * __ldcg(a.multiply + own_row * a.multiply_stride + r.at);
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
