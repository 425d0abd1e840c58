// SPDX-License-Identifier: Apache-2.0
// Conversions between fp32 and the 16-bit types of checkpoints: those of the kernels, by the names
// that the engine uses them under.
#pragma once

#include "kernels/cpu/float_types.h"

namespace engine {

using kernels::cpu::bf16ToFloat;
using kernels::cpu::f16ToFloat;
using kernels::cpu::floatToBf16;
using kernels::cpu::floatToF16;

inline float roundToBf16(float value) {
    return bf16ToFloat(floatToBf16(value));
}

} // namespace engine
