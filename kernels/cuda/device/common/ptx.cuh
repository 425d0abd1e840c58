// SPDX-License-Identifier: Apache-2.0
// Instructions by name (PTX) and shared memory: what a C++ compiler for the CPU does not know.
// Tests run the kernels there (tests/support/cuda_emulator), which has these functions once more;
// device code elsewhere holds no inline assembly and declares shared memory through this file.
#pragma once

#ifdef __CUDACC__

#include <cstdint>

/// A static variable of the block: BELFRY_SHARED(float, rows, [4][32]);
#define BELFRY_SHARED(type, name, dims) __shared__ type name dims

namespace kernels::cuda {

/// The block's dynamic shared memory.
__device__ __forceinline__ char* dynamicShared() {
    extern __shared__ __align__(1024) char belfry_dynamic_shared[];
    return belfry_dynamic_shared;
}

/// A pointer into shared memory as the instructions below take it.
__device__ __forceinline__ uint32_t sharedAddress(const void* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ uint32_t loadShared(uint32_t address) {
    uint32_t value = 0;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address));
    return value;
}

/// A number in shared memory by which one warp tells others how far it is; it orders nothing.
__device__ __forceinline__ void tellShared(int32_t* at, int value) {
    *reinterpret_cast<volatile int32_t*>(at) = value;
}
__device__ __forceinline__ int askShared(const int32_t* at) {
    __nanosleep(100); // nobody waits for who asks
    return *reinterpret_cast<const volatile int32_t*>(at);
}

__device__ __forceinline__ void prefetchL2(const void* at) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

/// Lets the next launch begin beside this one (programmatic dependent launch).
__device__ __forceinline__ void letDependentsStart() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Waits until the launch before has finished and its writes are visible.
__device__ __forceinline__ void waitForPredecessor() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// 16 bytes from global to shared memory, in the background.
__device__ __forceinline__ void copyAsync16(void* shared, const void* global) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(shared)),
                 "l"(global));
#endif
}

/// The same, or 16 zero bytes; `from` must be an address even then.
__device__ __forceinline__ void copyAsync16(uint32_t to, const void* from, bool is_valid) {
#if __CUDA_ARCH__ >= 800
    const int bytes = is_valid ? 16 : 0; // the rest is filled with zeros
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
#endif
}

/// Ends a group of this thread's copies.
__device__ __forceinline__ void commitCopies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
}

/// Waits for all but the LEFT latest groups of this thread; a barrier shows them to the others.
template <int LEFT>
__device__ __forceinline__ void waitForCopyGroups() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT));
#endif
}

/// Waits for all of this thread's copies; a barrier shows them to the others.
__device__ __forceinline__ void waitForCopies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Four 8 x 8 tiles of 16-bit elements: lane i gives the address of row i % 8 of tile i / 8 and
/// gets elements 2 (i % 4) and the next of row i / 4 of each tile.
__device__ __forceinline__ void loadMatrix4(uint32_t (&r)[4], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from));
}

/// The same of the transposed tiles.
__device__ __forceinline__ void loadMatrix4Transposed(uint32_t (&r)[4], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from));
}

/// c += a b for one warp: a 16 x 16, b 16 x 8 in bf16, c in fp32.
__device__ __forceinline__ void
multiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

/// The products of two pairs of bf16 values, rounded.
__device__ __forceinline__ uint32_t multiplyHalves(uint32_t a, uint32_t b) {
    uint32_t product = 0;
#if __CUDA_ARCH__ >= 800
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(product) : "r"(a), "r"(b), "r"(0x80008000U));
#endif
    return product;
}

/// a b + c of two pairs of bf16 values, rounded once.
__device__ __forceinline__ uint32_t multiplyAddPairs(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t sum = 0;
#if __CUDA_ARCH__ >= 800
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
#endif
    return sum;
}

/// multiplyAdd() with a and b in fp16.
__device__ __forceinline__ void
multiplyAddHalves(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

/// Two bf16 values, each min(max(x, low), high); NaN stays NaN.
__device__ __forceinline__ uint32_t boundHalves(uint32_t pair, uint32_t low, uint32_t high) {
#if __CUDA_ARCH__ >= 800
    asm("max.NaN.bf16x2 %0, %0, %1;" : "+r"(pair) : "r"(low));
    asm("min.NaN.bf16x2 %0, %0, %1;" : "+r"(pair) : "r"(high));
#endif
    return pair;
}

/// Whether prefetchBulk() exists (compute capability 9.0).
#if __CUDA_ARCH__ >= 900
constexpr bool kHasBulkPrefetch = true;
#else
constexpr bool kHasBulkPrefetch = false;
#endif

/// `bytes` (a multiple of 16, as the address) on their way into L2.
__device__ __forceinline__ void prefetchBulk(const void* at, int bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(at), "r"(bytes) : "memory");
#endif
}

/// A load past the first-level cache that orders nothing: for polling.
__device__ __forceinline__ int loadRelaxed(const int32_t* at) {
    int value = 0;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

/// A load that sees what was written before another block's addRelease().
__device__ __forceinline__ int loadAcquire(const int32_t* at) {
    int value = 0;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

__device__ __forceinline__ void addRelease(int32_t* at, int value) {
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

/// A value together with a tag that says which one it is, read and written as a whole.
struct Tagged {
    float value;
    uint32_t tag;
};

__device__ __forceinline__ void storeTagged(uint64_t* at, float value, uint32_t tag) {
    const uint64_t both = static_cast<uint64_t>(tag) << 32U | __float_as_uint(value);
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(both) : "memory");
}

__device__ __forceinline__ Tagged loadTagged(const uint64_t* at) {
    uint64_t both = 0;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(at) : "memory");
    return {__uint_as_float(static_cast<uint32_t>(both)), static_cast<uint32_t>(both >> 32U)};
}

/// The first `threads` threads of the block (whole warps) wait for each other at barrier `id`; the
/// others of the block do not take part. __syncthreads() is barrier 0.
__device__ __forceinline__ void syncSome(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Four bytes of (high, low) by the nibbles of the selector's lower half; a nibble with its top bit
/// set gives the sign of the byte it names, eight times.
__device__ __forceinline__ uint32_t permuteBytes(uint32_t low, uint32_t high, uint32_t selector) {
    uint32_t result = 0;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(selector));
    return result;
}

/// (value & MASK) | bits in one instruction: two constants would take two.
template <uint32_t MASK>
__device__ __forceinline__ uint32_t maskAndSet(uint32_t value, uint32_t bits) {
    uint32_t result = 0;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(value), "n"(MASK), "r"(bits));
    return result;
}

/// The largest of the warp's values, in all lanes.
__device__ __forceinline__ uint32_t warpMaxBits(uint32_t value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffU, value);
#else
    return value;
#endif
}

/// Two bytes, the upper half is zero.
__device__ __forceinline__ uint32_t loadShared2(uint32_t address) {
    unsigned short value = 0;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(value) : "r"(address));
    return value;
}

__device__ __forceinline__ uint2 loadShared8(uint32_t address) {
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address));
    return v;
}

__device__ __forceinline__ uint4 loadShared16(uint32_t address) {
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(address));
    return v;
}

/// A barrier of 8 bytes in shared memory that counts arrivals and bytes of bulk copies. Its phases
/// are told apart by their parity: wait(0) waits for the end of the first one.
struct CopyBarrier {
    uint64_t* at;

    /// One thread, before anybody else uses it; then fenceBarriers() and a barrier of the block.
    __device__ __forceinline__ void init(int arrivals) const {
#if __CUDA_ARCH__ >= 800
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(at)),
                     "r"(arrivals)
                     : "memory");
#endif
    }
    /// This phase does not end before `bytes` more have been copied.
    __device__ __forceinline__ void expect(int bytes) const {
#if __CUDA_ARCH__ >= 900
        asm volatile(
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(at)),
            "r"(bytes)
            : "memory");
#endif
    }
    /// What this thread has written is visible to who has waited.
    __device__ __forceinline__ void arrive() const {
#if __CUDA_ARCH__ >= 900
        asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(at))
                     : "memory");
#endif
    }
    __device__ __forceinline__ void wait(uint32_t parity) const {
#if __CUDA_ARCH__ >= 900
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "again:\n"
                     "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
                     "@!done bra again;\n"
                     "}" ::"r"(sharedAddress(at)),
                     "r"(parity)
                     : "memory");
#endif
    }
};

/// After CopyBarrier::init(): bulk copies see the barriers too.
__device__ __forceinline__ void fenceBarriers() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// What threads have written or read before is behind this thread's bulk copies that follow: their
/// places may have had another use.
__device__ __forceinline__ void fenceBulkCopies() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// `bytes` from global to shared memory in the background; all three are multiples of 16. The
/// barrier counts them.
__device__ __forceinline__ void
copyBulk(uint32_t shared, const void* global, int bytes, CopyBarrier barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "%2, [%3];" ::"r"(shared),
                 "l"(global), "r"(bytes), "r"(sharedAddress(barrier.at))
                 : "memory");
#endif
}

/// A barrier of 8 bytes in shared memory that counts arrivals, also such that come by themselves
/// once a thread's copies are done: what compute capability 8.0 has of CopyBarrier.
struct AsyncBarrier {
    uint64_t* at;

    /// One thread, before anybody else uses it; then a barrier of the block.
    __device__ __forceinline__ void init(int arrivals) const {
#if __CUDA_ARCH__ >= 800
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(sharedAddress(at)), "r"(arrivals)
                     : "memory");
#endif
    }
    /// What this thread has written is visible to who has waited.
    __device__ __forceinline__ void arrive() const {
#if __CUDA_ARCH__ >= 800
        asm volatile("{\n"
                     ".reg .b64 state;\n"
                     "mbarrier.arrive.shared.b64 state, [%0];\n"
                     "}" ::"r"(sharedAddress(at))
                     : "memory");
#endif
    }
    /// One arrival of this thread as soon as all of its copyAsync16() so far are done; it does not
    /// wait for it.
    __device__ __forceinline__ void arriveBehindCopies() const {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(sharedAddress(at))
                     : "memory");
#endif
    }
    __device__ __forceinline__ void wait(uint32_t parity) const {
#if __CUDA_ARCH__ >= 800
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "again:\n"
                     "mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
                     "@!done bra again;\n"
                     "}" ::"r"(sharedAddress(at)),
                     "r"(parity)
                     : "memory");
#endif
    }
};

/// For what is read once: its place in L2 is the first that others get.
__device__ __forceinline__ uint64_t evictFirst() {
    uint64_t policy = 0;
#if __CUDA_ARCH__ >= 800
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}
/// copyAsync16() of what is read once; policy: evictFirst().
__device__ __forceinline__ void
copyAsyncOnce16(uint32_t shared, const void* global, uint64_t policy) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared),
                 "l"(global), "l"(policy)
                 : "memory");
#endif
}
/// copyBulk() of what is read once; policy: evictFirst().
__device__ __forceinline__ void
copyBulkOnce(uint32_t shared, const void* global, int bytes, CopyBarrier barrier, uint64_t policy) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(shared),
                 "l"(global), "r"(bytes), "r"(sharedAddress(barrier.at)), "l"(policy)
                 : "memory");
#endif
}

/// Two neighbours of eight bytes; each of them is read at once.
__device__ __forceinline__ uint4 loadPackets(const uint2* at) {
    uint4 v;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at)
                 : "memory");
    return v;
}
__device__ __forceinline__ uint2 loadPacket(const uint2* at) {
    uint2 v;
    asm volatile("ld.relaxed.gpu.global.v2.u32 {%0,%1}, [%2];"
                 : "=r"(v.x), "=r"(v.y)
                 : "l"(at)
                 : "memory");
    return v;
}
/// Eight bytes that others see at once or not at all.
__device__ __forceinline__ void storePacket(uint2* at, uint32_t value, uint32_t mark) {
    asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1,%2};" ::"l"(at), "r"(value), "r"(mark)
                 : "memory");
}
/// Sixteen bytes that others see at once or not at all.
__device__ __forceinline__ uint4 loadRowPacket(const uint4* at) {
    uint64_t low = 0;
    uint64_t high = 0;
    asm volatile("{\n"
                 ".reg .b128 all;\n"
                 "ld.relaxed.gpu.global.b128 all, [%2];\n"
                 "mov.b128 {%0, %1}, all;\n"
                 "}"
                 : "=l"(low), "=l"(high)
                 : "l"(at)
                 : "memory");
    return make_uint4(static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                      static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32));
}
__device__ __forceinline__ void storeRowPacket(uint4* at, const uint4& v) {
    asm volatile("{\n"
                 ".reg .b128 all;\n"
                 "mov.b128 all, {%1, %2};\n"
                 "st.relaxed.gpu.global.b128 [%0], all;\n"
                 "}" ::"l"(at),
                 "l"(static_cast<uint64_t>(v.y) << 32 | v.x),
                 "l"(static_cast<uint64_t>(v.w) << 32 | v.z)
                 : "memory");
}
__device__ __forceinline__ void storeRelease(int32_t* at, int value) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

} // namespace kernels::cuda

#else
#include <emulated_ptx.h>
#endif
