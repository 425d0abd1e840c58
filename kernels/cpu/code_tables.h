// SPDX-License-Identifier: Apache-2.0
// The 4-bit code books of bitsandbytes, by fp32 bit pattern (NF4: Dettmers et al. 2023, QLoRA;
// FP4: sign, 2 exponent bits, 1 mantissa bit, normalised by 12). Index = code.
#pragma once

#include "kernels/views.h"

#include <cstdint>

namespace kernels::cpu {

inline constexpr uint32_t kNf4Bits[16] = {
    0xbf800000, 0xbf3239b1, 0xbf066b30, 0xbeca32a0, 0xbe91a24d, 0xbe3d353f, 0xbdba7871, 0x00000000,
    0x3da2faff, 0x3e24cae3, 0x3e7c04dd, 0x3ead033a, 0x3ee1a4b8, 0x3f1007ab, 0x3f3913b3, 0x3f800000};

/// Code 8 is minus zero, as bitsandbytes' kernels decode it.
inline constexpr uint32_t kFp4Bits[16] = {
    0x00000000, 0x3baaaaab, 0x3f2aaaab, 0x3f800000, 0x3eaaaaab, 0x3f000000, 0x3e2aaaab, 0x3e800000,
    0x80000000, 0xbbaaaaab, 0xbf2aaaab, 0xbf800000, 0xbeaaaaab, 0xbf000000, 0xbe2aaaab, 0xbe800000};

/// The 16 code values of a 4-bit format as fp32.
struct CodeValues {
    float value[16];
};
/// Out of line: this header is also read by files with other instruction sets.
CodeValues codeValues(WeightFormat format);

/// The same as bytes, for products of integers: entry = value * step + zero, rounded. Step and zero
/// are chosen so that the values of all codes lie close to whole numbers: NF4 loses a share of
/// 1.1e-5 of a weight's square that way (its own rounding of Gaussian weights: 8.4e-3), FP4 1.1e-5,
/// all of it from its smallest value, 1/192, which becomes 1/120.
struct CodeBytes {
    uint8_t entry[16] = {};
    float step = 0.0F;
    float zero = 0.0F;
};
CodeBytes codeBytes(WeightFormat format);

} // namespace kernels::cpu
