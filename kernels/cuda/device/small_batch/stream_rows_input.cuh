// SPDX-License-Identifier: Apache-2.0
// The input of a projection of stream_rows.cu: up to four rows as fp16 in shared memory, from
// memory or packets, behind residual sums and norms. It has one part of fp16 (11 bits), not two:
// prompts have eight bits.
#pragma once

#include "kernels/cuda/device/small_batch/stream_rows_packets.cuh"
#include "kernels/cuda/device/decode/stream_step.cuh"

namespace kernels::cuda {

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
    char* gaps; ///< Gaps in the table of codes.
    char* tail;
    int row_bytes;
    int sums; ///< Sums of a warp.
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
        return a.units * (a.w[0].layout == WeightLayout::Int8Row ? 32 : 64);
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
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
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
        const uint32_t none = norm.data == nullptr ? __float_as_uint(1.0F) : 0;
        low = make_uint2(none, none);
        high = low;
        if (is_there && norm.data != nullptr) {
            low = __ldg(reinterpret_cast<const uint2*>(at));
            high = __ldg(reinterpret_cast<const uint2*>(at + (is_wide ? 8 : 0)));
        }
    }
    /// For values(). An absent norm is ones.
    static __device__ __forceinline__ int typeOf(const VectorArgs& norm) {
        return norm.data == nullptr ? kElementF32 : norm.type;
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

/// What t of each row is multiplied by beside its norm's weight. squares: sums of theirs.
__device__ __forceinline__ float4 addedScales(const ProjectKernelArgs& a, const float4& squares) {
    const float scalar = a.scalar;
    if (a.t_norm.data == nullptr) {
        return make_float4(scalar, scalar, scalar, scalar);
    }
    const float inverse = a.inverse_cols;
    const float eps = a.eps;
    return make_float4(
        rsqrtf(squares.x * inverse + eps) * scalar, rsqrtf(squares.y * inverse + eps) * scalar,
        rsqrtf(squares.z * inverse + eps) * scalar, rsqrtf(squares.w * inverse + eps) * scalar);
}

/// The input behind a residual sum, a norm or both, of LargeForm. A thread has four columns of all
/// rows, comes back, and takes what it has seen once more.
__device__ __forceinline__ void makeNormedRows(const ProjectKernelArgs& a,
                                               const RowsWork<LargeForm>& w,
                                               int rows,
                                               const Exchange& exchange,
                                               int step,
                                               const StepClocks& clocks) {
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const bool has_residual = a.input == kInputResidualNorm || a.input == kInputResidual;
    const bool has_norm = a.norm.data != nullptr;
    const int cols = a.cols;
    const int fours = cols / 4;
    const float scalar = a.scalar;
    const int norm_type = a.norm.type;
    const int t_norm_type = NormFour::typeOf(a.t_norm);
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
        scale = addedScales(a, all);
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
    const bool is_four_bit = a.w[0].layout != WeightLayout::Int8Row;
    const bool has_residual = a.input != kInputNorm;
    const bool has_norm = a.norm.data != nullptr;
    const bool is_kept = a.keeps_row != 0;
    const int cols = a.cols;
    const int fours = cols / 4;
    const float scalar = a.scalar;
    const int norm_type = a.norm.type;
    const int t_norm_type = NormFour::typeOf(a.t_norm);
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
        scale = addedScales(a, all);
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

} // namespace kernels::cuda
