// SPDX-License-Identifier: Apache-2.0
// Decode products of 4-bit rows with AVX2, one token: VPSHUFB looks 32 codes up as bytes and
// VPMADDUBSW multiplies them with activations of 14 bits in two planes of bytes. That takes 18
// vector operations per 64 weights, two of them look-ups, where fp32 products (dot_four_bit.h) take
// 28 with 16 on the one port that many processors have for them.
//
// The bytes are those of codeBytes(), 0 to 255; the planes go from -64 to 64, so that a sum of two
// products fits 16 bits. Activations are (128 high + low) times one scale per 512 columns; their
// rounding is 1/16384 of the largest of those. Products are summed exactly per block and lane; what
// the bytes' zero adds is taken off with the sum of each block's activations.
#pragma once

#include "kernels/cpu/code_tables.h"
#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/vec_avx2.h"

#include <algorithm>
#include <limits>

namespace kernels::cpu {

/// Nf4 and Fp4 with blocks of a multiple of 64 that do not cross rows (BlockScales::canServe).
class FourBitAvx2ByteDot {
public:
    using V = Avx2;
    using F = V::F;
    using X = int8_t;
    static constexpr int64_t kStep = kScaleStep;
    static constexpr int kMostTokens = 1;

    /// Bytes of one converted row: planes, a sum per block (fp32), a scale per piece (fp32).
    static int64_t strideOf(int64_t cols) {
        const int64_t floats = cols / kStep + (cols + kPiece - 1) / kPiece;
        return 2 * cols + (4 * floats + 63) / 64 * 64;
    }

    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        weight_ = w;
        cols_ = w.cols;
        const CodeBytes bytes = codeBytes(w.format);
        table_ = _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.entry)));
        zero_ = bytes.zero;
        per_step_ = 1.0F / bytes.step;
        is_nested_ = w.absmax == nullptr && w.block_size == kScaleStep;
        return is_nested_ || scales_.open(w, slot);
    }

    [[nodiscard]] int64_t cols() const { return cols_; }

    /// Per 64 elements 32 bytes each: high of the even ones, of the odd ones, low of the even ones,
    /// of the odd ones.
    static void convert(const float* x, int64_t cols, int8_t* out) {
        auto* const sums = reinterpret_cast<float*>(out + 2 * cols);
        float* scales = sums + cols / kStep;
        for (int64_t first = 0; first < cols; first += kPiece) {
            const int64_t end = std::min(first + kPiece, cols);
            F most = V::zero();
            F is_nan = V::zero();
            for (int64_t k = first; k < end; k += V::kWidth) { // a multiple of 64
                const F v = V::load(x + k);
                most = V::max(most, V::abs(v));
                is_nan = _mm256_or_ps(is_nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
            }
            const float largest = V::maxOf(most);
            *scales++ = _mm256_movemask_ps(is_nan) != 0 ? std::numeric_limits<float>::quiet_NaN()
                                                        : largest / kLevels;
            const F inverse = V::set1(largest > 0.0F ? kLevels / largest : 0.0F);
            for (int64_t k = first; k < end; k += kStep) {
                __m256i high[2];
                __m256i low[2];
                __m256i sum = _mm256_setzero_si256();
                for (int64_t half = 0; half < 2; ++half) {
                    const __m256i a = integers(x + k + 32 * half, inverse);
                    const __m256i b = integers(x + k + 32 * half + 16, inverse);
                    const __m256i high_a = upper(a);
                    const __m256i high_b = upper(b);
                    high[half] = inOrder(_mm256_packs_epi16(high_a, high_b));
                    low[half] = inOrder(_mm256_packs_epi16(lower(a, high_a), lower(b, high_b)));
                    const __m256i ones = _mm256_set1_epi16(1);
                    sum = _mm256_add_epi32(sum, _mm256_add_epi32(_mm256_madd_epi16(a, ones),
                                                                 _mm256_madd_epi16(b, ones)));
                }
                sums[k / kStep] = V::sum(_mm256_cvtepi32_ps(sum));
                int8_t* to = out + 2 * k;
                store(to, evenBytes(high));
                store(to + 32, oddBytes(high));
                store(to + 64, evenBytes(low));
                store(to + 96, oddBytes(low));
            }
        }
    }

    static constexpr int kTogether(int /*tokens*/) { return 1; }
    static constexpr bool hasPieces(int /*tokens*/) { return false; }

    template <int R, int T>
    KERNELS_INLINE void rows(int64_t row,
                             int64_t k,
                             int64_t end,
                             const int8_t* x,
                             int64_t /*x_stride*/,
                             F (&row_sums)[R][T]) const {
        static_assert(R == 1 && T == 1);
        const int64_t blocks = cols_ / kStep;
        const auto* block_sums = reinterpret_cast<const float*>(x + 2 * cols_);
        const float* piece_scales = block_sums + blocks;
        const uint8_t* codes = static_cast<const uint8_t*>(weight_.data) + row * (cols_ / 2);
        const float* scales = is_nested_ ? nullptr : scales_.ofRow(row, k, end, 0);
        F sum = V::zero();
        for (int64_t block = 0; block < blocks; block += kPieceBlocks) {
            const int64_t here = std::min(kPieceBlocks, blocks - block);
            const Piece piece{codes + block * (kStep / 2), x + block * (2 * kStep),
                              block_sums + block, here};
            const F part = is_nested_ ? nestedPiece(piece, row * blocks + block)
                                      : multiply(piece, [scales, block](int64_t i) {
                                            return V::set1(scales[block + i]);
                                        });
            sum = V::fma(part, V::set1(piece_scales[block / kPieceBlocks]), sum);
        }
        row_sums[0][0] = V::mul(sum, V::set1(per_step_));
    }

private:
    static constexpr int64_t kPiece = 512; ///< Columns that share a scale.
    static constexpr int64_t kPieceBlocks = kPiece / kStep;
    static constexpr float kLevels = 8192.0F; ///< 64 * 128.
    static constexpr int64_t kCodesAhead = 4096;

    /// 16 activations as integers of 16 bits.
    static KERNELS_INLINE __m256i integers(const float* x, F inverse) {
        return inOrder(
            _mm256_packs_epi32(_mm256_cvtps_epi32(V::mul(V::load(x), inverse)),
                               _mm256_cvtps_epi32(V::mul(V::load(x + V::kWidth), inverse))));
    }
    /// Undoes that packing takes the two operands' 16 bytes in turns.
    static KERNELS_INLINE __m256i inOrder(__m256i packed) {
        return _mm256_permute4x64_epi64(packed, 0xd8);
    }
    /// What 128 is multiplied with when the low byte has a sign.
    static KERNELS_INLINE __m256i upper(__m256i v) {
        return _mm256_srai_epi16(_mm256_add_epi16(v, _mm256_set1_epi16(64)), 7);
    }
    static KERNELS_INLINE __m256i lower(__m256i v, __m256i high) {
        return _mm256_sub_epi16(v, _mm256_slli_epi16(high, 7));
    }
    static KERNELS_INLINE __m256i evenBytes(const __m256i (&v)[2]) {
        const __m256i bytes = _mm256_set1_epi16(255);
        return inOrder(
            _mm256_packus_epi16(_mm256_and_si256(v[0], bytes), _mm256_and_si256(v[1], bytes)));
    }
    static KERNELS_INLINE __m256i oddBytes(const __m256i (&v)[2]) {
        return inOrder(_mm256_packus_epi16(_mm256_srli_epi16(v[0], 8), _mm256_srli_epi16(v[1], 8)));
    }
    static KERNELS_INLINE void store(int8_t* to, __m256i v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
    }
    static KERNELS_INLINE __m256i load(const void* from) {
        return _mm256_loadu_si256(static_cast<const __m256i*>(from));
    }

    /// 64 products: the byte of each code times one plane, in 32 bits. unit: 128 for the high
    /// plane.
    KERNELS_INLINE __m256i planeProducts(__m256i even,
                                         __m256i odd,
                                         const int8_t* plane,
                                         __m256i unit) const {
        return _mm256_add_epi32(
            _mm256_madd_epi16(_mm256_maddubs_epi16(even, load(plane)), unit),
            _mm256_madd_epi16(_mm256_maddubs_epi16(odd, load(plane + 32)), unit));
    }

    /// Blocks of a row whose activations share a scale.
    struct Piece {
        const uint8_t* codes;
        const int8_t* x;
        const float* sums; ///< Sums of the activations of each block.
        int64_t blocks;
    };

    /// Products of a piece, not yet times the scale of its activations. scaleOf(i): of block i.
    template <typename ScaleOf>
    KERNELS_INLINE F multiply(const Piece& piece, ScaleOf scaleOf) const {
        F sum = V::zero();
        F activations = V::zero(); // the same in all lanes
        const auto add = [&](int64_t i) {
            const F scale = scaleOf(i);
            sum = V::fma(products(piece.codes, piece.x, i), scale, sum);
            activations = V::fma(scale, V::set1(piece.sums[i]), activations);
        };
        if (piece.blocks == kPieceBlocks) { // constant length: a quarter fewer instructions
#pragma GCC unroll 8
            for (int64_t i = 0; i < kPieceBlocks; ++i) {
                add(i);
            }
        } else {
            for (int64_t i = 0; i < piece.blocks; ++i) {
                add(i);
            }
        }
        return V::fma(activations, V::set1(zero_ * (-1.0F / V::kWidth)), sum);
    }

    /// first: block of the tensor that the piece begins with.
    KERNELS_INLINE F nestedPiece(const Piece& piece, int64_t first) const {
        const uint8_t* const codes = weight_.absmax_q + first;
        const float* const values = weight_.nested_code;
        const F offset = V::set1(weight_.nested_offset);
        if (first % kNestedBlocks + piece.blocks <= kNestedBlocks) {
            const F factor = V::set1(weight_.nested_absmax[first / kNestedBlocks]);
            return multiply(piece, [=](int64_t i) {
                return V::fma(V::set1(values[codes[i]]), factor, offset);
            });
        }
        const float* const factors = weight_.nested_absmax;
        return multiply(piece, [=](int64_t i) {
            const F factor = V::set1(factors[(first + i) / kNestedBlocks]);
            return V::fma(V::set1(values[codes[i]]), factor, offset);
        });
    }

    /// 64 products, those of block i from `codes` and `x` on.
    KERNELS_INLINE F products(const uint8_t* codes, const int8_t* x, int64_t i) const {
        constexpr int64_t kBytes = kStep / 2;
        const __m256i nibble = _mm256_set1_epi8(15);
        if (i % 2 == 0) { // once a line
            _mm_prefetch(codes + i * kBytes + kCodesAhead, _MM_HINT_T0);
        }
        const __m256i packed = load(codes + i * kBytes);
        // High nibble of a byte = even element.
        const __m256i even =
            _mm256_shuffle_epi8(table_, _mm256_and_si256(_mm256_srli_epi16(packed, 4), nibble));
        const __m256i odd = _mm256_shuffle_epi8(table_, _mm256_and_si256(packed, nibble));
        const int8_t* planes = x + i * (2 * kStep);
        return _mm256_cvtepi32_ps(
            _mm256_add_epi32(planeProducts(even, odd, planes, _mm256_set1_epi16(128)),
                             planeProducts(even, odd, planes + kStep, _mm256_set1_epi16(1))));
    }

    WeightView weight_;
    int64_t cols_ = 0;
    __m256i table_{};
    float zero_ = 0.0F;
    float per_step_ = 0.0F;
    BlockScales<V> scales_;
    bool is_nested_ = false;
};

} // namespace kernels::cpu
