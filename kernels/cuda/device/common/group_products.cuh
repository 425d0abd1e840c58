// SPDX-License-Identifier: Apache-2.0
// Products of a warp group (four warps) on compute capability 9.0: one operand in registers or both
// in shared memory, in the background (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions"). Compiled for sm_90a; tests have these functions once more (emulated_ptx.h).
#pragma once

#include "kernels/cuda/device/common/ptx.cuh"

namespace kernels::cuda {

/// A tile [rows, 64] of bf16 in shared memory at `address` (a multiple of 1024): rows of 128 bytes
/// whose 16-byte chunk c lies at place c ^ (row % 8). The columns from 16 `step` on.
__device__ __forceinline__ uint64_t groupOperand(uint32_t address, int step) {
    constexpr uint64_t kSwizzle128 = uint64_t{1} << 62U;
    constexpr uint64_t kEightRows = uint64_t{1024 / 16} << 32U;
    constexpr uint64_t kUnused = uint64_t{1} << 16U; // of tiles in more than one piece
    return kSwizzle128 | kEightRows | kUnused |
           ((address + static_cast<uint32_t>(step) * 32U) >> 4U & 0x3fffU);
}

#ifdef __CUDACC__

/// Registers and shared memory are as they should be before the products that follow.
__device__ __forceinline__ void beginProducts() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
/// Ends a group of products.
__device__ __forceinline__ void commitProducts() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits for all but the LEFT latest groups.
template <int LEFT>
__device__ __forceinline__ void waitForProducts() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
#endif
}

/// Registers of each thread of this warp group from here on: what one gives, others can take. For
/// groups whose ways part at once and do not meet again.
template <int COUNT>
__device__ __forceinline__ void giveRegisters() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}
template <int COUNT>
__device__ __forceinline__ void takeRegisters() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}

/// A box of a matrix that a tensor map describes (driver.h, TensorMap), from (row, column) on, to
/// shared memory (a multiple of 1024) as groupOperand() has it; zeros where the matrix ends. The
/// barrier counts the bytes of the whole box. map: in parameters of the kernel.
__device__ __forceinline__ void
copyTile(uint32_t shared, const void* map, int row, int column, CopyBarrier barrier) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared),
                 "l"(map), "r"(column), "r"(row), "r"(sharedAddress(barrier.at))
                 : "memory");
#endif
}

/// d += a b in the background: a 64 x 16 in bf16, 16 rows a warp, in registers as multiplyAdd()
/// takes them; b [N, 16] as groupOperand() describes it; d in fp32, as multiplyAdd() has it, for
/// every eight columns. Neither may change before waitForProducts().
template <int N>
__device__ __forceinline__ void
multiplyGroup(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b);

// Operands of the instruction below: places in its text, and the sums themselves.
#define BELFRY_PLACES_64                                                                           \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define BELFRY_PLACES_80                                                                           \
    BELFRY_PLACES_64                                                                               \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define BELFRY_PLACES_96                                                                           \
    BELFRY_PLACES_80                                                                               \
    ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define BELFRY_PLACES_128                                                                          \
    BELFRY_PLACES_96                                                                               \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
    "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "   \
    "%126, %127"
#define BELFRY_SUMS_4(d, i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define BELFRY_SUMS_16(d, i)                                                                       \
    BELFRY_SUMS_4(d, i), BELFRY_SUMS_4(d, (i) + 4), BELFRY_SUMS_4(d, (i) + 8),                     \
        BELFRY_SUMS_4(d, (i) + 12)
#define BELFRY_SUMS_32(d, i) BELFRY_SUMS_16(d, i), BELFRY_SUMS_16(d, (i) + 16)

template <>
__device__ __forceinline__ void
multiplyGroup<128>(float (&d)[64], const uint32_t (&a)[4], uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" BELFRY_PLACES_64
                 "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 0;"
                 : BELFRY_SUMS_32(d, 0), BELFRY_SUMS_32(d, 32)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#endif
}

template <>
__device__ __forceinline__ void
multiplyGroup<192>(float (&d)[96], const uint32_t (&a)[4], uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {" BELFRY_PLACES_96
                 "}, {%96, %97, %98, %99}, %100, 1, 1, 1, 0;"
                 : BELFRY_SUMS_32(d, 0), BELFRY_SUMS_32(d, 32), BELFRY_SUMS_32(d, 64)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#endif
}

template <>
__device__ __forceinline__ void
multiplyGroup<256>(float (&d)[128], const uint32_t (&a)[4], uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" BELFRY_PLACES_128
                 "}, {%128, %129, %130, %131}, %132, 1, 1, 1, 0;"
                 : BELFRY_SUMS_32(d, 0), BELFRY_SUMS_32(d, 32), BELFRY_SUMS_32(d, 64),
                   BELFRY_SUMS_32(d, 96)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#endif
}

/// The same with a in shared memory, too: [64, 16] as groupOperand() describes it.
template <int N>
__device__ __forceinline__ void multiplyTiles(float (&d)[N / 2], uint64_t a, uint64_t b);

template <>
__device__ __forceinline__ void multiplyTiles<128>(float (&d)[64], uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" BELFRY_PLACES_64
                 "}, %64, %65, 1, 1, 1, 0, 0;"
                 : BELFRY_SUMS_32(d, 0), BELFRY_SUMS_32(d, 32)
                 : "l"(a), "l"(b));
#endif
}

template <>
__device__ __forceinline__ void multiplyTiles<160>(float (&d)[80], uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.mma_async.sync.aligned.m64n160k16.f32.bf16.bf16 {" BELFRY_PLACES_80
                 "}, %80, %81, 1, 1, 1, 0, 0;"
                 : BELFRY_SUMS_32(d, 0), BELFRY_SUMS_32(d, 32), BELFRY_SUMS_16(d, 64)
                 : "l"(a), "l"(b));
#endif
}

template <>
__device__ __forceinline__ void multiplyTiles<192>(float (&d)[96], uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {" BELFRY_PLACES_96
                 "}, %96, %97, 1, 1, 1, 0, 0;"
                 : BELFRY_SUMS_32(d, 0), BELFRY_SUMS_32(d, 32), BELFRY_SUMS_32(d, 64)
                 : "l"(a), "l"(b));
#endif
}

template <>
__device__ __forceinline__ void multiplyTiles<256>(float (&d)[128], uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" BELFRY_PLACES_128
                 "}, %128, %129, 1, 1, 1, 0, 0;"
                 : BELFRY_SUMS_32(d, 0), BELFRY_SUMS_32(d, 32), BELFRY_SUMS_32(d, 64),
                   BELFRY_SUMS_32(d, 96)
                 : "l"(a), "l"(b));
#endif
}

#undef BELFRY_PLACES_64
#undef BELFRY_PLACES_80
#undef BELFRY_PLACES_96
#undef BELFRY_PLACES_128
#undef BELFRY_SUMS_4
#undef BELFRY_SUMS_16
#undef BELFRY_SUMS_32

#endif

} // namespace kernels::cuda
