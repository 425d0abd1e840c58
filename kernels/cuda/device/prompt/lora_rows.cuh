// SPDX-License-Identifier: Apache-2.0
// Elements of low-rank matrices on their way into tensor cores: any type, rounded to bf16 (lora.cu,
// product_updates.cuh).
#pragma once

#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

__device__ __forceinline__ uint32_t packed(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
}

/// Elements [index, index + 4) as two pairs; those from `valid` on are zero. is_whole: all four are
/// there and aligned.
__device__ __forceinline__ uint2
loadFour(const void* data, int type, int64_t index, int valid, bool is_whole) {
    if (valid <= 0) {
        return make_uint2(0, 0);
    }
    if (is_whole && type == kElementBf16) {
        return __ldg(reinterpret_cast<const uint2*>(static_cast<const uint16_t*>(data) + index));
    }
    float v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        v[i] = i < valid ? loadElement(data, type, index + i) : 0.0F;
    }
    return make_uint2(packed(v[0], v[1]), packed(v[2], v[3]));
}

/// Elements [index, index + 8) as four pairs; aligned to 16 bytes.
__device__ __forceinline__ uint4 loadEight(const void* data, int type, int64_t index) {
    if (type == kElementF32) {
        const float4* const from =
            reinterpret_cast<const float4*>(static_cast<const float*>(data) + index);
        const float4 low = __ldg(from);
        const float4 high = __ldg(from + 1);
        return make_uint4(packed(low.x, low.y), packed(low.z, low.w), packed(high.x, high.y),
                          packed(high.z, high.w));
    }
    const uint4 bits =
        __ldg(reinterpret_cast<const uint4*>(static_cast<const uint16_t*>(data) + index));
    if (type == kElementBf16) {
        return bits;
    }
    const auto convert = [](uint32_t pair) {
        const float2 values = __half22float2(asHalf2(pair));
        return packed(values.x, values.y);
    };
    return make_uint4(convert(bits.x), convert(bits.y), convert(bits.z), convert(bits.w));
}

} // namespace kernels::cuda
