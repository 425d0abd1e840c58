// SPDX-License-Identifier: Apache-2.0
// Nested absmax of 64-element blocks, decoded for a few rows at a time: 64 codes per pass through
// a table of 256 bf16 values that is held as two tables of bytes (VBMI looks 128 bytes up at once).
// Rounding the table to bf16 moves a scale by at most 1/512 of its distance from the tensor's mean
// scale (the offset), less than the products around lose; its gain is half of the look-ups.
#pragma once

#include "kernels/cpu/avx512bf16/vec_bf16.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/block_scales.h"

#include <algorithm>

namespace kernels::cpu {

class NestedScales {
public:
    static bool canServe(const WeightView& w) {
        return w.absmax == nullptr && w.block_size == kScaleStep && w.cols % kScaleStep == 0;
    }

    /// False when there is no memory. slot: as of BlockScales.
    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        weight_ = w;
        blocks_ = w.cols / kScaleStep;
        // Windows begin and end with the groups of rows that are multiplied together.
        rows_ = kLeastRows;
        while (2 * rows_ * blocks_ <= kWindowBlocks) {
            rows_ *= 2;
        }
        last_ = first_ = -1;
        const auto floats = static_cast<size_t>(rows_ * blocks_ + 2 * kPass);
        buffer_ = threadScratchOf<float>(slot, floats + kTableFloats);
        if (buffer_ == nullptr) {
            return false;
        }
        planes_ = reinterpret_cast<uint8_t*>(buffer_ + (floats + 15) / 16 * 16);
        for (int i = 0; i < 256; i += 16) {
            const __m256i bits =
                (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(weight_.nested_code + i));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(planes_ + i), _mm256_cvtepi16_epi8(bits));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(planes_ + 256 + i),
                             _mm256_cvtepi16_epi8(_mm256_srli_epi16(bits, 8)));
        }
        // Where the unpacks below want each code: lane L of vector j gets codes 16 j + 4 L ...
        alignas(64) uint8_t order[64];
        for (int lane = 0; lane < 4; ++lane) {
            for (int j = 0; j < 4; ++j) {
                for (int i = 0; i < 4; ++i) {
                    order[16 * lane + 4 * j + i] = static_cast<uint8_t>(16 * j + 4 * lane + i);
                }
            }
        }
        order_ = _mm512_load_si512(order);
        return true;
    }

    static constexpr int64_t kLeastRows = 4; ///< Rows that can be asked for at a time.

    /// Scales of whole rows [row, row + count), one row after the other; valid until a row of
    /// another window is asked for.
    KERNELS_INLINE const float* ofRows(int64_t row, int64_t count) {
        if (row < first_ || row + count > last_) {
            decode(row);
        }
        return buffer_ + (row * blocks_ - start_);
    }

private:
    static constexpr int64_t kPass = 64;
    /// 1 KiB of scales: while they are decoded no codes are asked for, so a few at a time.
    static constexpr int64_t kWindowBlocks = 256;
    static constexpr size_t kTableFloats = 128 + 16;

    __attribute__((noinline)) void decode(int64_t row) {
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
            const __m512i codes = _mm512_permutexvar_epi8(
                order_, _mm512_maskz_loadu_epi8(wanted, weight_.absmax_q + at));
            const __mmask64 is_upper = _mm512_movepi8_mask(codes);
            __m512i plane[2];
            for (int64_t p = 0; p < 2; ++p) {
                const uint8_t* table = planes_ + 256 * p;
                const __m512i lower = _mm512_permutex2var_epi8(_mm512_loadu_si512(table), codes,
                                                               _mm512_loadu_si512(table + 64));
                const __m512i upper = _mm512_permutex2var_epi8(
                    _mm512_loadu_si512(table + 128), codes, _mm512_loadu_si512(table + 192));
                plane[p] = _mm512_mask_blend_epi8(is_upper, lower, upper);
            }
            const __m512i low = _mm512_unpacklo_epi8(plane[0], plane[1]);
            const __m512i high = _mm512_unpackhi_epi8(plane[0], plane[1]);
            const __m512i zero = _mm512_setzero_si512();
            const __m512i values[4] = {
                _mm512_unpacklo_epi16(zero, low), _mm512_unpackhi_epi16(zero, low),
                _mm512_unpacklo_epi16(zero, high), _mm512_unpackhi_epi16(zero, high)};
            const __m512 factor = _mm512_set1_ps(weight_.nested_absmax[at / kNestedBlocks]);
            float* out = buffer_ + (at - start_);
            for (int64_t j = 0; j < 4; ++j) {
                _mm512_storeu_ps(out + 16 * j,
                                 _mm512_fmadd_ps(_mm512_castsi512_ps(values[j]), factor, offset));
            }
        }
    }

    WeightView weight_;
    int64_t blocks_ = 0; ///< Per row.
    int64_t rows_ = 0;   ///< Of a window.
    int64_t first_ = -1, last_ = -1;
    int64_t start_ = 0; ///< Block number of buffer_[0].
    float* buffer_ = nullptr;
    uint8_t* planes_ = nullptr;
    __m512i order_{};
};

} // namespace kernels::cpu
