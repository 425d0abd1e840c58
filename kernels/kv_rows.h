// SPDX-License-Identifier: Apache-2.0
// How a KV cache stores one token's keys (or values) [num_kv_heads, head_dim] of one layer: a row.
// Codes come first, head after head; a type with scales has one fp32 scale per head behind all
// codes: value = code * scale, scale = largest magnitude of the head / 127, code = value / scale
// rounded to nearest even (-127 to 127). Attention multiplies codes: the
// scale of a key belongs to its score, the scale of a value to its softmax weight.
//
// A head that holds NaN or infinity has such a scale, so that it stays not finite. Shared with
// device code: plain data and constexpr functions alone.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define BELFRY_KV_FUNCTION __host__ __device__
#else
#define BELFRY_KV_FUNCTION
#endif

namespace kernels {

enum class KvType : uint8_t { F32 = 1, F16, BF16, Q8 };

BELFRY_KV_FUNCTION constexpr bool hasScales(KvType type) {
    return type == KvType::Q8;
}
/// Bytes of a code: of an element where there are no scales.
BELFRY_KV_FUNCTION constexpr int64_t kvCodeBytes(KvType type) {
    return type == KvType::F32 ? 4 : type == KvType::Q8 ? 1 : 2;
}
/// Bytes of a row's codes, up to its scales.
BELFRY_KV_FUNCTION constexpr int64_t kvScalesAt(KvType type, int64_t heads, int64_t head_dim) {
    return (heads * head_dim * kvCodeBytes(type) + 3) / 4 * 4;
}
/// Bytes of a row. With scales a multiple of 16, so that codes are read in whole pieces.
BELFRY_KV_FUNCTION constexpr int64_t kvRowBytes(KvType type, int64_t heads, int64_t head_dim) {
    return hasScales(type) ? (kvScalesAt(type, heads, head_dim) + 4 * heads + 15) / 16 * 16
                           : heads * head_dim * kvCodeBytes(type);
}

/// Scale of a head whose largest magnitude is `largest`, and what its values are multiplied with
/// before they are rounded: 0 where there is nothing to divide by, also of NaN and infinity.
BELFRY_KV_FUNCTION constexpr float kvScale(float largest) {
    return largest / 127.0F;
}
BELFRY_KV_FUNCTION constexpr float kvInverse(float largest) {
    return largest > 1e-35F ? 127.0F / largest : 0.0F;
}
/// Added to a value below 2^22, it leaves the nearest integer in the lowest bits.
inline constexpr float kKvRounding = 12582912.0F;

} // namespace kernels
