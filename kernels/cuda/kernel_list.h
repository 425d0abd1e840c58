// SPDX-License-Identifier: Apache-2.0
// The kernels of the device code by name: X(identifier), where the symbol in the fatbin is
// "belfry_" + identifier. One list for the loader, the launches and the fake driver of the tests.
#pragma once

#include <cstddef>

namespace kernels::cuda {

#define BELFRY_CUDA_KERNELS(X)                                                                     \
    X(fill_f32)

enum class KernelId : int {
#define BELFRY_KERNEL_ID(name) name,
    BELFRY_CUDA_KERNELS(BELFRY_KERNEL_ID)
#undef BELFRY_KERNEL_ID
        count
};
inline constexpr size_t kKernelCount = static_cast<size_t>(KernelId::count);

/// "belfry_..." as exported by the fatbin.
constexpr const char* kernelName(KernelId id) {
    constexpr const char* kNames[] = {
#define BELFRY_KERNEL_NAME(name) "belfry_" #name,
        BELFRY_CUDA_KERNELS(BELFRY_KERNEL_NAME)
#undef BELFRY_KERNEL_NAME
    };
    return kNames[static_cast<size_t>(id)];
}

} // namespace kernels::cuda
