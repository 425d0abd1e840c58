// SPDX-License-Identifier: Apache-2.0
// Rows of a KV cache on the card (kernels/kv_rows.h): codes of 8 bits and their scales.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

#include <type_traits>

namespace kernels::cuda {

/// Eight codes, or eight bf16.
template <bool HAS_SCALES>
using KvEight = std::conditional_t<HAS_SCALES, uint2, uint4>;

/// Row `row` of keys or values.
__device__ __forceinline__ const char* kvRow(const KvRowArgs& rows, const void* data, int64_t row) {
    return static_cast<const char*>(data) + row * rows.bytes;
}

/// Scale of a head of a row; the type has such.
__device__ __forceinline__ float
kvScaleOf(const KvRowArgs& rows, const void* data, int64_t row, int kv_head) {
    return *reinterpret_cast<const float*>(kvRow(rows, data, row) + rows.scales_at + 4 * kv_head);
}

/// Element d of a head of dim elements, of any type.
__device__ __forceinline__ float
kvValue(const KvRowArgs& rows, const void* data, int64_t row, int kv_head, int dim, int d) {
    const char* const at = kvRow(rows, data, row);
    if (rows.scales_at == 0) {
        return loadElement(at, rows.type, kv_head * dim + d);
    }
    return static_cast<float>(reinterpret_cast<const int8_t*>(at)[kv_head * dim + d]) *
           kvScaleOf(rows, data, row, kv_head);
}

/// Codes in bytes 0 and 2 of `pair`, zeros between, as two bf16. A code of 7 bits and a sign is
/// 128 + its lower bits less 128 or 256, all of them exact.
__device__ __forceinline__ uint32_t codePair(uint32_t pair) {
    return multiplyAddPairs(maskAndSet<0x007f007fU>(pair, 0x43004300U), 0x3f803f80U,
                            maskAndSet<0x00800080U>(pair, 0xc300c300U));
}
/// Codes 0 and 1 of a word, codes 2 and 3.
__device__ __forceinline__ uint32_t lowCodes(uint32_t word) {
    return codePair(permuteBytes(word, 0U, 0x4140U));
}
__device__ __forceinline__ uint32_t highCodes(uint32_t word) {
    return codePair(permuteBytes(word, 0U, 0x4342U));
}
/// Eight codes as bf16.
__device__ __forceinline__ uint4 eightCodes(const uint2& codes) {
    return make_uint4(lowCodes(codes.x), highCodes(codes.x), lowCodes(codes.y), highCodes(codes.y));
}

/// Codes 0 to 3 of a word in fp32.
__device__ __forceinline__ float4 fourCodes(uint32_t word) {
    const uint32_t biased = word ^ 0x80808080U;
    const auto value = [&](uint32_t i) {
        return __uint_as_float(permuteBytes(biased, 0x4b000000U, 0x7650U | i)) - 8388736.0F;
    };
    return make_float4(value(0), value(1), value(2), value(3));
}

/// The magnitude of a value by its bits, so that NaN counts as the largest.
__device__ __forceinline__ uint32_t magnitudeOf(float value) {
    return __float_as_uint(value) & 0x7fffffffU;
}

/// How a head with this largest magnitude is stored.
struct KvCoder {
    float scale, inverse;
    explicit __device__ __forceinline__ KvCoder(uint32_t largest)
        : scale(__fdiv_rn(__uint_as_float(largest), 127.0F)),
          inverse(__uint_as_float(largest) > 1e-35F ? __fdiv_rn(127.0F, __uint_as_float(largest))
                                                    : 0.0F) {}
    /// The code in the lowest 8 bits, rounded as on the CPU.
    [[nodiscard]] __device__ __forceinline__ uint32_t code(float value) const {
        return __float_as_uint(__fadd_rn(__fmul_rn(value, inverse), kKvRounding)) & 0xffU;
    }
    [[nodiscard]] __device__ __forceinline__ uint32_t codes(const float4& v) const {
        return code(v.x) | code(v.y) << 8U | code(v.z) << 16U | code(v.w) << 24U;
    }
};

} // namespace kernels::cuda
