// SPDX-License-Identifier: Apache-2.0
// What dot policies (dot.h) share that sum products of integers exactly: activations of 16 bits
// with a scale per piece of a row; and the same in two planes of signed bytes, for instructions
// that multiply these with the bytes of 4-bit code values.
#pragma once

#include "kernels/cpu/code_tables.h"
#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dot.h"

#include <algorithm>
#include <limits>

namespace kernels::cpu {

/// What makes integers of -levels to levels from a piece of a row, and what one of them is worth:
/// NaN where an activation is.
template <class V>
struct Levels {
    using F = typename V::F;
    F inverse;
    float scale = 0.0F;

    static KERNELS_INLINE Levels of(const float* x, int64_t count, float levels) {
        F most = V::zero();
        auto is_nan = V::isNan(most);
        for (int64_t i = 0; i < count; i += V::kWidth) {
            const F v = load(x + i, count - i);
            most = V::max(most, V::abs(v));
            is_nan = V::mor(is_nan, V::isNan(v));
        }
        const float largest = V::maxOf(most);
        return {V::set1(largest > 0.0F ? levels / largest : 0.0F),
                V::any(is_nan) ? std::numeric_limits<float>::quiet_NaN() : largest / levels};
    }

    /// Two vectors of activations in order; zeros behind those that are left.
    [[nodiscard]] KERNELS_INLINE typename V::I words(const float* x, int64_t left) const {
        const F first = V::mul(load(x, left), inverse);
        const F second = V::mul(load(x + V::kWidth, left - V::kWidth), inverse);
        return V::narrow16(V::toInt(first), V::toInt(second));
    }

private:
    static KERNELS_INLINE F load(const float* x, int64_t left) {
        return left >= V::kWidth ? V::load(x) : (left > 0 ? V::loadPart(x, left) : V::zero());
    }
};

/// An activation is (high * 2^low_bits + low) times the scale of its piece.
struct PlaneFormat {
    int low_bits = 0;
    int most_high = 0;   ///< The high plane goes to this.
    int64_t piece = 0;   ///< Columns that share a scale.
    int64_t padding = 1; ///< The sums are filled with zeros up to a multiple of this.
};

/// The part of a policy that bears the bytes. A converted row: planes, a sum per 64 columns (fp32),
/// a scale per piece (fp32). Planes have, per vector of codes, a vector each: high of the even
/// columns, of the odd ones, low of the even ones, of the odd ones.
template <class Vec, PlaneFormat kFormat>
class ByteDot : public DotPolicy {
public:
    using V = Vec;
    using F = typename V::F;
    using X = int8_t;
    static constexpr int64_t kStep = 8 * V::kWidth;

    static int64_t strideOf(int64_t cols) {
        const int64_t floats = sumsIn(cols) + (cols + kFormat.piece - 1) / kFormat.piece;
        return planeBytes(cols) + (4 * floats + 63) / 64 * 64;
    }

    static void convert(const float* x, int64_t cols, int8_t* out) {
        constexpr auto kLevels = static_cast<float>(kFormat.most_high << kFormat.low_bits);
        auto* const sums = reinterpret_cast<float*>(out + planeBytes(cols));
        float* scales = sums + sumsIn(cols);
        for (float* at = sums + cols / kScaleStep; at < scales; ++at) {
            *at = 0.0F;
        }
        for (int64_t first = 0; first < cols; first += kFormat.piece) {
            const int64_t end = std::min(first + kFormat.piece, cols);
            const auto levels = Levels<V>::of(x + first, end - first, kLevels);
            *scales++ = levels.scale;
            for (int64_t k = first; k < end; k += kStep) {
                alignas(64) int16_t words[kStep];
                for (int64_t i = 0; i < kStep; i += 2 * V::kWidth) {
                    V::storeLanes(words + i, levels.words(x + k + i, end - k - i));
                }
                split(words, sums + k / kScaleStep, out + 2 * k);
            }
        }
    }

protected:
    void openCodes(const WeightView& w) {
        weight_ = w;
        const CodeBytes codes = codeBytes(w.format);
        table_ = V::repeat16(codes.entry);
        zero_ = codes.zero;
        per_step_ = 1.0F / codes.step;
    }
    [[nodiscard]] KERNELS_INLINE const float* sumsOf(const int8_t* x) const {
        return reinterpret_cast<const float*>(x + planeBytes(weight_.cols));
    }
    [[nodiscard]] KERNELS_INLINE const float* scalesOf(const int8_t* x) const {
        return sumsOf(x) + sumsIn(weight_.cols);
    }

    typename V::I table_{}; ///< Bytes of the code values: value = (byte - zero) * per_step.
    float zero_ = 0.0F;
    float per_step_ = 0.0F;

private:
    static KERNELS_INLINE int64_t planeBytes(int64_t cols) {
        return (cols + kStep - 1) / kStep * 2 * kStep;
    }
    static KERNELS_INLINE int64_t sumsIn(int64_t cols) {
        const int64_t blocks = cols / kScaleStep;
        return (blocks + kFormat.padding - 1) / kFormat.padding * kFormat.padding;
    }

    /// Plain loops, of which compilers make vector code.
    static KERNELS_INLINE void split(const int16_t (&words)[kStep], float* sums, int8_t* planes) {
        for (int64_t block = 0; block < kStep / kScaleStep; ++block) {
            int32_t sum = 0;
            for (int64_t i = 0; i < kScaleStep; ++i) {
                sum += words[block * kScaleStep + i];
            }
            sums[block] = static_cast<float>(sum);
        }
        // The low byte has a sign, so that the high one is rounded.
        constexpr int kUnit = 1 << kFormat.low_bits;
        for (int64_t odd = 0; odd < 2; ++odd, planes += kStep / 2) {
            for (int64_t i = 0; i < kStep / 2; ++i) {
                const int high = (words[2 * i + odd] + kUnit / 2) >> kFormat.low_bits;
                planes[i] = static_cast<int8_t>(std::max(high, -128)); // below: infinite x
                planes[kStep + i] = static_cast<int8_t>(words[2 * i + odd] - high * kUnit);
            }
        }
    }
};

} // namespace kernels::cpu
