// SPDX-License-Identifier: Apache-2.0
// GGUF's blocks to fp32 with vector code, bit for bit what block_formats.h computes: 16 codes at a
// time are put together as bytes, widened and multiplied by what their run shares.
#pragma once

#include "kernels/block_formats.h"
#include "kernels/cpu/simd/lanes.h"

#include <immintrin.h>

#include <algorithm>

namespace kernels::cpu {

template <class V>
struct ExpandBlocks {
    /// codeOf() of a run's 16 values.
    template <WeightFormat F>
    static KERNELS_INLINE __m128i codesOf(const CodeRun& run) {
        if constexpr (F == WeightFormat::Q2_0) {
            alignas(16) int8_t codes[kRunValues];
            for (int i = 0; i < kRunValues; ++i) {
                codes[i] = static_cast<int8_t>(codeOf<F>(run, i));
            }
            return _mm_load_si128(reinterpret_cast<const __m128i*>(codes));
        } else if constexpr (F == WeightFormat::Q8_0) {
            return load(run.low);
        } else if constexpr (F == WeightFormat::Q2_K) {
            return field(run.low, run.low_shift, 3);
        } else if constexpr (F == WeightFormat::Q3_K) {
            const __m128i high = _mm_slli_epi16(field(run.high, run.high_shift, 1), 2);
            return _mm_sub_epi8(_mm_or_si128(field(run.low, run.low_shift, 3), high),
                                _mm_set1_epi8(4));
        } else {
            const __m128i low = field(run.low, run.low_shift, 15);
            if constexpr (F == WeightFormat::Q4_0) {
                return _mm_sub_epi8(low, _mm_set1_epi8(8));
            } else if constexpr (F == WeightFormat::Q5_0 || F == WeightFormat::Q5_1) {
                const __m128i both =
                    _mm_or_si128(low, _mm_and_si128(spread(run.bits), _mm_set1_epi8(16)));
                return F == WeightFormat::Q5_1 ? both : _mm_sub_epi8(both, _mm_set1_epi8(16));
            } else if constexpr (F == WeightFormat::Q5_K) {
                return _mm_or_si128(low, _mm_slli_epi16(field(run.high, run.high_shift, 1), 4));
            } else if constexpr (F == WeightFormat::Q6_K) {
                const __m128i high = _mm_slli_epi16(field(run.high, run.high_shift, 3), 4);
                return _mm_sub_epi8(_mm_or_si128(low, high), _mm_set1_epi8(32));
            } else if constexpr (F == WeightFormat::IQ4_NL || F == WeightFormat::IQ4_XS) {
                return _mm_shuffle_epi8(table(unevenCode), low);
            } else if constexpr (F == WeightFormat::MXFP4) {
                return _mm_shuffle_epi8(table(doubledE2M1), low);
            } else {
                return low;
            }
        }
    }

    template <WeightFormat F>
    static void row(const void* data, int64_t first, int64_t count, float* out) {
        using Format = BlockFormat<F>;
        // To the next block by single values; whole ones; the rest.
        const int64_t before =
            std::min(count, (Format::kValues - first % Format::kValues) % Format::kValues);
        expandBlocks<F>(data, first, before, out);
        const auto* block =
            static_cast<const uint8_t*>(data) + (first + before) / Format::kValues * Format::kBytes;
        int64_t i = before;
        for (; i + Format::kValues <= count; i += Format::kValues, block += Format::kBytes) {
#pragma GCC unroll 16
            for (int run = 0; run < Format::kValues / kRunValues; ++run) {
                expandRun<F>(block, run, out + i + run * kRunValues);
            }
        }
        expandBlocks<F>(data, first + i, count - i, out + i);
    }

private:
    template <WeightFormat F>
    static KERNELS_INLINE void expandRun(const uint8_t* block, int run, float* out) {
        const BlockRange range = rangeOf<F>(block, run);
        alignas(16) int8_t codes[kRunValues];
        _mm_store_si128(reinterpret_cast<__m128i*>(codes), codesOf<F>(codesAt<F>(block, run)));
#pragma GCC unroll 2
        for (int64_t k = 0; k < kRunValues; k += V::kWidth) {
            const auto product = V::mul(V::loadI8(codes + k), V::set1(range.scale));
            V::store(out + k, hasOffset<F>() ? V::add(product, V::set1(range.offset)) : product);
        }
    }

    static KERNELS_INLINE __m128i load(const uint8_t* at) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    }
    /// Bits from `shift` on of 16 bytes.
    static KERNELS_INLINE __m128i field(const uint8_t* at, int shift, int mask) {
        return _mm_and_si128(_mm_srl_epi16(load(at), _mm_cvtsi32_si128(shift)),
                             _mm_set1_epi8(static_cast<char>(mask)));
    }
    /// 16 bits as 16 bytes of ones or zeros.
    static KERNELS_INLINE __m128i spread(uint32_t bits) {
        const __m128i bytes =
            _mm_shuffle_epi8(_mm_set1_epi16(static_cast<short>(bits)),
                             _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1));
        const __m128i own = _mm_set1_epi64x(static_cast<int64_t>(0x8040201008040201ULL));
        return _mm_cmpeq_epi8(_mm_and_si128(bytes, own), own);
    }
    template <typename Fn>
    static KERNELS_INLINE __m128i table(Fn value) {
        alignas(16) int8_t values[16];
        for (uint32_t code = 0; code < 16; ++code) {
            values[code] = static_cast<int8_t>(value(code));
        }
        return _mm_load_si128(reinterpret_cast<const __m128i*>(values));
    }
};

} // namespace kernels::cpu
