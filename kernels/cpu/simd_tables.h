// SPDX-License-Identifier: Apache-2.0
// What the folders avx2, avx512, avx512vnni and avx512bf16 define for dispatch.cpp and
// machine_probe.cpp. Only to be called when the processor has the instructions.
#pragma once

#include "kernels/ops.h"

#include <cstddef>
#include <cstdint>

namespace kernels::cpu {

/// Loops that do nothing but keep one resource busy; see machine_probe.h.
struct ProbeLoops {
    /// Reads `bytes` (a multiple of 1024) once, in order; returns something that depends on all.
    uint64_t (*read)(const void* data, size_t bytes) = nullptr;
    /// Runs fp32 multiply-adds; returns the number of operations (a multiply-add is two).
    double (*fp32)(int64_t rounds) = nullptr;
    /// The same with bf16 dot products; nullptr without the instruction.
    double (*bf16)(int64_t rounds) = nullptr;
};

const OpTable& avx2Table();
const OpTable& avx512Table();
const OpTable& avx512VnniTable();
const OpTable& avx512Bf16Table();
ProbeLoops avx2ProbeLoops();
ProbeLoops avx512ProbeLoops();
ProbeLoops avx512VnniProbeLoops();
ProbeLoops avx512Bf16ProbeLoops();

} // namespace kernels::cpu
