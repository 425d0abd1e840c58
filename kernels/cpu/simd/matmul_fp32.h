// SPDX-License-Identifier: Apache-2.0
// The innermost matrix product in fp32 and the packing it wants. Operand policy of gemm.h and
// attention.h:
//
//   X          element type of both operands
//   kPair      elements of one 32-bit lane that are multiplied together (1 here, 2 for bf16)
//   kRows      rows of A per tile; kCols columns of B per tile
//   FewRows    the products of attention for a few rows (few_rows.h)
//   narrow()   fp32 -> X; widening is not needed
//   tile()     C[rows, kCols] = (added ? C : 0) + factor * A B over `depth` lanes
//
// B is packed as [depth][kCols] lanes. A is read row by row, so it needs no packing.
#pragma once

#include "kernels/cpu/simd/expand.h"
#include "kernels/cpu/simd/few_rows.h"

#include <utility>

namespace kernels::cpu {

/// One tile of C: `rows` of A at `a` (stride in elements), `depth` lanes deep.
template <typename X>
struct TileArgs {
    const X* a = nullptr;
    int64_t a_stride = 0;
    const X* b = nullptr;
    int64_t depth = 0;
    float* c = nullptr;
    int64_t c_stride = 0;
    int64_t cols = 0;              ///< Columns of C to store, <= kCols.
    const float* factor = nullptr; ///< [kCols] or nullptr = 1.
    bool is_added = false;
};

/// Stores one row of accumulators as TileArgs says.
template <class V, int kVectors>
KERNELS_INLINE void
storeTileRow(const typename V::F* acc, const float* factor, bool is_added, int64_t cols, float* c) {
    for (int v = 0; v < kVectors; ++v) {
        const int64_t left = cols - v * V::kWidth;
        if (left <= 0) {
            return;
        }
        const bool is_full = left >= V::kWidth;
        float* out = c + v * V::kWidth;
        typename V::F result = acc[v];
        if (factor != nullptr) {
            result = V::mul(result, V::load(factor + v * V::kWidth));
        }
        if (is_added) {
            result = V::add(result, is_full ? V::load(out) : V::loadPart(out, left));
        }
        if (is_full) {
            V::store(out, result);
        } else {
            V::storePart(out, result, left);
        }
    }
}

template <class Vec, int kTileRows, int kTileVectors>
struct MatmulFp32 {
    using V = Vec;
    using F = typename V::F;
    using X = float;
    using FewRows = FewRowsFp32<Vec>;
    static constexpr int64_t kPair = 1;
    static constexpr int64_t kRows = kTileRows;
    static constexpr int64_t kCols = kTileVectors * V::kWidth;

    /// out[0, count) = x, zeros up to `padded`.
    static void narrow(const float* x, float factor, int64_t count, int64_t padded, float* out) {
        int64_t i = 0;
        const F f = V::set1(factor);
        for (; i + V::kWidth <= count; i += V::kWidth) {
            V::store(out + i, V::mul(V::load(x + i), f));
        }
        for (; i < padded; ++i) {
            out[i] = i < count ? x[i] * factor : 0.0F;
        }
    }

    /// `count` stored elements of a dense type.
    static void
    narrowDense(const void* data, DType type, int64_t first, int64_t count, float* out) {
        Expand<V>::denseRow(data, type, first, count, out);
    }

    /// True when rows of this type can be packed without conversion.
    static constexpr bool isNative(DType type) { return type == DType::F32; }

    /// No shortcut: 4-bit rows are expanded by Expand<V>.
    static bool expandFourBit(const WeightView& /*w*/,
                              const CodeValues& /*codes*/,
                              int64_t /*row*/,
                              int64_t /*k*/,
                              int64_t /*count*/,
                              float* /*out*/) {
        return false;
    }

    /// One pair of B rows (here: one row) as packed lanes: out[c] = row[c].
    static void packDepthRow(const float* row, const float* /*next*/, int64_t cols, float* out) {
        int64_t c = 0;
        for (; c + V::kWidth <= cols; c += V::kWidth) {
            V::store(out + c, V::load(row + c));
        }
        for (; c < kCols; ++c) {
            out[c] = c < cols ? row[c] : 0.0F;
        }
    }

    static void tile(int64_t rows, const TileArgs<float>& args) { kTiles[rows - 1](args); }

private:
    template <int R>
    static void tileOf(const TileArgs<float>& args) {
        F acc[R][kTileVectors];
        setZero(acc);
        const float* b = args.b;
        const float* a = args.a;
        for (int64_t k = 0; k < args.depth; ++k) {
            F bv[kTileVectors];
            for (int v = 0; v < kTileVectors; ++v) {
                bv[v] = V::load(b + v * V::kWidth);
            }
            b += kCols;
#pragma GCC unroll 16
            for (int r = 0; r < R; ++r) {
                const F av = V::set1(a[r * args.a_stride + k]);
#pragma GCC unroll 4
                for (int v = 0; v < kTileVectors; ++v) {
                    acc[r][v] = V::fma(av, bv[v], acc[r][v]);
                }
            }
        }
        for (int r = 0; r < R; ++r) {
            storeTileRow<V, kTileVectors>(acc[r], args.factor, args.is_added, args.cols,
                                          args.c + r * args.c_stride);
        }
    }

    using TileFn = void (*)(const TileArgs<float>&);
    template <int... R>
    struct Tiles {
        static constexpr TileFn kList[sizeof...(R)] = {&tileOf<R + 1>...};
    };
    template <int... R>
    static constexpr const TileFn* tilesOf(std::integer_sequence<int, R...>) {
        return Tiles<R...>::kList;
    }
    static constexpr const TileFn* kTiles = tilesOf(std::make_integer_sequence<int, kTileRows>{});
};

} // namespace kernels::cpu
