// SPDX-License-Identifier: Apache-2.0
// Chooses the CPU table at start-up.
#include "kernels/cpu/tables.h"

#include <cstring>
#include <initializer_list>

namespace kernels {

const OpTable* cpuAvx2Ops() {
    return nullptr;
}
const OpTable* cpuAvx512Ops() {
    return nullptr;
}
const OpTable* cpuAvx512Bf16Ops() {
    return nullptr;
}

const OpTable& bestCpuOps() {
    for (const OpTable* table : {cpuAvx512Bf16Ops(), cpuAvx512Ops(), cpuAvx2Ops()}) {
        if (table != nullptr) {
            return *table;
        }
    }
    return cpuScalarOps();
}

const OpTable* findCpuOps(const char* name) {
    for (const OpTable* table :
         {&cpuScalarOps(), cpuAvx2Ops(), cpuAvx512Ops(), cpuAvx512Bf16Ops()}) {
        if (table != nullptr && std::strcmp(table->name, name) == 0) {
            return table;
        }
    }
    return nullptr;
}

} // namespace kernels
