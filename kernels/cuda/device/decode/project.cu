// SPDX-License-Identifier: Apache-2.0
// A projection step as a launch of its own (project_step.cuh). Two blocks fit a multiprocessor, so
// that the next step can begin beside this one. And what stands before all steps of a token
// (token_input.cuh).
#include "kernels/cuda/device/decode/token_input.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kThreads = 512;

template <WeightLayout LAYOUT>
__device__ __forceinline__ void launchOfItsOwn(const ProjectKernelArgs& a) {
    letDependentsStart();
    projectStep<LAYOUT, kThreads>(a);
}

} // namespace

extern "C" {

// grid: multiprocessors (or fewer), block 512; shared memory: projectSizes().
__global__ void __launch_bounds__(kThreads, 2)
    belfry_project_four_bit(const __grid_constant__ ProjectKernelArgs a) {
    launchOfItsOwn<WeightLayout::Codes>(a);
}
__global__ void __launch_bounds__(kThreads, 2)
    belfry_project_int8(const __grid_constant__ ProjectKernelArgs a) {
    launchOfItsOwn<WeightLayout::Int8Row>(a);
}
__global__ void __launch_bounds__(kThreads, 2)
    belfry_project_bf16(const __grid_constant__ ProjectKernelArgs a) {
    launchOfItsOwn<WeightLayout::BF16>(a);
}

__global__ void __launch_bounds__(kThreads, 2)
    belfry_project_blocks(const __grid_constant__ ProjectKernelArgs a) {
    launchOfItsOwn<WeightLayout::Blocks>(a);
}

// grid: rows of the projection / kTokenRows; shared memory: tokenInputBytes(). Three blocks on a
// multiprocessor: all of them at once.
__global__ void __launch_bounds__(kEdgeThreads, 3)
    belfry_token_inputs_four_bit(const __grid_constant__ TokenInputKernelArgs a) {
    tokenInputs<WeightLayout::Codes>(a);
}
__global__ void __launch_bounds__(kEdgeThreads, 3)
    belfry_token_inputs_int8(const __grid_constant__ TokenInputKernelArgs a) {
    tokenInputs<WeightLayout::Int8Row>(a);
}
__global__ void __launch_bounds__(kEdgeThreads, 3)
    belfry_token_inputs_bf16(const __grid_constant__ TokenInputKernelArgs a) {
    tokenInputs<WeightLayout::BF16>(a);
}

} // extern "C"
