// SPDX-License-Identifier: Apache-2.0
// Stands in for CUDA's header of this name: fp16 in software, every result rounded once to nearest
// even, subnormals kept.
#pragma once

#include "kernels/cpu/float_types.h"

#include "emulated_device.h"

struct alignas(2) __half {
    uint16_t bits;
};
struct alignas(4) __half2 {
    __half x, y;
};

namespace emulator {

/// A double rounded once to fp16: through fp32 rounded to odd, which keeps what the second rounding
/// has to know.
inline __half roundedToHalf(double value) {
    auto near = static_cast<float>(value);
    if (static_cast<double>(near) != value && std::isfinite(near)) {
        auto bits = std::bit_cast<uint32_t>(near);
        if ((bits & 1U) == 0) {
            const bool is_short = std::fabs(static_cast<double>(near)) < std::fabs(value);
            bits = is_short ? bits + 1 : bits - 1;
            near = std::bit_cast<float>(bits);
        }
    }
    return {kernels::cpu::floatToF16(near)};
}

} // namespace emulator

inline float __half2float(__half h) {
    return kernels::cpu::f16ToFloat(h.bits);
}
inline __half __float2half_rn(float value) {
    return {kernels::cpu::floatToF16(value)};
}
inline __half __float2half(float value) {
    return __float2half_rn(value);
}
inline __half2 __floats2half2_rn(float x, float y) {
    return {__float2half_rn(x), __float2half_rn(y)};
}
inline __half2 __float22half2_rn(float2 v) {
    return __floats2half2_rn(v.x, v.y);
}
inline __half2 __float2half2_rn(float value) {
    return __floats2half2_rn(value, value);
}
inline float2 __half22float2(__half2 h) {
    return {__half2float(h.x), __half2float(h.y)};
}
inline float __low2float(__half2 h) {
    return __half2float(h.x);
}
inline float __high2float(__half2 h) {
    return __half2float(h.y);
}
inline __half __hfma(__half a, __half b, __half c) {
    // The product of two fp16 is exact in fp64, and so is every sum that could be a tie.
    return emulator::roundedToHalf(static_cast<double>(__half2float(a)) *
                                       static_cast<double>(__half2float(b)) +
                                   static_cast<double>(__half2float(c)));
}
inline __half __hadd(__half a, __half b) {
    return emulator::roundedToHalf(static_cast<double>(__half2float(a)) +
                                   static_cast<double>(__half2float(b)));
}
inline __half __hsub(__half a, __half b) {
    return emulator::roundedToHalf(static_cast<double>(__half2float(a)) -
                                   static_cast<double>(__half2float(b)));
}
inline __half __hmul(__half a, __half b) {
    return emulator::roundedToHalf(static_cast<double>(__half2float(a)) *
                                   static_cast<double>(__half2float(b)));
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
inline __half2 __hadd2(__half2 a, __half2 b) {
    return {__hadd(a.x, b.x), __hadd(a.y, b.y)};
}
inline __half2 __hsub2(__half2 a, __half2 b) {
    return {__hsub(a.x, b.x), __hsub(a.y, b.y)};
}
inline __half2 __hmul2(__half2 a, __half2 b) {
    return {__hmul(a.x, b.x), __hmul(a.y, b.y)};
}
