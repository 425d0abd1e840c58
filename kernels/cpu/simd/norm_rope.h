// SPDX-License-Identifier: Apache-2.0
// RMS norms and rotary embedding with vector code. Sums of squares are kept in fp32 in four
// vectors, so each lane adds few values.
#pragma once

#include "kernels/cpu/simd/elementwise.h"

#include <cmath>

namespace kernels::cpu {

template <class V>
struct NormRope {
    using F = typename V::F;
    using L = Lanes<V>;

    static Status rmsNorm(Queue q, MatF32 x, MatView weight, float eps, MutF32 y) {
        const Status status = checkNorm(x, weight, y);
        if (status != Status::Ok) {
            return status;
        }
        forRows(q, x, [&](int64_t t) {
            const float* in = x.data + t * x.stride;
            float* out = y.data + t * y.stride;
            const F inverse = V::set1(inverseRms(in, x.cols, eps));
            L::each(x.cols, [&](int64_t c, int64_t n) {
                L::save(out + c, n, weighted(V::mul(L::load(in + c, n), inverse), weight, c, n));
            });
        });
        return Status::Ok;
    }

    static Status
    rmsNormAdd(Queue q, MatF32 x, MatView weight, float eps, float alpha, MutF32 residual) {
        const Status status = checkNorm(x, weight, residual);
        if (status != Status::Ok) {
            return status;
        }
        forRows(q, x, [&](int64_t t) {
            const float* in = x.data + t * x.stride;
            float* out = residual.data + t * residual.stride;
            const F inverse = V::set1(inverseRms(in, x.cols, eps));
            const F factor = V::set1(alpha);
            L::each(x.cols, [&](int64_t c, int64_t n) {
                const F normed = weighted(V::mul(L::load(in + c, n), inverse), weight, c, n);
                L::save(out + c, n, V::fma(normed, factor, L::load(out + c, n)));
            });
        });
        return Status::Ok;
    }

    static Status rope(Queue q,
                       MutF32 x,
                       int64_t head_dim,
                       int64_t offset,
                       int64_t dim,
                       const int32_t* position,
                       const float* inv_freq) {
        const Status status = checkRope(x, head_dim, offset, dim, position, inv_freq);
        if (status != Status::Ok) {
            return status;
        }
        const int64_t half = dim / 2;
        forRows(q, x, [&](int64_t t) {
            const F at = V::set1(static_cast<float>(position[t]));
            L::each(half, [&](int64_t j, int64_t n) {
                F sine;
                F cosine;
                Math<V>::sinCos(V::mul(at, L::load(inv_freq + j, n)), sine, cosine);
                float* low = x.data + t * x.stride + offset + j;
                for (int64_t head = 0; head < x.cols; head += head_dim) {
                    const F a = L::load(low + head, n);
                    const F b = L::load(low + head + half, n);
                    L::save(low + head, n, V::fnma(b, sine, V::mul(a, cosine)));
                    L::save(low + head + half, n, V::fma(a, sine, V::mul(b, cosine)));
                }
            });
        });
        return Status::Ok;
    }

    /// Sum of squares of n values.
    static float sumOfSquares(const float* x, int64_t n) {
        F acc[4] = {V::zero(), V::zero(), V::zero(), V::zero()};
        int64_t i = 0;
        for (; i + 4 * V::kWidth <= n; i += 4 * V::kWidth) {
            for (int64_t j = 0; j < 4; ++j) {
                const F v = V::load(x + i + j * V::kWidth);
                acc[j] = V::fma(v, v, acc[j]);
            }
        }
        for (; i < n; i += V::kWidth) {
            const F v = L::load(x + i, n - i < V::kWidth ? n - i : V::kWidth);
            acc[0] = V::fma(v, v, acc[0]);
        }
        return V::sum(V::add(V::add(acc[0], acc[1]), V::add(acc[2], acc[3])));
    }

private:
    static KERNELS_INLINE F weighted(F v, const MatView& weight, int64_t c, int64_t n) {
        if (weight.data == nullptr) {
            return v;
        }
        return V::mul(v, Expand<V>::loadSome(weight.data, weight.type, c, n));
    }

    static float inverseRms(const float* x, int64_t n, float eps) {
        return 1.0F / std::sqrt(sumOfSquares(x, n) / static_cast<float>(n) + eps);
    }

    template <typename Fn>
    static void forRows(Queue q, const MatF32& x, Fn fn) {
        parallelFor(poolOf(q), x.rows, Elementwise<V>::rowsPerChunk(x.cols),
                    [&](int64_t begin, int64_t end) {
                        for (int64_t t = begin; t < end; ++t) {
                            fn(t);
                        }
                    });
    }
};

} // namespace kernels::cpu
