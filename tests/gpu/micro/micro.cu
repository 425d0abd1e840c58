// SPDX-License-Identifier: Apache-2.0
// Small kernels that measure what a card gives apart from any model: see micro_bench.cpp.
#include <cuda_bf16.h>

#include <cstdint>

namespace {

/// The codes a thread decodes: a sequence that compilers cannot foresee and the host repeats.
__device__ __forceinline__ uint32_t nextCodes(uint32_t state) {
    return state * 1664525u + 1013904223u;
}

__device__ __forceinline__ void waitForPredecessor() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// `rounds` times the next eight codes of each thread's own sequence: out[thread of the grid] =
/// what `add_eight(codes, sum)` made of them, cycles[block] = the block's clocks for it.
template <typename Sum, typename AddEight>
__device__ __forceinline__ void
decodeTimed(uint32_t rounds, Sum* out, long long* cycles, const AddEight& add_eight) {
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t codes = thread;
    Sum sum = 0;
    __syncthreads();
    const long long start = clock64();
    for (uint32_t r = 0; r < rounds; ++r) {
        codes = nextCodes(codes);
        sum = add_eight(codes, sum);
    }
    if (threadIdx.x == 0) {
        cycles[blockIdx.x] = clock64() - start;
    }
    out[thread] = sum;
}

} // namespace

/// Reads `count` 16-byte words once; the sum goes nowhere unless it is the one impossible value.
extern "C" __global__ void __launch_bounds__(512)
    micro_read_stream(const uint4* data, uint64_t count, uint32_t* out) {
    const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
    for (; i + 7 * stride < count; i += 8 * stride) {
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            v[k] = __ldcs(data + i + k * stride);
        }
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            sum ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
        }
    }
    for (; i < count; i += stride) {
        const uint4 v = __ldcs(data + i);
        sum ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void micro_empty() {}

extern "C" __global__ void micro_empty_overlapped() {
    waitForPredecessor();
}

/// A row of activations: read, changed, written.
extern "C" __global__ void micro_tiny(float* data, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        data[i] = data[i] * 0.5f + 1.0f;
    }
}

extern "C" __global__ void micro_tiny_overlapped(float* data, uint32_t count) {
    waitForPredecessor();
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        data[i] = data[i] * 0.5f + 1.0f;
    }
}

/// `rounds` grid-wide barriers over one counter, which is 0 at the start. All blocks must be
/// resident: a cooperative launch. out[0] ends as rounds * blocks only if no block ran ahead.
extern "C" __global__ void micro_grid_barrier(uint32_t* counter, uint32_t rounds, uint32_t* out) {
    uint32_t late = 0;
    for (uint32_t round = 1; round <= rounds; ++round) {
        __syncthreads();
        if (threadIdx.x == 0) {
            const uint32_t target = round * gridDim.x;
            uint32_t seen;
            asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
            do {
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                             : "=r"(seen)
                             : "l"(counter)
                             : "memory");
            } while (seen < target);
            // Nobody can be two rounds ahead of a block that has not arrived.
            late += seen >= target + gridDim.x ? 1 : 0;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(out, rounds);
        atomicAdd(out + 1, late);
    }
}

/// Four ways from 4-bit codes to products; each thread decodes 8 codes a round against constant
/// operands. cycles[block]: what the rounds took on its multiprocessor's clock.
extern "C" __global__ void __launch_bounds__(256)
    micro_decode_shuffle(const float* table, uint32_t rounds, float* out, long long* cycles) {
    const float entry = table[threadIdx.x & 15];
    decodeTimed(rounds, out, cycles, [&](uint32_t codes, float sum) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const float value = __shfl_sync(0xffffffffu, entry, (codes >> (4 * k)) & 15);
            sum = fmaf(value, 0.25f + k, sum);
        }
        return sum;
    });
}

/// 16 rows of 32 equal values: each lane stays in its own bank.
extern "C" __global__ void __launch_bounds__(256)
    micro_decode_shared(const float* table, uint32_t rounds, float* out, long long* cycles) {
    __shared__ float rows[16 * 32];
    for (uint32_t i = threadIdx.x; i < 16 * 32; i += blockDim.x) {
        rows[i] = table[i / 32];
    }
    const uint32_t lane = threadIdx.x & 31;
    decodeTimed(rounds, out, cycles, [&](uint32_t codes, float sum) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            sum = fmaf(rows[((codes >> (4 * k)) & 15) * 32 + lane], 0.25f + k, sum);
        }
        return sum;
    });
}

/// The table as 16 signed bytes in four registers: two byte permutes and a select for four codes.
__device__ __forceinline__ uint32_t lookUpFour(const uint32_t (&table)[4], uint32_t codes) {
    const uint32_t select = codes & 0x7777u;
    const uint32_t low = __byte_perm(table[0], table[1], select);
    const uint32_t high = __byte_perm(table[2], table[3], select);
    // Bit 3 of each code, as nibbles 0 (from low) or 4 (from high) beside the byte's own number.
    const uint32_t pick = 0x3210u | ((codes & 0x8888u) >> 1);
    return __byte_perm(low, high, pick);
}

/// Byte permutes, then floats: bytes become floats by conversion.
extern "C" __global__ void __launch_bounds__(256)
    micro_decode_permute(const uint32_t* table, uint32_t rounds, float* out, long long* cycles) {
    const uint32_t entries[4] = {table[0], table[1], table[2], table[3]};
    decodeTimed(rounds, out, cycles, [&](uint32_t codes, float sum) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const uint32_t four = lookUpFour(entries, codes >> (16 * half));
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const auto value = static_cast<int8_t>(four >> (8 * k));
                sum = fmaf(static_cast<float>(value), 0.25f + (4 * half + k), sum);
            }
        }
        return sum;
    });
}

/// Byte permutes, then four products at once in whole numbers.
extern "C" __global__ void __launch_bounds__(256)
    micro_decode_dp4a(const uint32_t* table, uint32_t rounds, int* out, long long* cycles) {
    const uint32_t entries[4] = {table[0], table[1], table[2], table[3]};
    decodeTimed(rounds, out, cycles, [&](uint32_t codes, int sum) {
        sum = __dp4a(static_cast<int>(lookUpFour(entries, codes)), 0x04030201, sum);
        sum = __dp4a(static_cast<int>(lookUpFour(entries, codes >> 16)), 0x08070605, sum);
        return sum;
    });
}

/// `rounds` rows of `words` 16-byte words, one after the other: which row is next is known only
/// when the last one is there. One block. out[0]: sum over all bytes as 32-bit words.
extern "C" __global__ void __launch_bounds__(1024) micro_fetch_rows(
    const uint4* rows, uint32_t row_count, uint32_t words, uint32_t rounds, uint32_t* out) {
    __shared__ uint32_t next;
    uint32_t row = 0;
    uint32_t sum = 0;
    for (uint32_t r = 0; r < rounds; ++r) {
        uint32_t first = 0;
        for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
            const uint4 v = __ldcv(rows + static_cast<uint64_t>(row) * words + i);
            sum += v.x + v.y + v.z + v.w;
            if (i == 0) {
                first = v.x;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            next = first % row_count;
        }
        __syncthreads();
        row = next;
    }
    atomicAdd(out, sum);
}

/// Tensor-core products from registers only (16x8x16, bf16, sums in float): the rate that a kernel
/// on mma.sync can reach. Below compute capability 8.0 nothing is computed.
extern "C" __global__ void __launch_bounds__(256) micro_tensor_rate(uint32_t rounds, float* out) {
#if __CUDA_ARCH__ >= 800
    float c[8][4] = {};
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; ++i) {
        a[i] = 0x3f803f80u + ((threadIdx.x * 7 + i) & 31); // bf16 pairs near 1
    }
    b[0] = 0x3c003c00u + (threadIdx.x & 15);
    b[1] = 0x3c103c10u + (threadIdx.x & 7);
    for (uint32_t r = 0; r < rounds; ++r) {
#pragma unroll
        for (int t = 0; t < 8; ++t) {
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                         "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(c[t][0]), "+f"(c[t][1]), "+f"(c[t][2]), "+f"(c[t][3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        }
    }
    float sum = 0.0f;
    for (int t = 0; t < 8; ++t) {
        sum += c[t][0] + c[t][1] + c[t][2] + c[t][3];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
#endif
}
