// SPDX-License-Identifier: Apache-2.0
// The vector layer of this folder: AVX-512 under a name of its own. Templates instantiated for it
// get symbols of their own, so the linker cannot put code compiled with BF16 and VBMI into the
// plain AVX-512 table.
#pragma once

#include "kernels/cpu/simd/vec_avx512.h"

namespace kernels::cpu {

struct Avx512Bf16 : Avx512 {};

} // namespace kernels::cpu
