// SPDX-License-Identifier: Apache-2.0
// The two products of attention for the rows of one decoded token: the query heads that read one kv
// head, eight at most. Packing keys and values for the tiles of gemm.h costs more than so few rows
// save by it: here keys are multiplied where they lie, each vector of them with all rows at once.
#pragma once

#include "kernels/cpu/simd/dense_elements.h"
#include "kernels/cpu/simd/lanes.h"
#include "kernels/kv_rows.h"

#include <algorithm>

namespace kernels::cpu {

/// Rows of one product. Keys (or values) are `dim` elements of `data` each, the first at element
/// `first`, the next `step` elements on.
template <typename X>
struct FewRowsArgs {
    int64_t rows = 0; ///< 1 to kMostFewRows.
    int64_t keys = 0;
    int64_t dim = 0;
    const X* a = nullptr; ///< Queries [rows, dim] or probabilities [rows, keys].
    int64_t a_stride = 0;
    const void* data = nullptr;
    int64_t first = 0;
    int64_t step = 0;
    const void* next = nullptr; ///< With scores: the values of the same keys, asked for ahead.
    float* c = nullptr;         ///< Scores [rows, keys], or sums [rows, dim] that are added to.
    int64_t c_stride = 0;
};

constexpr int64_t kMostFewRows = 8;
constexpr int64_t kFewRowsAhead =
    8192; ///< Bytes of keys that are asked for before they are needed.
constexpr int64_t kFewRowsColumns = 64; ///< What `dim` must be a multiple of.

/// Asks for `bytes` at `at` for the second cache.
KERNELS_INLINE void askFor(const char* at, int64_t bytes) {
    for (int64_t i = 0; i < bytes; i += 64) {
        _mm_prefetch(at + i, _MM_HINT_T1);
    }
}

/// scores[r][key] = a[r] . keys[key].
template <class Elements, int R>
void fewRowsScores(const FewRowsArgs<typename Elements::X>& args) {
    using V = typename Elements::V;
    using F = typename V::F;
    constexpr int kTogether = static_cast<int>(V::kWidth) / R; // keys
    const typename Elements::X* a[R];
    for (int r = 0; r < R; ++r) {
        a[r] = args.a + std::min<int64_t>(r, args.rows - 1) * args.a_stride;
    }
    const int64_t bytes = args.dim * Elements::kBytes;
    const int64_t keys_ahead = std::max<int64_t>(kTogether, kFewRowsAhead / bytes);
    for (int64_t key = 0; key < args.keys; key += kTogether) {
        const int64_t count = std::min<int64_t>(kTogether, args.keys - key);
        int64_t at[kTogether];
        F sums[V::kWidth];
        for (int j = 0; j < kTogether; ++j) {
            at[j] = args.first + (key + std::min<int64_t>(j, count - 1)) * args.step;
            askFor(static_cast<const char*>(args.next) + at[j] * Elements::kBytes, bytes);
            askFor(static_cast<const char*>(args.data) +
                       (at[j] + keys_ahead * args.step) * Elements::kBytes,
                   bytes);
        }
#pragma GCC unroll 16
        for (int i = 0; i < R * kTogether; ++i) {
            sums[V::slotOfRow(i)] = V::zero();
        }
        for (int64_t d = 0; d < args.dim; d += Elements::kStep) {
#pragma GCC unroll 16
            for (int j = 0; j < kTogether; ++j) {
                const auto keys = Elements::load(args.data, at[j] + d);
#pragma GCC unroll 8
                for (int r = 0; r < R; ++r) {
                    F& sum = sums[V::slotOfRow(r * kTogether + j)];
                    sum = Elements::multiply(sum, keys, Elements::activations(a[r] + d));
                }
            }
        }
        float lanes[V::kWidth];
        V::store(lanes, V::transposeSum(sums));
        for (int64_t r = 0; r < args.rows; ++r) {
            for (int64_t j = 0; j < count; ++j) {
                args.c[r * args.c_stride + key + j] = lanes[r * kTogether + j];
            }
        }
    }
}

/// Calls fn with 1, 2, 4 or 8, the least that is enough for `rows`.
template <class Fn>
KERNELS_INLINE void withFewRows(int64_t rows, Fn fn) {
    if (rows > 4) {
        fn(std::integral_constant<int, 8>{});
    } else if (rows > 2) {
        fn(std::integral_constant<int, 4>{});
    } else if (rows > 1) {
        fn(std::integral_constant<int, 2>{});
    } else {
        fn(std::integral_constant<int, 1>{});
    }
}

/// fp32 products; keys and values fp32, bf16 or codes of 8 bits.
template <class Vec>
class FewRowsFp32 {
public:
    using V = Vec;
    using F = typename V::F;
    using Args = FewRowsArgs<float>;

    static bool serves(KvType type, int64_t rows, int64_t dim) {
        return type != KvType::F16 && rows <= kMostFewRows && dim % kFewRowsColumns == 0;
    }

    static void scores(KvType type, const Args& args) {
        withKeys(type, args.rows,
                 [&](auto keys, auto rows) { fewRowsScores<decltype(keys), rows>(args); });
    }

    static void values(KvType type, const Args& args) {
        withKeys(type, args.rows,
                 [&](auto values, auto rows) { valuesOf<decltype(values), rows>(args); });
    }

private:
    template <WeightFormat kFormat>
    using Elements = WidenedElements<V, kFormat>;

    /// Calls fn with the elements of a type and the number of rows.
    template <class Fn>
    static void withKeys(KvType type, int64_t rows, Fn fn) {
        withFewRows(rows, [&](auto count) {
            if (type == KvType::BF16) {
                fn(Elements<WeightFormat::BF16>{}, count);
            } else if (type == KvType::Q8) {
                fn(Elements<WeightFormat::Int8Row>{}, count);
            } else {
                fn(Elements<WeightFormat::F32>{}, count);
            }
        });
    }

    template <class In, int R>
    static void valuesOf(const Args& args) {
        constexpr int kVectors = std::clamp(static_cast<int>(V::kWidth) / R, 1, 4);
        static_assert(kFewRowsColumns % (kVectors * V::kWidth) == 0);
        const float* p[R];
        for (int r = 0; r < R; ++r) {
            p[r] = args.a + std::min<int64_t>(r, args.rows - 1) * args.a_stride;
        }
        for (int64_t d = 0; d < args.dim; d += kVectors * V::kWidth) {
            F sums[R][kVectors];
            setZero(sums);
            for (int64_t key = 0; key < args.keys; ++key) {
                F values[kVectors];
#pragma GCC unroll 4
                for (int v = 0; v < kVectors; ++v) {
                    values[v] =
                        In::load(args.data, args.first + key * args.step + d + v * V::kWidth);
                }
#pragma GCC unroll 8
                for (int r = 0; r < R; ++r) {
                    const F factor = V::set1(p[r][key]);
#pragma GCC unroll 4
                    for (int v = 0; v < kVectors; ++v) {
                        sums[r][v] = V::fma(factor, values[v], sums[r][v]);
                    }
                }
            }
            for (int64_t r = 0; r < args.rows; ++r) {
                float* const out = args.c + r * args.c_stride + d;
                for (int v = 0; v < kVectors; ++v) {
                    V::store(out + v * V::kWidth, V::add(V::load(out + v * V::kWidth), sums[r][v]));
                }
            }
        }
    }
};

} // namespace kernels::cpu
