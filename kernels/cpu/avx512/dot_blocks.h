// SPDX-License-Identifier: Apache-2.0
// Products of GGUF's blocks (simd/dot_blocks.h) with VPDPBUSD: codes become unsigned bytes, 64 at
// once; activations have 16 bits in two planes of bytes, as for dot_codes.h. A product of 64 codes
// and a token takes six vector operations, making the bytes three to five; scales and offsets of
// 256 values take about ten.
//
// An activation is (256 high + low) times one scale per row; its rounding is 1/65024 of the row's
// largest. Products are summed exactly within four columns. What lies between a code and its byte
// is taken off with the offsets.
#pragma once

#include "kernels/cpu/simd/dot_blocks.h"
#include "kernels/cpu/simd/dot_integers.h"
#include "kernels/cpu/simd/vec_avx512.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace kernels::cpu {

/// A byte is its code and bias<F>().
template <class V>
struct ByteBlockCodes {
    using Runs = SignedBlockCodes<V>;

    template <WeightFormat F>
    static void unpack(const uint8_t* at, int64_t values, BlockPart* out) {
        constexpr int64_t kBytes = Runs::template bytesOfPart<F>();
        for (; values >= kPartValues; values -= kPartValues, at += kBytes, ++out) {
            Runs::template askAhead<F>(at);
#pragma GCC unroll 4
            for (int k = 0; k < kPartValues / 64; ++k) {
                _mm512_store_si512(out->codes + 64 * k, bytesOf<F>(at, 4 * k));
            }
            ranges<F>(at, *out);
        }
        if (values > 0) {
            Runs::template runs<F>(at, static_cast<int>(values / kRunValues), bias<F>(), *out);
        }
    }

private:
    template <WeightFormat F>
    static constexpr int bias() {
        switch (F) {
        case WeightFormat::Q4_0:
            return 8;
        case WeightFormat::Q5_0:
            return 16;
        case WeightFormat::Q3_K:
            return 4;
        case WeightFormat::Q6_K:
            return 32;
        case WeightFormat::Q2_0:
            return 1;
        case WeightFormat::Q8_0:
        case WeightFormat::IQ4_NL:
        case WeightFormat::IQ4_XS:
        case WeightFormat::MXFP4:
            return 128;
        default:
            return 0;
        }
    }

    template <WeightFormat F>
    static KERNELS_INLINE CodeRun runAt(const uint8_t* part, int run) {
        const auto place = Runs::template placeOf<F>(part, run);
        return codesAt<F>(place.block, place.run);
    }

    /// The same 16-bit word in each of the first 32 bytes, another in each of the last.
    static KERNELS_INLINE __m512i words(int first, int second) {
        constexpr auto kEach = int64_t{0x0001000100010001};
        return _mm512_setr_epi64(first * kEach, first * kEach, first * kEach, first * kEach,
                                 second * kEach, second * kEach, second * kEach, second * kEach);
    }
    static KERNELS_INLINE __m512i load32(const uint8_t* first, const uint8_t* second) {
        return _mm512_inserti64x4(
            _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(first))),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(second)), 1);
    }
    /// 16 bytes twice, then 16 others twice.
    static KERNELS_INLINE __m512i load16(const uint8_t* first, const uint8_t* second) {
        return _mm512_mask_broadcast_i32x4(
            V::repeat16(first), 0xff00, _mm_loadu_si128(reinterpret_cast<const __m128i*>(second)));
    }
    template <typename Fn>
    static KERNELS_INLINE __m512i table(Fn value) {
        alignas(16) uint8_t bytes[16];
        for (uint32_t code = 0; code < 16; ++code) {
            bytes[code] = static_cast<uint8_t>(value(code) + 128);
        }
        return V::repeat16(bytes);
    }
    /// `add` to the bytes whose bit is set, bits a and b of the first and the last 32.
    static KERNELS_INLINE __m512i
    addBit(__m512i codes, __m512i high, const CodeRun& a, const CodeRun& b, int add) {
        const __m512i bits = words(0x101 << a.high_shift, 0x101 << b.high_shift);
        return _mm512_mask_add_epi8(codes, _mm512_test_epi8_mask(high, bits), codes,
                                    _mm512_set1_epi8(static_cast<char>(add)));
    }

    /// Runs [run, run + 4) of a part. Two runs in a row have their low bits in 32 bytes, or in the
    /// halves of 16.
    template <WeightFormat F>
    static KERNELS_INLINE __m512i bytesOf(const uint8_t* part, int run) {
        const CodeRun a = runAt<F>(part, run);
        const CodeRun b = runAt<F>(part, run + 2);
        if constexpr (F == WeightFormat::Q8_0) {
            return _mm512_xor_si512(load32(a.low, b.low), _mm512_set1_epi8(-128));
        } else if constexpr (F == WeightFormat::Q2_0) { // four codes a byte
            __m512i codes =
                _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a.low)));
            codes = _mm512_or_si512(codes, _mm512_slli_epi32(codes, 12));
            codes = _mm512_or_si512(codes, _mm512_slli_epi32(codes, 6));
            return _mm512_and_si512(codes, _mm512_set1_epi8(3));
        } else if constexpr (F == WeightFormat::Q2_K || F == WeightFormat::Q3_K ||
                             F == WeightFormat::Q4_K || F == WeightFormat::Q5_K ||
                             F == WeightFormat::Q6_K) {
            constexpr int kMask = F == WeightFormat::Q2_K || F == WeightFormat::Q3_K ? 3 : 15;
            const __m512i low = _mm512_and_si512(
                _mm512_srlv_epi16(load32(a.low, b.low), words(a.low_shift, b.low_shift)),
                _mm512_set1_epi8(kMask));
            if constexpr (F == WeightFormat::Q2_K || F == WeightFormat::Q4_K) {
                return low;
            } else {
                const __m512i high = load32(a.high, b.high);
                if constexpr (F == WeightFormat::Q6_K) {
                    const __m512i two =
                        _mm512_and_si512(_mm512_srlv_epi16(high, words(a.high_shift, b.high_shift)),
                                         _mm512_set1_epi8(3));
                    return _mm512_or_si512(low, _mm512_slli_epi16(two, 4));
                } else {
                    return addBit(low, high, a, b, F == WeightFormat::Q3_K ? 4 : 16);
                }
            }
        } else {
            const __m512i shifts = _mm512_setr_epi64(0, 0, kFour, kFour, 0, 0, kFour, kFour);
            const __m512i low = _mm512_and_si512(_mm512_srlv_epi16(load16(a.low, b.low), shifts),
                                                 _mm512_set1_epi8(15));
            if constexpr (F == WeightFormat::Q5_0 || F == WeightFormat::Q5_1) {
                const uint64_t bits = a.bits | uint64_t{runAt<F>(part, run + 1).bits} << 16U |
                                      uint64_t{b.bits} << 32U |
                                      uint64_t{runAt<F>(part, run + 3).bits} << 48U;
                return _mm512_mask_add_epi8(low, bits, low, _mm512_set1_epi8(16));
            } else if constexpr (F == WeightFormat::IQ4_NL || F == WeightFormat::IQ4_XS) {
                return _mm512_shuffle_epi8(table(unevenCode), low);
            } else if constexpr (F == WeightFormat::MXFP4) {
                return _mm512_shuffle_epi8(table(doubledE2M1), low);
            } else {
                return low; // Q4_0, Q4_1
            }
        }
    }

    template <typename T>
    static KERNELS_INLINE T read(const uint8_t* at) {
        T value;
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    static KERNELS_INLINE __m512 half(const uint8_t* at) {
        return _mm512_set1_ps(_cvtsh_ss(read<uint16_t>(at)));
    }
    static KERNELS_INLINE __m512 fromBytes(__m128i bytes) {
        return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
    }
    /// Eight numbers, each for two runs.
    static KERNELS_INLINE __m512 twice(uint64_t bytes) {
        const __m128i eight = _mm_cvtsi64_si128(static_cast<int64_t>(bytes));
        return fromBytes(_mm_unpacklo_epi8(eight, eight));
    }
    /// The halves of eight blocks, each for two runs. Put together outside vector registers, whose
    /// ports are what is scarce.
    template <WeightFormat F>
    static KERNELS_INLINE __m512 halves(const uint8_t* at) {
        constexpr int64_t kBytes = BlockFormat<F>::kBytes;
        const auto four = [](const uint8_t* from) {
            return static_cast<int64_t>(read<uint16_t>(from) |
                                        uint64_t{read<uint16_t>(from + kBytes)} << 16U |
                                        uint64_t{read<uint16_t>(from + 2 * kBytes)} << 32U |
                                        uint64_t{read<uint16_t>(from + 3 * kBytes)} << 48U);
        };
        const __m128i eight = _mm_set_epi64x(four(at + 4 * kBytes), four(at));
        return _mm512_cvtph_ps(
            _mm256_set_m128i(_mm_unpackhi_epi16(eight, eight), _mm_unpacklo_epi16(eight, eight)));
    }

    /// What the runs of a whole part share: the values of rangeOf(), and the bias taken off.
    template <WeightFormat F>
    static KERNELS_INLINE void ranges(const uint8_t* at, BlockPart& out) {
        __m512 scale = _mm512_setzero_ps();
        __m512 offset = _mm512_setzero_ps();
        const __m128i low_half = _mm_set1_epi8(15);
        if constexpr (F == WeightFormat::MXFP4 || F == WeightFormat::IQ4_XS ||
                      F == WeightFormat::Q2_0) {
            for (int run = 0; run < kPartRuns; ++run) {
                Runs::template range<F>(Runs::template placeOf<F>(at, run), bias<F>(), run, out);
            }
            return;
        } else if constexpr (F == WeightFormat::Q2_K) {
            const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
            scale = V::mul(half(at + 80), fromBytes(_mm_and_si128(both, low_half)));
            offset =
                V::mul(half(at + 82), fromBytes(_mm_and_si128(_mm_srli_epi16(both, 4), low_half)));
            offset = V::sub(V::zero(), offset);
        } else if constexpr (F == WeightFormat::Q3_K) {
            const auto low = read<uint64_t>(at + 96);
            const uint64_t high = read<uint32_t>(at + 104);
            constexpr uint64_t kTwo = 0x0303030303030303U;
            constexpr uint64_t kLow = 0x0f0f0f0f0f0f0f0fU;
            const uint64_t first = (high | high << 30U) & kTwo;
            const uint64_t last = (high >> 4U | high >> 6U << 32U) & kTwo;
            const __m128i six =
                _mm_set_epi64x(static_cast<int64_t>((low >> 4U & kLow) | last << 4U),
                               static_cast<int64_t>((low & kLow) | first << 4U));
            scale = V::mul(half(at + 108), fromBytes(_mm_sub_epi8(six, _mm_set1_epi8(32))));
        } else if constexpr (F == WeightFormat::Q4_K || F == WeightFormat::Q5_K) {
            // As readPackedSix(), four groups at a time.
            const auto a = read<uint32_t>(at + 4);
            const auto b = read<uint32_t>(at + 8);
            const auto c = read<uint32_t>(at + 12);
            const auto six = [](uint32_t first, uint32_t last) {
                return (first & 0x3f3f3f3fU) |
                       uint64_t{(last & 0x0f0f0f0fU) | (first >> 2U & 0x30303030U)} << 32U;
            };
            scale = V::mul(half(at), twice(six(a, c)));
            offset = V::sub(V::zero(), V::mul(half(at + 2), twice(six(b, c >> 4U))));
        } else if constexpr (F == WeightFormat::Q6_K) {
            scale = V::mul(half(at + 208),
                           fromBytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 192))));
        } else {
            scale = halves<F>(at);
            if constexpr (hasOffset<F>()) {
                offset = halves<F>(at + 2);
            }
        }
        if constexpr (bias<F>() > 0) {
            offset = V::fnma(scale, V::set1(static_cast<float>(bias<F>())), offset);
        }
        V::store(out.scale, scale);
        V::store(out.offset, offset);
    }

    static constexpr int64_t kFour = 0x0004000400040004;
};

/// A converted row: for each 256 columns a plane of high bytes and one of low ones; a sum (fp32)
/// per 16 columns; the scale.
template <class Vec>
class BlockByteDot : public BlockDotPolicy<ByteBlockCodes<Vec>> {
    using Base = BlockDotPolicy<ByteBlockCodes<Vec>>;

public:
    using V = Vec;
    using F = typename V::F;
    using X = int8_t;

    static int64_t strideOf(int64_t cols) {
        return Base::partsIn(cols) * (2 * kPartValues + 4 * kPartRuns) + 64;
    }

    static void convert(const float* x, int64_t cols, int8_t* out) {
        const auto levels = Levels<V>::of(x, cols, 127.0F * 256.0F);
        float* sums = sumsOf(out, cols);
        for (int64_t k = 0; k < cols; k += kPartValues, out += 2 * kPartValues) {
            alignas(64) int16_t words[kPartValues];
            for (int64_t i = 0; i < kPartValues; i += 2 * V::kWidth) {
                V::storeLanes(words + i, levels.words(x + k + i, cols - k - i));
            }
            for (int64_t run = 0; run < kPartRuns; ++run) {
                int32_t sum = 0;
                for (int64_t i = 0; i < kRunValues; ++i) {
                    sum += words[run * kRunValues + i];
                }
                *sums++ = static_cast<float>(sum);
            }
            // The low byte has a sign, so that the high one is rounded.
            for (int64_t i = 0; i < kPartValues; ++i) {
                const int high = (words[i] + 128) >> 8;
                out[i] = static_cast<int8_t>(std::max(high, -128)); // below: infinite x
                out[kPartValues + i] = static_cast<int8_t>(words[i] - high * 256);
            }
        }
        *sums = levels.scale;
    }

    template <int R, int T>
    KERNELS_INLINE void rows(DotRows<X> at, F (&sums)[R][T]) const {
        static_assert(R == 1);
        constexpr int kChains = T == 1 ? 4 : (T == 2 ? 2 : 1);
        F acc[T][kChains];
        setZero(acc);
        const float* const run_sums = sumsOf(at.x, this->cols());
        const int64_t sum_stride = at.x_stride / static_cast<int64_t>(sizeof(float));
        this->eachPart(
            at.row, [&](const BlockPart& part, int64_t number) __attribute__((always_inline)) {
                const int8_t* const x = at.x + number * (2 * kPartValues);
                const F offset = V::load(part.offset);
                for (int t = 0; t < T; ++t) {
                    acc[t][0] = V::fma(
                        offset, V::load(run_sums + t * sum_stride + number * kPartRuns), acc[t][0]);
                }
                const F scales = V::load(part.scale);
#pragma GCC unroll 4
                for (int k = 0; k < kPartValues / 64; ++k) {
                    const __m512i codes = _mm512_load_si512(part.codes + 64 * k);
                    const F scale = _mm512_permutexvar_ps(
                        _mm512_add_epi32(quarter_, _mm512_set1_epi32(4 * k)), scales);
#pragma GCC unroll 8
                    for (int t = 0; t < T; ++t) {
                        const int8_t* const high = x + t * at.x_stride + 64 * k;
                        __m512i sum = _mm512_dpbusd_epi32(_mm512_setzero_si512(), codes,
                                                          _mm512_loadu_si512(high));
                        sum = _mm512_dpbusd_epi32(_mm512_slli_epi32(sum, 8), codes,
                                                  _mm512_loadu_si512(high + kPartValues));
                        F& to = acc[t][k % kChains];
                        to = V::fma(_mm512_cvtepi32_ps(sum), scale, to);
                    }
                }
            });
        for (int t = 0; t < T; ++t) {
            F sum = acc[t][0];
            for (int c = 1; c < kChains; ++c) {
                sum = V::add(sum, acc[t][c]);
            }
            const float scale =
                *(run_sums + t * sum_stride + Base::partsIn(this->cols()) * kPartRuns);
            sums[0][t] = V::mul(sum, V::set1(scale));
        }
    }

private:
    template <typename Byte>
    static KERNELS_INLINE auto sumsOf(Byte* x, int64_t cols) {
        using Float = std::conditional_t<std::is_const_v<Byte>, const float, float>;
        return reinterpret_cast<Float*>(x + Base::partsIn(cols) * (2 * kPartValues));
    }

    /// The run of each four columns.
    __m512i quarter_ = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
};

} // namespace kernels::cpu
