// SPDX-License-Identifier: Apache-2.0
// The CPU implementations of kernels/ops.h and the choice between them at start-up. A table is
// offered only when both the processor and the operating system support its registers.
#pragma once

#include "kernels/ops.h"

namespace kernels {

/// The reference: plain loops, double accumulators, exact expansion. Always available.
const OpTable& cpuScalarOps();

// nullptr where the processor lacks the instructions.
const OpTable* cpuAvx2Ops();       ///< AVX2 + FMA + F16C.
const OpTable* cpuAvx512Ops();     ///< AVX-512 F/BW/VL/DQ, fp32 products.
const OpTable* cpuAvx512VnniOps(); ///< As above plus VNNI: products of bytes for one token.
const OpTable* cpuAvx512Bf16Ops(); ///< As above plus BF16 and VBMI.

/// The fastest of the tables above that this machine can run, none beyond the one named `limit`;
/// nullptr or a name that is not available here: no limit.
const OpTable& fastestCpuOps(const char* limit);

/// What this program computes with: fastestCpuOps(), within the limit that was set before the first
/// call, the same from then on. From any thread.
const OpTable& bestCpuOps();

/// Sets that limit ("cpu-avx2" computes as a machine without AVX-512 does). False: too late,
/// another table is in use already.
bool limitCpuOps(const char* name);

/// Table by the name in OpTable::name ("cpu-scalar", "cpu-avx2", "cpu-avx512", "cpu-avx512vnni",
/// "cpu-avx512bf16"); nullptr when unknown or not available here.
const OpTable* findCpuOps(const char* name);

} // namespace kernels
