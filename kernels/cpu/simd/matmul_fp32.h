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

#include "kernels/cpu/kv_rows.h"
#include "kernels/cpu/simd/expand.h"
#include "kernels/cpu/simd/few_rows.h"

#include <algorithm>
#include <array>
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

/// The innermost product of both policies; Elements as in dense_elements.h.
template <class Elements, int kTileRows, int kTileVectors>
class Tiles {
public:
    using V = typename Elements::V;
    using F = typename V::F;
    using Args = TileArgs<typename Elements::X>;

    /// 1 to kTileRows rows.
    static void multiply(int64_t rows, const Args& args) {
        kList[static_cast<size_t>(rows - 1)](args);
    }

private:
    template <int R>
    static void rowsOf(const Args& args) {
        constexpr int64_t kStep = Elements::kStep;
        F acc[R][kTileVectors];
        setZero(acc);
        const auto* b = args.b;
        const auto* a = args.a;
        for (int64_t k = 0; k < args.depth; ++k, a += kStep / V::kWidth) {
            decltype(Elements::activations(b)) bv[kTileVectors];
            for (int v = 0; v < kTileVectors; ++v) {
                bv[v] = Elements::activations(b + v * kStep);
            }
            b += kTileVectors * kStep;
#pragma GCC unroll 16
            for (int r = 0; r < R; ++r) {
                const auto av = Elements::repeated(a + r * args.a_stride);
#pragma GCC unroll 4
                for (int v = 0; v < kTileVectors; ++v) {
                    acc[r][v] = Elements::multiply(acc[r][v], bv[v], av);
                }
            }
        }
        for (int r = 0; r < R; ++r) {
            store(acc[r], args, args.c + r * args.c_stride);
        }
    }

    /// One row of C.
    static KERNELS_INLINE void store(const F (&acc)[kTileVectors], const Args& args, float* c) {
        for (int64_t v = 0; v < kTileVectors; ++v) {
            const int64_t left = std::min(args.cols - v * V::kWidth, V::kWidth);
            if (left <= 0) {
                return;
            }
            float* const out = c + v * V::kWidth;
            F result = acc[v];
            if (args.factor != nullptr) {
                result = V::mul(result, V::load(args.factor + v * V::kWidth));
            }
            if (args.is_added) {
                result = V::add(result, Lanes<V>::load(out, left));
            }
            Lanes<V>::save(out, left, result);
        }
    }

    template <size_t... kBefore>
    static constexpr std::array<void (*)(const Args&), kTileRows>
    listOf(std::index_sequence<kBefore...> /*rows*/) {
        return {&rowsOf<static_cast<int>(kBefore) + 1>...};
    }
    static constexpr auto kList = listOf(std::make_index_sequence<kTileRows>());
};

/// The same for any number of rows.
template <class P>
void multiplyTiles(TileArgs<typename P::X> args, int64_t rows) {
    const auto* const a = args.a;
    float* const c = args.c;
    for (int64_t r = 0; r < rows; r += P::kRows) {
        args.a = a + r * args.a_stride;
        args.c = c + r * args.c_stride;
        P::tile(std::min(rows - r, P::kRows), args);
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

    /// `count` codes of keys or values.
    static void
    narrowKeys(const void* data, KvType type, int64_t first, int64_t count, float* out) {
        if (type == KvType::Q8) {
            Expand<V>::int8Row(static_cast<const int8_t*>(data) + first, 1.0F, count, out);
        } else {
            Expand<V>::denseRow(data, kvElement(type), first, count, out);
        }
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

    static void tile(int64_t rows, const TileArgs<float>& args) {
        Tiles<WidenedElements<V, WeightFormat::F32>, kTileRows, kTileVectors>::multiply(rows, args);
    }
};

} // namespace kernels::cpu
