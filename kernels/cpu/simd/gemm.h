// SPDX-License-Identifier: Apache-2.0
// Linear products for many tokens (prefill, towers). Activations are converted once per block of
// tokens; a panel of kCols weight rows is expanded and transposed into B's packed layout, piece of
// depth by piece of depth, and multiplied with all tokens of the block while it is in the cache.
// Weights stay in their canonical bytes: a panel lives only during its product, so a 4-bit weight
// is expanded once per block of tokens.
//
// y[t, n] is one sum over k in fixed pieces of kDepth, whatever the tiling: results depend neither
// on threads nor on the number of tokens.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/matmul_fp32.h"

namespace kernels::cpu {

/// Transposes rows of lanes into B's packed layout: out[d][c] = lane d of rows[c]. `rows` holds
/// kCols pointers, nullptr = zeros; every row has `depth` full lanes.
template <class P>
void packColumns(const typename P::X* const* rows, int64_t depth, typename P::X* out) {
    using V = typename P::V;
    for (int64_t group = 0; group < P::kCols; group += V::kWidth) {
        for (int64_t d = 0; d < depth; d += V::kWidth) {
            const int64_t lanes = depth - d < V::kWidth ? depth - d : V::kWidth;
            typename V::I block[V::kWidth];
            for (int64_t r = 0; r < V::kWidth; ++r) {
                const typename P::X* row = rows[group + r];
                if (row == nullptr) {
                    block[r] = V::iset1(0);
                } else if (lanes == V::kWidth) {
                    block[r] = V::loadLanes(row + d * P::kPair);
                } else {
                    block[r] = V::loadLanesPart(row + d * P::kPair, lanes);
                }
            }
            V::transpose(block);
            for (int64_t i = 0; i < lanes; ++i) {
                V::storeLanes(out + ((d + i) * P::kCols + group) * P::kPair, block[i]);
            }
        }
    }
}

template <class P>
struct Gemm {
    using V = typename P::V;
    using X = typename P::X;

    static constexpr int64_t kDepth = 1024 / P::kPair;            ///< Lanes per piece.
    static constexpr int64_t kActivationBytes = int64_t{8} << 20; ///< Bound per call.
    static constexpr int64_t kTasks = 64;                         ///< Aim, for many cores.

    static Status
    run(ThreadPool* pool, MatF32 x, const WeightView& w, const Epilogue& e, MutF32 y) {
        // One extra cache line per row: power-of-two strides would put all rows of a tile into
        // the same cache sets.
        const int64_t line = 64 / static_cast<int64_t>(sizeof(X));
        const int64_t stride = (w.cols + line - 1) / line * line + line;
        int64_t block = kActivationBytes / (stride * static_cast<int64_t>(sizeof(X)));
        block = block / P::kRows * P::kRows;
        block = block < 8 * P::kRows ? 8 * P::kRows : block;
        block = block < x.rows ? block : x.rows;
        X* converted =
            threadScratchOf<X>(ScratchSlot::Activations, static_cast<size_t>(block * stride));
        if (converted == nullptr) {
            return Status::OutOfMemory;
        }
        for (int64_t t = 0; t < x.rows; t += block) {
            const int64_t tokens = x.rows - t < block ? x.rows - t : block;
            parallelFor(pool, tokens, 16, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    P::narrow(x.data + (t + i) * x.stride, 1.0F, w.cols, stride,
                              converted + i * stride);
                }
            });
            const MutF32 part{y.data + t * y.stride, tokens, y.cols, y.stride};
            const Status status = runBlock(pool, converted, stride, w, e, part);
            if (status != Status::Ok) {
                return status;
            }
        }
        return Status::Ok;
    }

private:
    static Status runBlock(ThreadPool* pool,
                           const X* x,
                           int64_t stride,
                           const WeightView& w,
                           const Epilogue& e,
                           MutF32 y) {
        const int64_t panels = (w.rows + P::kCols - 1) / P::kCols;
        // With few panels, tokens are split too. A part repeats the packing, so it is not small.
        int64_t parts = (kTasks + panels - 1) / panels;
        int64_t part_rows = (y.rows + parts - 1) / parts;
        part_rows = part_rows < 16 * P::kRows ? 16 * P::kRows : part_rows;
        part_rows = (part_rows + P::kRows - 1) / P::kRows * P::kRows;
        parts = (y.rows + part_rows - 1) / part_rows;
        std::atomic<bool> is_failed{false};
        parallelFor(pool, panels * parts, 1, [&](int64_t begin, int64_t end) {
            X* packed = threadScratchOf<X>(ScratchSlot::Panel,
                                           static_cast<size_t>(kDepth * P::kCols * P::kPair));
            X* rows = threadScratchOf<X>(ScratchSlot::Rows, rowScratchSize(w));
            if (packed == nullptr || rows == nullptr) {
                is_failed.store(true, std::memory_order_relaxed);
                return;
            }
            for (int64_t task = begin; task < end; ++task) {
                const int64_t first = task / panels * part_rows;
                const int64_t count = y.rows - first < part_rows ? y.rows - first : part_rows;
                const MutF32 part{y.data + first * y.stride, count, y.cols, y.stride};
                multiplyPanel(x + first * stride, stride, w, task % panels, e, packed, rows, part);
            }
        });
        return is_failed.load() ? Status::OutOfMemory : Status::Ok;
    }

    /// Expanded rows of one piece of depth, and one row in fp32.
    static size_t rowScratchSize(const WeightView& /*w*/) {
        const int64_t piece = kDepth * P::kPair;
        return static_cast<size_t>(piece * P::kCols +
                                   piece * static_cast<int64_t>(sizeof(float) / sizeof(X)));
    }

    static void multiplyPanel(const X* x,
                              int64_t stride,
                              const WeightView& w,
                              int64_t panel,
                              const Epilogue& e,
                              X* packed,
                              X* rows,
                              MutF32 y) {
        const int64_t first_row = panel * P::kCols;
        const int64_t cols = w.rows - first_row < P::kCols ? w.rows - first_row : P::kCols;
        float factor[P::kCols];
        const bool has_factor = e.factor != 1.0F || e.row_factor != nullptr;
        for (int64_t c = 0; c < P::kCols; ++c) {
            const float row_factor =
                e.row_factor != nullptr && c < cols ? e.row_factor[first_row + c] : 1.0F;
            factor[c] = e.factor * row_factor;
        }
        const CodeValues codes = codeValues(w.format);
        const int64_t piece = kDepth * P::kPair;
        for (int64_t k = 0; k < w.cols; k += piece) {
            const int64_t count = w.cols - k < piece ? w.cols - k : piece;
            const int64_t depth = (count + P::kPair - 1) / P::kPair;
            packPanel(w, codes, first_row, cols, k, count, rows, packed);
            TileArgs<X> args;
            args.a = x + k;
            args.c = y.data + first_row;
            args.b = packed;
            args.depth = depth;
            args.a_stride = stride;
            args.c_stride = y.stride;
            args.cols = cols;
            args.factor = has_factor ? factor : nullptr;
            args.is_added = k > 0 || e.is_added;
            multiplyTiles<P>(args, y.rows);
        }
    }

    /// Columns [k, k + count) of `cols` rows from `first_row` on, packed.
    static void packPanel(const WeightView& w,
                          const CodeValues& codes,
                          int64_t first_row,
                          int64_t cols,
                          int64_t k,
                          int64_t count,
                          X* rows,
                          X* packed) {
        const int64_t piece = kDepth * P::kPair;
        const X* pointers[P::kCols] = {};
        const bool is_native = isNativeFormat(w.format) && count % P::kPair == 0;
        float* wide = reinterpret_cast<float*>(rows + piece * P::kCols);
        for (int64_t c = 0; c < cols; ++c) {
            const int64_t row = first_row + c;
            if (is_native) {
                pointers[c] = static_cast<const X*>(w.data) + row * w.cols + k;
                continue;
            }
            X* out = rows + c * piece;
            pointers[c] = out;
            if (hasCodes(w) && P::expandFourBit(w, codes, row, k, count, out)) {
                continue;
            }
            const int64_t padded = (count + P::kPair - 1) / P::kPair * P::kPair;
            if (w.format == WeightFormat::Int8Row) { // the scale is applied to the sum
                const int8_t* data = static_cast<const int8_t*>(w.data) + row * w.cols + k;
                Expand<V>::int8Row(data, 1.0F, count, wide);
            } else {
                Expand<V>::row(w, codes.value, row, k, count, wide);
            }
            P::narrow(wide, 1.0F, count, padded, out);
        }
        packColumns<P>(pointers, (count + P::kPair - 1) / P::kPair, packed);
    }

    static bool isNativeFormat(WeightFormat format) {
        switch (format) {
        case WeightFormat::F32:
            return P::isNative(DType::F32);
        case WeightFormat::F16:
            return P::isNative(DType::F16);
        case WeightFormat::BF16:
            return P::isNative(DType::BF16);
        default:
            return false;
        }
    }
};

} // namespace kernels::cpu
