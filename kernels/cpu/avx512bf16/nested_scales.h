// SPDX-License-Identifier: Apache-2.0
// Nested absmax of 64-element blocks, decoded for a few rows at a time: 64 codes per pass through
// a table of 256 floats that is held as four tables of bytes (VBMI looks 128 bytes up at once).
// The value is that of blockScale(): a rounded product, then a rounded sum.
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

    /// False when there is no memory.
    bool open(const WeightView& w) {
        weight_ = w;
        blocks_ = w.cols / kScaleStep;
        // A multiple of four rows: groups of four, which start at such rows, share a window.
        rows_ = std::max<int64_t>(4, kWindowBlocks / blocks_ / 4 * 4);
        last_ = first_ = -1;
        const auto floats = static_cast<size_t>(rows_ * blocks_ + 2 * kPass);
        buffer_ = threadScratchOf<float>(ScratchSlot::Scales, floats + kTableFloats);
        if (buffer_ == nullptr) {
            return false;
        }
        planes_ = reinterpret_cast<uint8_t*>(buffer_ + (floats + 15) / 16 * 16);
        for (int i = 0; i < 256; i += 16) {
            const __m512i bits = _mm512_castps_si512(_mm512_loadu_ps(weight_.nested_code + i));
            for (int64_t plane = 0; plane < 4; ++plane) {
                const __m128i bytes =
                    _mm512_cvtepi32_epi8(_mm512_srli_epi32(bits, static_cast<unsigned>(8 * plane)));
                _mm_storeu_si128(reinterpret_cast<__m128i*>(planes_ + 256 * plane + i), bytes);
            }
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

    /// Scales of a whole row; valid until a row of another group of rows is asked for.
    KERNELS_INLINE const float* ofRow(int64_t row) {
        if (row < first_ || row >= last_) {
            decode(row);
        }
        return buffer_ + (row * blocks_ - start_);
    }

private:
    static constexpr int64_t kPass = 64;
    static constexpr int64_t kWindowBlocks = 512; ///< 2 KiB of scales.
    static constexpr size_t kTableFloats = 256 + 16;

    __attribute__((noinline)) void decode(int64_t row) {
        first_ = row / rows_ * rows_;
        last_ = std::min(first_ + rows_, weight_.rows);
        start_ = first_ * blocks_ / kPass * kPass; // passes then meet one nested absmax each
        const int64_t end = last_ * blocks_;
        const __m512 offset = _mm512_set1_ps(weight_.nested_offset);
        for (int64_t at = start_; at < end; at += kPass) {
            const auto wanted = end - at >= kPass
                                    ? ~__mmask64{0}
                                    : (__mmask64{1} << static_cast<unsigned>(end - at)) - 1U;
            const __m512i codes = _mm512_permutexvar_epi8(
                order_, _mm512_maskz_loadu_epi8(wanted, weight_.absmax_q + at));
            const __mmask64 is_upper = _mm512_movepi8_mask(codes);
            __m512i plane[4];
            for (int64_t p = 0; p < 4; ++p) {
                const uint8_t* table = planes_ + 256 * p;
                const __m512i lower = _mm512_permutex2var_epi8(_mm512_loadu_si512(table), codes,
                                                               _mm512_loadu_si512(table + 64));
                const __m512i upper = _mm512_permutex2var_epi8(
                    _mm512_loadu_si512(table + 128), codes, _mm512_loadu_si512(table + 192));
                plane[p] = _mm512_mask_blend_epi8(is_upper, lower, upper);
            }
            const __m512i low01 = _mm512_unpacklo_epi8(plane[0], plane[1]);
            const __m512i high01 = _mm512_unpackhi_epi8(plane[0], plane[1]);
            const __m512i low23 = _mm512_unpacklo_epi8(plane[2], plane[3]);
            const __m512i high23 = _mm512_unpackhi_epi8(plane[2], plane[3]);
            const __m512i values[4] = {
                _mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
            const __m512 factor = _mm512_set1_ps(weight_.nested_absmax[at / kNestedBlocks]);
            float* out = buffer_ + (at - start_);
            for (int64_t j = 0; j < 4; ++j) {
                _mm512_storeu_ps(
                    out + 16 * j,
                    _mm512_add_ps(_mm512_mul_ps(_mm512_castsi512_ps(values[j]), factor), offset));
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
