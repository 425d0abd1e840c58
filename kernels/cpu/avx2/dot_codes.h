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

#include "kernels/cpu/simd/block_scales.h"
#include "kernels/cpu/simd/dot.h"
#include "kernels/cpu/simd/dot_integers.h"

#include <algorithm>

namespace kernels::cpu {

/// Columns that share a scale.
constexpr int64_t kAvx2Piece = 512;

/// Nf4 and Fp4 with blocks of a multiple of 64 that do not cross rows (BlockScales::canServe).
class FourBitAvx2ByteDot
    : public ByteDot<Avx2, PlaneFormat{.low_bits = 7, .most_high = 64, .piece = kAvx2Piece}> {
public:
    static constexpr int kMostTokens = 1;

    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        openCodes(w);
        is_nested_ = w.absmax == nullptr && w.block_size == kScaleStep;
        return is_nested_ || scales_.open(w, slot);
    }

    template <int R, int T>
    KERNELS_INLINE void rows(DotRows<X> at, F (&sums)[R][T]) const {
        static_assert(R == 1 && T == 1);
        const int64_t blocks = weight_.cols / kStep;
        const float* block_sums = sumsOf(at.x);
        const float* piece_scales = scalesOf(at.x);
        const uint8_t* codes = codesOf(at.row);
        const float* scales = is_nested_ ? nullptr : scales_.ofRow(at.row, at.k, at.end, 0);
        F sum = V::zero();
        for (int64_t block = 0; block < blocks; block += kPieceBlocks) {
            const int64_t here = std::min(kPieceBlocks, blocks - block);
            const Piece piece{codes + block * (kStep / 2), at.x + block * (2 * kStep),
                              block_sums + block, here};
            const F part = is_nested_ ? nestedPiece(piece, at.row * blocks + block)
                                      : multiply(piece, [scales, block](int64_t i) {
                                            return V::set1(scales[block + i]);
                                        });
            sum = V::fma(part, V::set1(piece_scales[block / kPieceBlocks]), sum);
        }
        sums[0][0] = V::mul(sum, V::set1(per_step_));
    }

private:
    static_assert(kStep == kScaleStep);
    static constexpr int64_t kPieceBlocks = kAvx2Piece / kStep;
    static constexpr int64_t kCodesAhead = 4096;

    /// 64 products: the byte of each code times one plane, in 32 bits. unit: 128 for the high
    /// plane.
    KERNELS_INLINE __m256i planeProducts(__m256i even,
                                         __m256i odd,
                                         const int8_t* plane,
                                         __m256i unit) const {
        return _mm256_add_epi32(
            _mm256_madd_epi16(_mm256_maddubs_epi16(even, V::loadLanes(plane)), unit),
            _mm256_madd_epi16(_mm256_maddubs_epi16(odd, V::loadLanes(plane + 32)), unit));
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
        const __m256i packed = V::loadLanes(codes + i * kBytes);
        // High nibble of a byte = even element.
        const __m256i even =
            _mm256_shuffle_epi8(table_, _mm256_and_si256(_mm256_srli_epi16(packed, 4), nibble));
        const __m256i odd = _mm256_shuffle_epi8(table_, _mm256_and_si256(packed, nibble));
        const int8_t* planes = x + i * (2 * kStep);
        return V::toFloat(
            _mm256_add_epi32(planeProducts(even, odd, planes, _mm256_set1_epi16(128)),
                             planeProducts(even, odd, planes + kStep, _mm256_set1_epi16(1))));
    }

    BlockScales<V> scales_;
    bool is_nested_ = false;
};

} // namespace kernels::cpu
