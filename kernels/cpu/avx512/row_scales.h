// SPDX-License-Identifier: Apache-2.0
// The scales of 4-bit rows as BlockScales hands them out, but nested absmax of 64-element blocks is
// decoded for a few rows at a time: 64 codes per pass through a table of 256 bf16 values
// (V::NestedTable). Rounding the table to bf16 moves a scale by at most 1/512 of its distance from
// the tensor's mean scale (the offset), less than the products around lose; its gain is half of the
// look-ups.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/vec_avx512.h"

#include <algorithm>

namespace kernels::cpu {

template <class V>
class RowScales {
public:
    /// False when there is no memory. slot: as of BlockScales.
    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        weight_ = w;
        is_nested_ = w.absmax == nullptr && w.block_size == kScaleStep && w.cols % kScaleStep == 0;
        if (!is_nested_) {
            return plain_.open(w, slot);
        }
        blocks_ = w.cols / kScaleStep;
        // Windows begin and end with the groups of rows that are multiplied together.
        rows_ = kLeastRows;
        while (2 * rows_ * blocks_ <= kWindowBlocks) {
            rows_ *= 2;
        }
        last_ = first_ = -1;
        const auto floats = static_cast<size_t>(rows_ * blocks_ + 2 * kPass);
        buffer_ = threadScratchOf<float>(slot, floats + 16 + NestedTable::kFloats);
        if (buffer_ == nullptr) {
            return false;
        }
        table_.open(weight_.nested_code, buffer_ + (floats + 15) / 16 * 16);
        return true;
    }

    [[nodiscard]] bool isNested() const { return is_nested_; }

    KERNELS_INLINE const float* ofRow(int64_t row, int64_t k, int64_t end, int slot) const {
        return is_nested_ ? ofNested(row, 1) + k / kScaleStep : plain_.ofRow(row, k, end, slot);
    }

    /// Scales of whole rows [row, row + R), each `stride` behind the last; valid until a row of
    /// another window is asked for.
    template <int R>
    KERNELS_INLINE const float* ofRows(int64_t row, int64_t& stride) const {
        static_assert(R <= kLeastRows);
        if (is_nested_) {
            stride = blocks_;
            return ofNested(row, R);
        }
        // In memory or in the slots of the decoder: equally far apart in both.
        const float* const first = plain_.ofRow(row, 0, weight_.cols, 0);
        stride = 0;
        for (int r = 1; r < R; ++r) {
            stride = (plain_.ofRow(row + r, 0, weight_.cols, r) - first) / r;
        }
        return first;
    }

private:
    using NestedTable = typename V::NestedTable;
    static constexpr int64_t kPass = 64;
    /// 1 KiB of scales: while they are decoded no codes are asked for, so a few at a time.
    static constexpr int64_t kWindowBlocks = 256;
    static constexpr int64_t kLeastRows = 4; ///< Rows that can be asked for at a time.

    KERNELS_INLINE const float* ofNested(int64_t row, int64_t count) const {
        if (row < first_ || row + count > last_) {
            decode(row);
        }
        return buffer_ + (row * blocks_ - start_);
    }

    __attribute__((noinline)) void decode(int64_t row) const {
        first_ = row;
        last_ = std::min(first_ + rows_, weight_.rows);
        start_ = first_ * blocks_ / kPass * kPass; // passes then meet one nested absmax each
        const int64_t end = last_ * blocks_;
        const __m512 offset = _mm512_set1_ps(weight_.nested_offset);
        // The next window's codes: too few lines in a row for the processor's own prediction.
        for (int64_t at = end; at < end + rows_ * blocks_; at += 64) {
            _mm_prefetch(weight_.absmax_q + at, _MM_HINT_T1);
        }
        for (int64_t at = start_; at < end; at += kPass) {
            const auto wanted = end - at >= kPass
                                    ? ~__mmask64{0}
                                    : (__mmask64{1} << static_cast<unsigned>(end - at)) - 1U;
            __m512 values[4];
            table_.lookUp(_mm512_maskz_loadu_epi8(wanted, weight_.absmax_q + at), values);
            const __m512 factor = _mm512_set1_ps(weight_.nested_absmax[at / kNestedBlocks]);
            float* out = buffer_ + (at - start_);
            for (int64_t j = 0; j < 4; ++j) {
                _mm512_storeu_ps(out + 16 * j, _mm512_fmadd_ps(values[j], factor, offset));
            }
        }
    }

    WeightView weight_;
    BlockScales<V> plain_;
    bool is_nested_ = false;
    int64_t blocks_ = 0;                     ///< Per row.
    int64_t rows_ = 0;                       ///< Per window.
    mutable int64_t first_ = -1, last_ = -1; ///< The window of rows that are decoded.
    mutable int64_t start_ = 0;              ///< Block number of buffer_[0].
    float* buffer_ = nullptr;
    NestedTable table_;
};

} // namespace kernels::cpu
