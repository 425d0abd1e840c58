// SPDX-License-Identifier: Apache-2.0
// Products of 4-bit and 8-bit weights in integers on tensor cores, exact up to the rounding of both
// sides to fixed point.
//
// The input row is 14 bits and a sign against the largest value of its 64 columns, as two signed
// bytes: q = 128 high + low. A 4-bit code stands for a value of 14 bits, v = 128 high + low with
// v / 8191 the code's value to 6e-5, -1, 0 and 1 exactly. One multiplication of the tensor cores
// has room for eight columns; two hold the input's planes, and the code's two planes go one after
// the other.
//
// A look-up of four codes in a table of 16 bytes is two byte permutations: selectors are the codes
// themselves, and a selector with its top bit set answers with a byte's sign instead of the byte.
// So the table's lower half answers codes below 8 and its sign else, and the upper half, asked with
// the top bits turned round, the other way; the tensor cores add both. The tables allow for the
// signs.
#pragma once

#include "kernels/cuda/device/common.cuh"

namespace kernels::cuda {

/// What a weight's value is multiplied by: v = 8191 value.
constexpr float kPlaneScale = 8191.0F;
/// Largest |q| of an input value.
constexpr int kInputLevels = 127 * 128;

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
        return 0;
    }
    double value = static_cast<double>((b & 0x7fffffU) | 0x800000U);
    for (int i = exponent; i < 150; ++i) {
        value /= 2;
    }
    const int rounded = static_cast<int>(value * kPlaneScale + 0.5);
    return (b >> 31) != 0 ? -rounded : rounded;
}

constexpr int floorHigh(int value) {
    return value >= 0 ? value / 128 : -((-value + 127) / 128);
}

constexpr CodePlanes makePlanes(const uint32_t (&bits)[16]) {
    CodePlanes planes{};
    for (int i = 0; i < 8; ++i) {
        const int lower = floorHigh(planeValue(bits, i));
        const int upper = floorHigh(planeValue(bits, i + 8));
        // The other half's sign byte is added to each.
        const int bytes[2] = {lower + (upper < 0 ? 1 : 0), upper + (lower < 0 ? 1 : 0)};
        for (int half = 0; half < 2; ++half) {
            const int code = i + 8 * half;
            const int low = planeValue(bits, code) - 128 * (half == 0 ? lower : upper);
            planes.high[code / 4] |= (static_cast<uint32_t>(bytes[half]) & 255U)
                                     << (8 * (code % 4));
            planes.low[code / 4] |= static_cast<uint32_t>(low) << (8 * (code % 4));
        }
    }
    return planes;
}

/// What the tensor cores will see for a code: both halves' answers.
constexpr int planeAnswer(const uint32_t (&table)[4], int code) {
    int sum = 0;
    for (int half = 0; half < 2; ++half) {
        const int entry = (code & 7) + 8 * half;
        const uint32_t byte = (table[entry / 4] >> (8 * (entry % 4))) & 255U;
        const int value = byte < 128 ? static_cast<int>(byte) : static_cast<int>(byte) - 256;
        sum += (code >> 3) == half ? value : value < 0 ? -1 : 0;
    }
    return sum;
}
constexpr bool areRight(const CodePlanes& planes, const uint32_t (&bits)[16]) {
    for (int code = 0; code < 16; ++code) {
        if (128 * planeAnswer(planes.high, code) + planeAnswer(planes.low, code) !=
            planeValue(bits, code)) {
            return false;
        }
    }
    return true;
}
constexpr CodePlanes kNf4PlanesValue = makePlanes(cpu::kNf4Bits);
constexpr CodePlanes kFp4PlanesValue = makePlanes(cpu::kFp4Bits);
static_assert(areRight(kNf4PlanesValue, cpu::kNf4Bits), "NF4");
static_assert(areRight(kFp4PlanesValue, cpu::kFp4Bits), "FP4");

static __device__ __constant__ CodePlanes kNf4Planes = kNf4PlanesValue;
static __device__ __constant__ CodePlanes kFp4Planes = kFp4PlanesValue;

/// Where this lane finds the input and the sums of its rows.
struct PlaneInput {
    uint32_t at;     ///< Shared address of the lane's bytes of block 0.
    uint32_t stride; ///< From one block of 64 columns to the next; 0 for lanes of empty columns.
    uint32_t half;   ///< From the first to the second 32 columns of a block.
    uint32_t scales; ///< Shared address: fp32 of each block.
};

/// 16 rows x 64 columns of 4-bit codes as sums of products: the table's lower half in [0], its
/// upper half in [1].
struct CodeSums {
    int high[2][4] = {};
    int low[2][4] = {};

    /// first, second: the lane's 16 codes of rows g and g + 8; x: its 16 bytes of the input.
    __device__ __forceinline__ void
    multiply(const CodePlanes& planes, const uint2& first, const uint2& second, const uint4& x) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint32_t wa = i == 0 ? first.x : first.y;
            const uint32_t wb = i == 0 ? second.x : second.y;
            const uint32_t b0 = i == 0 ? x.x : x.z;
            const uint32_t b1 = i == 0 ? x.y : x.w;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const uint32_t turn = half == 0 ? 0 : 0x88888888U;
                const uint32_t codes[4] = {wa ^ turn, wb ^ turn, (wa ^ turn) >> 16,
                                           (wb ^ turn) >> 16};
                uint32_t a[4];
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    a[r] = permuteBytes(planes.high[2 * half], planes.high[2 * half + 1], codes[r]);
                }
                multiplyAddBytes(high[half], a, b0, b1);
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    a[r] = permuteBytes(planes.low[2 * half], planes.low[2 * half + 1], codes[r]);
                }
                multiplyAddBytes(low[half], a, b0, b1);
            }
        }
    }

    /// Adds to the sums of rows g and g + 8, which lanes with t = 0 hold; scale: absmax of both.
    __device__ __forceinline__ void
    addTo(float (&sums)[2], float x_scale, const uint2& scale) const {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            // Columns 0 and 1: the input's planes. At most 64 x 8191 x 128: 27 bits.
            const auto by_high = static_cast<float>((high[0][2 * r] + high[1][2 * r]) * 128 +
                                                    low[0][2 * r] + low[1][2 * r]);
            const auto by_low = static_cast<float>((high[0][2 * r + 1] + high[1][2 * r + 1]) * 128 +
                                                   low[0][2 * r + 1] + low[1][2 * r + 1]);
            sums[r] = fmaf(fmaf(by_high, 128.0F, by_low) * x_scale,
                           __uint_as_float(r == 0 ? scale.x : scale.y), sums[r]);
        }
    }
};

/// 16 rows x 32 columns of signed bytes; the rows' scales come at the end.
__device__ __forceinline__ void
multiplyUnit8(uint32_t at, uint32_t rows8, const uint2& x, float x_scale, float (&sums)[2]) {
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
