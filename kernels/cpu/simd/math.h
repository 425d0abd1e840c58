// SPDX-License-Identifier: Apache-2.0
// Vector exponential, tanh, sigmoid and GELU. exp2 splits x into floor and fraction and evaluates
// a polynomial on [0, 1) with a relative error of 2.3e-7.
#pragma once

#include "kernels/cpu/simd/vec_avx2.h"

namespace kernels::cpu {

template <class V>
struct Math {
    using F = typename V::F;

    /// 2^x.
    static KERNELS_INLINE F exp2(F x) {
        const F r = V::fraction(x);
        F p = V::set1(kC5);
        p = V::fma(p, r, V::set1(kC4));
        p = V::fma(p, r, V::set1(kC3));
        p = V::fma(p, r, V::set1(kC2));
        p = V::fma(p, r, V::set1(kC1));
        p = V::fma(p, r, V::set1(1.0F));
        return V::scaleByFloor(p, x);
    }

    /// e^x. The product x log2(e) is kept in two parts, so that large |x| stay accurate.
    static KERNELS_INLINE F exp(F x) {
        const F bounded = V::min(V::set1(200.0F), V::max(V::set1(-200.0F), x));
        const F n = V::roundToInt(V::mul(bounded, V::set1(kLog2E)));
        // r = x - n ln 2 in two steps (Cody and Waite), then 2^(r log2 e).
        F r = V::fnma(n, V::set1(kLn2High), bounded);
        r = V::fnma(n, V::set1(kLn2Low), r);
        F p = V::set1(1.0F / 720.0F);
        p = V::fma(p, r, V::set1(1.0F / 120.0F));
        p = V::fma(p, r, V::set1(1.0F / 24.0F));
        p = V::fma(p, r, V::set1(1.0F / 6.0F));
        p = V::fma(p, r, V::set1(0.5F));
        p = V::fma(p, r, V::set1(1.0F));
        p = V::fma(p, r, V::set1(1.0F));
        return V::scaleByFloor(p, n);
    }

    /// tanh(x): a polynomial-free form for |x| >= 0.25, an odd series below, where 1 - e would
    /// cancel.
    static KERNELS_INLINE F tanh(F x) {
        const F a = V::min(V::set1(20.0F), V::abs(x));
        const F e = exp(V::mul(V::set1(-2.0F), a));
        const F large = V::div(V::sub(V::set1(1.0F), e), V::add(V::set1(1.0F), e));
        const F s = V::mul(a, a);
        F p = V::set1(-1382.0F / 155925.0F);
        p = V::fma(p, s, V::set1(62.0F / 2835.0F));
        p = V::fma(p, s, V::set1(-17.0F / 315.0F));
        p = V::fma(p, s, V::set1(2.0F / 15.0F));
        p = V::fma(p, s, V::set1(-1.0F / 3.0F));
        const F small = V::fma(V::mul(p, s), a, a);
        return V::copySign(V::select(V::less(a, V::set1(0.25F)), small, large), x);
    }

    /// 1 / (1 + e^-x).
    static KERNELS_INLINE F sigmoid(F x) {
        return V::div(V::set1(1.0F), V::add(V::set1(1.0F), exp(V::sub(V::zero(), x))));
    }

    static KERNELS_INLINE F silu(F x) { return V::mul(x, sigmoid(x)); }

    /// GELU in its tanh form: x/2 (1 + tanh(u)) = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3).
    static KERNELS_INLINE F geluTanh(F x) {
        constexpr float kTwoRootTwoOverPi = 1.5957691216057308F;
        const F cubic = V::mul(V::mul(x, x), V::mul(x, V::set1(0.044715F)));
        return V::mul(x, sigmoid(V::mul(V::add(x, cubic), V::set1(kTwoRootTwoOverPi))));
    }

    /// Sine and cosine. Accurate to a few 1e-7 for |x| up to 2^20: the multiple of pi/2 is taken
    /// away in three parts, the first of which is exact.
    static KERNELS_INLINE void sinCos(F x, F& sine, F& cosine) {
        const F n = V::roundToInt(V::mul(x, V::set1(0.636619772367581343F)));
        F r = V::fnma(n, V::set1(kHalfPi1), x);
        r = V::fnma(n, V::set1(kHalfPi2), r);
        r = V::fnma(n, V::set1(kHalfPi3), r);
        const F s = V::mul(r, r);
        F p = V::set1(1.0F / 362880.0F);
        p = V::fma(p, s, V::set1(-1.0F / 5040.0F));
        p = V::fma(p, s, V::set1(1.0F / 120.0F));
        p = V::fma(p, s, V::set1(-1.0F / 6.0F));
        const F sin_r = V::fma(V::mul(p, s), r, r);
        p = V::set1(-1.0F / 3628800.0F);
        p = V::fma(p, s, V::set1(1.0F / 40320.0F));
        p = V::fma(p, s, V::set1(-1.0F / 720.0F));
        p = V::fma(p, s, V::set1(1.0F / 24.0F));
        p = V::fma(p, s, V::set1(-0.5F));
        const F cos_r = V::fma(p, s, V::set1(1.0F));
        const auto quadrant = V::toInt(n);
        const auto one = V::iset1(1);
        const auto two = V::iset1(2);
        const auto is_odd = V::iequal(V::iand(quadrant, one), one);
        const auto is_upper = V::iequal(V::iand(quadrant, two), two);
        const auto is_middle = V::iequal(V::iand(V::iadd(quadrant, one), two), two);
        sine = V::changeSignWhere(is_upper, V::select(is_odd, cos_r, sin_r));
        cosine = V::changeSignWhere(is_middle, V::select(is_odd, sin_r, cos_r));
    }

    static constexpr float kLog2E = 1.44269504088896340736F;

private:
    static constexpr float kHalfPi1 = 1.57079637050628662109375F; // pi/2 in pieces of 24 bits
    static constexpr float kHalfPi2 = -4.37113882867379e-8F;
    static constexpr float kHalfPi3 = -1.71512451e-15F;
    static constexpr float kLn2High = 0.693145751953125F; // 15 bits: n * high is exact
    static constexpr float kLn2Low = 1.42860682030941723e-6F;
    // 2^r = 1 + r (c1 + r (c2 + ...)) on [0, 1): interpolation at the Chebyshev nodes.
    static constexpr float kC1 = 0.69314754F;
    static constexpr float kC2 = 0.240207195F;
    static constexpr float kC3 = 0.0556570552F;
    static constexpr float kC4 = 0.00919938739F;
    static constexpr float kC5 = 0.0017883688F;
};

} // namespace kernels::cpu
