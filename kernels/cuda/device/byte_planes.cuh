// SPDX-License-Identifier: Apache-2.0
// Products of 4-bit and 8-bit weights in integers on tensor cores, exact up to the rounding of both
// sides to fixed point.
//
// The input row is 14 bits and a sign against the largest value of its 64 columns, as two signed
// bytes: q = 128 high + low. A 4-bit code stands for v = 8192 + 8191 value, again 128 high + low: its
// value to 6e-5, and -1, 0 and 1 exactly. What the 8192 adds to a sum is 8192 times the sum of the
// inputs, known for each block of columns. One multiplication of the tensor cores has room for eight
// columns; two hold the input's planes, and the code's two planes go one after the other.
//
// A look-up of four codes in a table of 16 bytes below 128 is two byte permutations: selectors are
// the codes themselves, and a selector with its top bit set answers with a byte's sign, zero, instead
// of the byte. So the table's lower half answers codes below 8 and zero else, and the upper half,
// asked with the top bits turned round, the other way.
#pragma once

#include "kernels/cuda/device/common.cuh"

namespace kernels::cuda {

/// What a weight's value is multiplied by: v = 8191 value.
constexpr float kPlaneScale = 8191.0F;
/// Largest |q| of an input value.
constexpr int kInputLevels = 127 * 128;

/// What stands for zero.
constexpr int kPlaneZero = 8192;

/// Bytes of a look-up table in two halves of eight codes.
struct CodePlanes {
    uint32_t high[4]; ///< Codes 0-3, 4-7, 8-11, 12-15.
    uint32_t low[4];
};

constexpr int planeValue(const uint32_t (&bits)[16], int code) {
    // The codes are normal numbers or zeros.
    const uint32_t b = bits[code];
    const int exponent = static_cast<int>((b >> 23) & 255U);
    if (exponent == 0) {
        return kPlaneZero;
    }
    double value = static_cast<double>((b & 0x7fffffU) | 0x800000U);
    for (int i = exponent; i < 150; ++i) {
        value /= 2;
    }
    const int rounded = static_cast<int>(value * kPlaneScale + 0.5);
    return (b >> 31) != 0 ? kPlaneZero - rounded : kPlaneZero + rounded;
}

constexpr CodePlanes makePlanes(const uint32_t (&bits)[16]) {
    CodePlanes planes{};
    for (int code = 0; code < 16; ++code) {
        const auto value = static_cast<uint32_t>(planeValue(bits, code));
        planes.high[code / 4] |= (value / 128) << (8 * (code % 4));
        planes.low[code / 4] |= (value % 128) << (8 * (code % 4));
    }
    return planes;
}
constexpr CodePlanes kNf4PlanesValue = makePlanes(cpu::kNf4Bits);
constexpr CodePlanes kFp4PlanesValue = makePlanes(cpu::kFp4Bits);
static_assert(planeValue(cpu::kNf4Bits, 0) == 1 && planeValue(cpu::kNf4Bits, 15) == 16383 &&
                  planeValue(cpu::kFp4Bits, 11) == 1 && planeValue(cpu::kFp4Bits, 3) == 16383,
              "both planes below 128");

static __device__ __constant__ CodePlanes kNf4Planes = kNf4PlanesValue;
static __device__ __constant__ CodePlanes kFp4Planes = kFp4PlanesValue;

/// Where this lane finds the input and the sums of its rows.
struct PlaneInput {
    uint32_t at;      ///< Shared address of the lane's bytes of block 0.
    uint32_t stride;  ///< From one block of 64 columns to the next; 0 for lanes of empty columns.
    uint32_t half;    ///< From the first to the second 32 columns of a block.
    uint32_t scales;  ///< Shared address: InputBlock of each block.
};

/// What else is known of 64 columns of the input.
struct alignas(16) InputBlock {
    float scale;    ///< Of q.
    int high_zeros; ///< -8192 times the sum of the high bytes;
    int low_zeros;  ///< of the low ones.
    int pad;
};

/// 16 rows x 64 columns of 4-bit codes as sums of products.
struct CodeSums {
    int high[4] = {};
    int low[4] = {};

    /// first, second: the lane's 16 codes of rows g and g + 8; x: its 16 bytes of the input.
    __device__ __forceinline__ void
    multiply(const CodePlanes& planes, const uint2& first, const uint2& second, const uint4& x) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint32_t wa = i == 0 ? first.x : first.y;
            const uint32_t wb = i == 0 ? second.x : second.y;
            const uint32_t b0 = i == 0 ? x.x : x.z;
            const uint32_t b1 = i == 0 ? x.y : x.w;
            const uint32_t na = wa ^ 0x88888888U;
            const uint32_t nb = wb ^ 0x88888888U;
            const uint32_t lower[4] = {wa, wb, wa >> 16, wb >> 16};
            const uint32_t upper[4] = {na, nb, na >> 16, nb >> 16};
            uint32_t a[4];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                a[r] = permuteBytes(planes.high[0], planes.high[1], lower[r]) |
                       permuteBytes(planes.high[2], planes.high[3], upper[r]);
            }
            multiplyAddBytes(high, a, b0, b1);
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                a[r] = permuteBytes(planes.low[0], planes.low[1], lower[r]) |
                       permuteBytes(planes.low[2], planes.low[3], upper[r]);
            }
            multiplyAddBytes(low, a, b0, b1);
        }
    }

    /// Adds to the sums of rows g and g + 8, which lanes with t = 0 hold; block: InputBlock's bits;
    /// scale: absmax of both rows.
    __device__ __forceinline__ void addTo(float (&sums)[2], const uint4& block, const uint2& scale) const {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            // Columns 0 and 1: the input's planes. At most 64 x 8191 x 128: 27 bits.
            const auto by_high = static_cast<float>(high[2 * r] * 128 + low[2 * r] +
                                                    static_cast<int>(block.y));
            const auto by_low = static_cast<float>(high[2 * r + 1] * 128 + low[2 * r + 1] +
                                                   static_cast<int>(block.z));
            sums[r] = fmaf(fmaf(by_high, 128.0F, by_low) * __uint_as_float(block.x),
                           __uint_as_float(r == 0 ? scale.x : scale.y), sums[r]);
        }
    }
};

/// 16 rows x 32 columns of signed bytes; the rows' scales come at the end.
__device__ __forceinline__ void multiplyUnit8(
    uint32_t at, uint32_t rows8, const uint2& x, float x_scale, float (&sums)[2]) {
    const uint2 first = loadShared8(at);
    const uint2 second = loadShared8(at + rows8);
    int c[4] = {};
    const uint32_t a[4] = {first.x, second.x, first.y, second.y};
    multiplyAddBytes(c, a, x.x, x.y);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        // At most 32 x 128 x 16256: 26 bits.
        sums[r] = fmaf(static_cast<float>(c[2 * r] * 128 + c[2 * r + 1]), x_scale, sums[r]);
    }
}

} // namespace kernels::cuda
