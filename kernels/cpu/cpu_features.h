// SPDX-License-Identifier: Apache-2.0
// What this processor can do that the compilers' __builtin_cpu_supports() cannot all tell.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

namespace kernels::cpu {

/// Conversions between fp16 and fp32. clang 14 does not know "f16c" as a feature's name: leaf 1,
/// ecx bit 29 of CPUID. Takes tens of microseconds in a virtual machine: ask once.
inline bool hasF16c() {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1U << 29U)) != 0;
}

} // namespace kernels::cpu
#endif
