// SPDX-License-Identifier: Apache-2.0
// Chooses the CPU table at start-up. __builtin_cpu_supports reads CPUID and, for the vector
// extensions, whether the operating system saves their registers (XCR0).
#include "kernels/cpu/cpu_features.h"
#include "kernels/cpu/simd_tables.h"
#include "kernels/cpu/tables.h"

#include <atomic>
#include <cstring>
#include <initializer_list>

namespace kernels {

// A build may ask for the scalar table (CMakeLists.txt), for sanitizers, which the vector tables
// are compiled without.
#ifdef BELFRY_SCALAR_FIRST
constexpr const char* kLimit = "cpu-scalar";
#else
constexpr const char* kLimit = nullptr;
#endif

#if defined(__x86_64__)

namespace {

bool hasAvx2() {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           cpu::hasF16c();
}

bool hasAvx512() {
    return hasAvx2() && __builtin_cpu_supports("avx512f") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0;
}

bool hasAvx512Vnni() {
    return hasAvx512() && __builtin_cpu_supports("avx512vnni") != 0;
}

bool hasAvx512Bf16() {
    return hasAvx512Vnni() && __builtin_cpu_supports("avx512bf16") != 0 &&
           __builtin_cpu_supports("avx512vbmi") != 0;
}

} // namespace

const OpTable* cpuAvx2Ops() {
    return hasAvx2() ? &cpu::avx2Table() : nullptr;
}
const OpTable* cpuAvx512Ops() {
    return hasAvx512() ? &cpu::avx512Table() : nullptr;
}
const OpTable* cpuAvx512VnniOps() {
    return hasAvx512Vnni() ? &cpu::avx512VnniTable() : nullptr;
}
const OpTable* cpuAvx512Bf16Ops() {
    return hasAvx512Bf16() ? &cpu::avx512Bf16Table() : nullptr;
}

#else

const OpTable* cpuAvx2Ops() {
    return nullptr;
}
const OpTable* cpuAvx512Ops() {
    return nullptr;
}
const OpTable* cpuAvx512VnniOps() {
    return nullptr;
}
const OpTable* cpuAvx512Bf16Ops() {
    return nullptr;
}

#endif

const OpTable& fastestCpuOps(const char* limit) {
    const OpTable* const last = limit == nullptr ? nullptr : findCpuOps(limit);
    bool is_within = last == nullptr;
    for (const OpTable* table :
         {cpuAvx512Bf16Ops(), cpuAvx512VnniOps(), cpuAvx512Ops(), cpuAvx2Ops()}) {
        is_within = is_within || table == last;
        if (table != nullptr && is_within) {
            return *table;
        }
    }
    return cpuScalarOps();
}

namespace {

/// Set once: devices made later compute with the same table.
std::atomic<const OpTable*> used{nullptr};

/// The table in use from now on: `wanted`, if there was none.
const OpTable& useOps(const OpTable& wanted) {
    const OpTable* before = nullptr;
    return used.compare_exchange_strong(before, &wanted) ? wanted : *before;
}

} // namespace

const OpTable& bestCpuOps() {
    const OpTable* const table = used.load(std::memory_order_acquire);
    return table != nullptr ? *table : useOps(fastestCpuOps(kLimit));
}

bool limitCpuOps(const char* name) {
    const OpTable& wanted = fastestCpuOps(name);
    return &useOps(wanted) == &wanted;
}

const OpTable* findCpuOps(const char* name) {
    for (const OpTable* table :
         {&cpuScalarOps(), cpuAvx2Ops(), cpuAvx512Ops(), cpuAvx512VnniOps(), cpuAvx512Bf16Ops()}) {
        if (table != nullptr && std::strcmp(table->name, name) == 0) {
            return table;
        }
    }
    return nullptr;
}

} // namespace kernels
