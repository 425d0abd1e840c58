// SPDX-License-Identifier: Apache-2.0
// The dot policies (dot.h) of GGUF's blocks: some parts of a row become bytes (block_codes.h) that
// stay in the first cache, and are multiplied with all tokens. What the offsets of 16 values add is
// one product with the sum of their activations, which is made once per token.
#pragma once

#include "kernels/cpu/simd/block_codes.h"
#include "kernels/cpu/simd/dot.h"

#include <algorithm>

namespace kernels::cpu {

/// What the policies share. Codes: unpack<F>(), an UnpackBlocks.
template <class Codes>
class BlockDotPolicy : public DotPolicy {
public:
    static constexpr int64_t kStep = kPartValues;

    bool open(const WeightView& w, ScratchSlot /*slot*/ = ScratchSlot::Scales) {
        weight_ = w;
        unpack_ = withBlockFormat(w.format, [](auto format) -> UnpackBlocks {
            return &Codes::template unpack<decltype(format)::kFormat>;
        });
        return true;
    }

protected:
    static constexpr int64_t partsIn(int64_t cols) {
        return (cols + kPartValues - 1) / kPartValues;
    }

    /// fn(part, its number) for the parts of a row in order.
    template <typename Fn>
    KERNELS_INLINE void eachPart(int64_t row, Fn fn) const {
        constexpr int64_t kAtOnce = 8; // 3 KiB
        BlockPart parts[kAtOnce];
        const int64_t cols = weight_.cols;
        const auto* const data = static_cast<const uint8_t*>(weight_.data);
        for (int64_t k = 0; k < cols; k += kAtOnce * kPartValues) {
            const int64_t values = std::min(cols - k, kAtOnce * kPartValues);
            unpack_(data + valueBytes(weight_.format, row * cols + k), values, parts);
            const int64_t count = partsIn(values);
            for (int64_t i = 0; i < count; ++i) {
                fn(parts[i], k / kPartValues + i);
            }
        }
    }

private:
    UnpackBlocks unpack_ = nullptr;
};

/// fp32 products. A converted row: activations, then the sum of each 16 of them.
template <class Vec>
class BlockDot : public BlockDotPolicy<SignedBlockCodes<Vec>> {
    using Base = BlockDotPolicy<SignedBlockCodes<Vec>>;

public:
    using V = Vec;
    using F = typename V::F;
    using X = float;

    static int64_t strideOf(int64_t cols) {
        return Base::partsIn(cols) * (kPartValues + kPartRuns);
    }

    static void convert(const float* x, int64_t cols, float* out) {
        const int64_t padded = Base::partsIn(cols) * kPartValues;
        std::copy_n(x, cols, out);
        std::fill(out + cols, out + padded, 0.0F);
        for (int64_t run = 0; run < padded / kRunValues; ++run) {
            float sum = 0.0F;
            for (int64_t i = 0; i < kRunValues; ++i) {
                sum += out[run * kRunValues + i];
            }
            out[padded + run] = sum;
        }
    }

    template <int R, int T>
    KERNELS_INLINE void rows(DotRows<X> at, F (&sums)[R][T]) const {
        static_assert(R == 1);
        constexpr int kChains = T == 1 ? 2 : 1;
        F acc[T][kChains];
        setZero(acc);
        const int64_t padded = Base::partsIn(this->cols()) * kPartValues;
        this->eachPart(
            at.row, [&](const BlockPart& part, int64_t number) __attribute__((always_inline)) {
                const float* const x = at.x + number * kPartValues;
                const float* const run_sums = at.x + padded + number * kPartRuns;
                for (int64_t i = 0; i < kPartRuns; i += V::kWidth) {
                    const F offset = V::load(part.offset + i);
                    for (int t = 0; t < T; ++t) {
                        acc[t][0] =
                            V::fma(offset, V::load(run_sums + t * at.x_stride + i), acc[t][0]);
                    }
                }
#pragma GCC unroll 2
                for (int64_t run = 0; run < kPartRuns; ++run) {
                    F dot[T];
                    setZero(dot);
#pragma GCC unroll 2
                    for (int64_t k = run * kRunValues; k < (run + 1) * kRunValues; k += V::kWidth) {
                        const F w = V::loadI8(part.codes + k);
                        for (int t = 0; t < T; ++t) {
                            dot[t] = V::fma(w, V::load(x + t * at.x_stride + k), dot[t]);
                        }
                    }
                    const F scale = V::set1(part.scale[run]);
                    for (int t = 0; t < T; ++t) {
                        F& sum = acc[t][run % kChains];
                        sum = V::fma(dot[t], scale, sum);
                    }
                }
            });
        for (int t = 0; t < T; ++t) {
            sums[0][t] = kChains == 1 ? acc[t][0] : V::add(acc[t][0], acc[t][kChains - 1]);
        }
    }
};

} // namespace kernels::cpu
