// SPDX-License-Identifier: Apache-2.0
// Conversions between fp32 and the 16-bit types of checkpoints, round to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace engine {

inline float bf16ToFloat(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Round to nearest even; NaN stays a (quiet) NaN.
inline uint16_t floatToBf16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return static_cast<uint16_t>((bits >> 16) | 0x0040U);
    }
    return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

inline float roundToBf16(float value) {
    return bf16ToFloat(floatToBf16(value));
}

inline float f16ToFloat(uint16_t h) {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000U) << 16;
    const uint32_t exponent = (h >> 10) & 0x1fU;
    const uint32_t mantissa = h & 0x3ffU;
    if (exponent == 0) {
        const float magnitude = static_cast<float>(mantissa) * 0x1.0p-24F;
        return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
    }
    if (exponent == 31) {
        return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
    }
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (mantissa << 13));
}

inline uint16_t floatToF16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000U);
    const uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude >= 0x47800000U) { // >= 65536, infinity or NaN
        return static_cast<uint16_t>(sign | (magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U));
    }
    if (magnitude < 0x38800000U) { // subnormal half: let fp32 addition do the rounding
        const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
        return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000U));
    }
    const uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
    return static_cast<uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

} // namespace engine
