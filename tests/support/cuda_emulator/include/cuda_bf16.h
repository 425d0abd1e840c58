// SPDX-License-Identifier: Apache-2.0
// Stands in for CUDA's header of this name: bf16 as storage, rounded to nearest even.
#pragma once

#include "kernels/cpu/float_types.h"

#include "emulated_device.h"

struct alignas(2) __nv_bfloat16 {
    uint16_t bits;
};
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

inline float __bfloat162float(__nv_bfloat16 value) {
    return kernels::cpu::bf16ToFloat(value.bits);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
    return {kernels::cpu::floatToBf16(value)};
}
inline __nv_bfloat16 __float2bfloat16(float value) {
    return __float2bfloat16_rn(value);
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) {
    return __floats2bfloat162_rn(v.x, v.y);
}
inline float2 __bfloat1622float2(__nv_bfloat162 v) {
    return {__bfloat162float(v.x), __bfloat162float(v.y)};
}
