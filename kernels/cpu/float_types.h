// SPDX-License-Identifier: Apache-2.0
// Scalar conversions between fp32 and the 16-bit types, round to nearest even, and element access
// by DType. The one set of conversions: engine/base/float_types.h lends it to the engine.
#pragma once

#include "kernels/views.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace kernels::cpu {

inline float bf16ToFloat(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Round to nearest even; NaN stays a quiet NaN.
inline uint16_t floatToBf16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return static_cast<uint16_t>((bits >> 16) | 0x0040U);
    }
    return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

inline float f16ToFloat(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
    const uint32_t exponent = (half >> 10) & 0x1fU;
    const uint32_t mantissa = half & 0x3ffU;
    if (exponent == 0) { // zero or subnormal: mantissa * 2^-24 is exact in fp32
        const float magnitude = static_cast<float>(mantissa) * 0x1.0p-24F;
        return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
    }
    const uint32_t exponent_bits = exponent == 31 ? 0xffU : exponent + 112U;
    return std::bit_cast<float>(sign | (exponent_bits << 23) | (mantissa << 13));
}

/// Round to nearest even; values of 65520 and more become infinity, NaN stays a quiet NaN.
inline uint16_t floatToF16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000U);
    const uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude >= 0x47800000U) { // 65536 and more, infinity, NaN
        return static_cast<uint16_t>(sign | (magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U));
    }
    if (magnitude < 0x38800000U) { // below 2^-14: adding 0.5 aligns the bits and rounds them
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000U));
    }
    const uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

/// `value` rounded to `type` and back.
inline float roundTo(DType type, float value) {
    switch (type) {
    case DType::F16:
        return f16ToFloat(floatToF16(value));
    case DType::BF16:
        return bf16ToFloat(floatToBf16(value));
    case DType::F32:
        break;
    }
    return value;
}

/// Element `index` of an array of `type`.
inline float loadElement(const void* data, DType type, int64_t index) {
    if (type == DType::F32) {
        return static_cast<const float*>(data)[index];
    }
    const uint16_t bits = static_cast<const uint16_t*>(data)[index];
    return type == DType::F16 ? f16ToFloat(bits) : bf16ToFloat(bits);
}

inline void storeElement(void* data, DType type, int64_t index, float value) {
    if (type == DType::F32) {
        static_cast<float*>(data)[index] = value;
        return;
    }
    static_cast<uint16_t*>(data)[index] =
        type == DType::F16 ? floatToF16(value) : floatToBf16(value);
}

inline int64_t elementSize(DType type) {
    return type == DType::F32 ? 4 : 2;
}

} // namespace kernels::cpu
