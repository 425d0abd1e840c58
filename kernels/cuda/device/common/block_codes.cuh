// SPDX-License-Identifier: Apache-2.0
// The codes of a run of 16 values of GGUF's blocks (kernels/block_formats.h), a byte each.
#pragma once

#include "kernels/block_formats.h"
#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

/// What a byte of codeWords() has above the code that it stands for.
template <WeightFormat F>
constexpr int kCodeZero = F == WeightFormat::Q8_0     ? 128
                          : F == WeightFormat::Q4_0   ? 8
                          : F == WeightFormat::Int4   ? 8
                          : F == WeightFormat::Q5_0   ? 16
                          : F == WeightFormat::Q6_K   ? 32
                          : F == WeightFormat::Q3_K   ? 4
                          : F == WeightFormat::Q2_0   ? 1
                          : F == WeightFormat::MXFP4  ? 12
                          : F == WeightFormat::IQ4_NL ? 128
                          : F == WeightFormat::IQ4_XS ? 128
                                                      : 0;

/// Four bytes, as wide as blocks of the format are aligned.
template <WeightFormat F>
__device__ __forceinline__ uint32_t wordAt(const uint8_t* at) {
    if constexpr (BlockFormat<F>::kBytes % 4 == 0) {
        return *reinterpret_cast<const uint32_t*>(at);
    } else if constexpr (BlockFormat<F>::kBytes % 2 == 0) {
        const auto* const halves = reinterpret_cast<const uint16_t*>(at);
        return halves[0] | static_cast<uint32_t>(halves[1]) << 16;
    } else {
        return readU16(at) | readU16(at + 2) << 16;
    }
}

/// Bytes of a table of 16 for four codes of a byte each.
__device__ __forceinline__ uint32_t lookUpFour(const uint32_t (&table)[4], uint32_t codes) {
    const uint32_t low3 = codes & 0x07070707U;
    const uint32_t pairs = low3 | low3 >> 4; // bytes 0 and 2 hold two selectors each
    const uint32_t selector = (pairs & 255U) | (pairs >> 8 & 0xff00U);
    const uint32_t upper = (codes >> 3 & 0x01010101U) * 255U;
    return (__byte_perm(table[0], table[1], selector) & ~upper) |
           (__byte_perm(table[2], table[3], selector) & upper);
}

/// Two bytes, likewise.
template <WeightFormat F>
__device__ __forceinline__ uint32_t pairAt(const uint8_t* at) {
    if constexpr (BlockFormat<F>::kBytes % 2 == 0) {
        return *reinterpret_cast<const uint16_t*>(at);
    } else {
        return readU16(at);
    }
}

/// Four codes of a run, each plus kCodeZero, a byte each: from the bytes with their low bits and
/// those with their further bits, which of Q5_0 and Q5_1 are a bit a byte.
template <WeightFormat F>
__device__ __forceinline__ uint32_t joinCodes(const CodeRun& run, uint32_t low, uint32_t high) {
    if constexpr (F == WeightFormat::Q8_0) {
        return low ^ 0x80808080U;
    } else if constexpr (F == WeightFormat::Q2_0) {
        return low & 0x03030303U;
    } else if constexpr (F == WeightFormat::Q2_K) {
        return low >> run.low_shift & 0x03030303U;
    } else if constexpr (F == WeightFormat::Q3_K) {
        return (low >> run.low_shift & 0x03030303U) | (high >> run.high_shift & 0x01010101U) << 2;
    } else {
        const uint32_t codes = low >> run.low_shift & 0x0f0f0f0fU;
        if constexpr (F == WeightFormat::Q5_0 || F == WeightFormat::Q5_1) {
            return codes | high << 4;
        } else if constexpr (F == WeightFormat::Q5_K) {
            return codes | (high >> run.high_shift & 0x01010101U) << 4;
        } else if constexpr (F == WeightFormat::Q6_K) {
            return codes | (high >> run.high_shift & 0x03030303U) << 4;
        } else if constexpr (F == WeightFormat::IQ4_NL || F == WeightFormat::IQ4_XS) {
            constexpr uint32_t table[4] = {0x3f2d1801U, 0x766a5d4fU, 0xa6998d81U, 0xf1d9c5b5U};
            return lookUpFour(table, codes);
        } else if constexpr (F == WeightFormat::MXFP4) {
            constexpr uint32_t table[4] = {0x0f0e0d0cU, 0x18141210U, 0x090a0b0cU, 0x00040608U};
            return lookUpFour(table, codes);
        } else {
            return codes;
        }
    }
}

template <WeightFormat F>
constexpr bool kHasHighBytes =
    F == WeightFormat::Q3_K || F == WeightFormat::Q5_K || F == WeightFormat::Q6_K;

/// The codes of a run, each plus kCodeZero, a byte each.
template <WeightFormat F>
__device__ __forceinline__ void codeWords(const CodeRun& run, uint32_t (&words)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        uint32_t low = 0;
        uint32_t high = 0;
        if constexpr (F == WeightFormat::Q2_0) {
            const uint32_t four = run.low[i];
            low = four | four << 6 | four << 12 | four << 18;
        } else {
            low = wordAt<F>(run.low + 4 * i);
        }
        if constexpr (F == WeightFormat::Q5_0 || F == WeightFormat::Q5_1) {
            high = (run.bits >> (4 * i) & 15U) * 0x00204081U & 0x01010101U;
        } else if constexpr (kHasHighBytes<F>) {
            high = wordAt<F>(run.high + 4 * i);
        }
        words[i] = joinCodes<F>(run, low, high);
    }
}

/// The same of values 2 t, 2 t + 1, 2 t + 8 and 2 t + 9: those that lane t of four multiplies.
template <WeightFormat F>
__device__ __forceinline__ uint32_t laneCodes(const CodeRun& run, int t) {
    const auto bytesAt = [t](const uint8_t* at) {
        return pairAt<F>(at + 2 * t) | pairAt<F>(at + 2 * t + 8) << 16;
    };
    uint32_t low = 0;
    uint32_t high = 0;
    if constexpr (F == WeightFormat::Q2_0) {
        const uint32_t both = run.low[t / 2] | static_cast<uint32_t>(run.low[t / 2 + 2]) << 16;
        const uint32_t four = both >> t % 2 * 4;
        low = four | four << 6;
    } else {
        low = bytesAt(run.low);
    }
    if constexpr (F == WeightFormat::Q5_0 || F == WeightFormat::Q5_1) {
        const uint32_t own = run.bits >> 2 * t;
        const uint32_t two = (own & 3U) | (own & 0x300U) << 8;
        high = (two | two << 7) & 0x01010101U;
    } else if constexpr (kHasHighBytes<F>) {
        high = bytesAt(run.high);
    }
    return joinCodes<F>(run, low, high);
}

} // namespace kernels::cuda
