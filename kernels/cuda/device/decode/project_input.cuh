// SPDX-License-Identifier: Apache-2.0
// The input row of a projection step: norms, residual, and its form in fp16 in shared memory. Every
// warp that issues an instruction here delays the others, so a thread takes four elements at a time
// and warps without elements go straight to the barriers.
#pragma once

#include "kernels/cuda/device/decode/project_lora.cuh"

namespace kernels::cuda {

constexpr int kTableBytes = 256 * 32 * 4;
constexpr int kNestedBytes = 3 * 256 * 4;

/// Values of the kernel beyond its arguments; pointers into dynamic shared memory.
struct Shared {
    uint32_t* table; // [256, 32] half2
    float* nested;   // [3, 256]: nested codes of each weight
    float* scales;   // [local rows, blocks of a row]: absmax; pairs: first all rows of one weight
    uint4* x;        // [slabs, 2, 32]: 16 fp16 values a lane
    float* partial;  // [local rows, k_split]
    float* buffer;   // [2, 32, 2]
    float4* rows;    // [4, cols / 4]: what a thread keeps from pass to pass (its own elements)
};

template <int THREADS>
__device__ __forceinline__ void fillTable(uint32_t* table, int code_table) {
    const uint32_t* codes = codesOf(code_table);
    // Thread t fills four of the 32 copies of entries t / 8, t / 8 + THREADS / 8, ...
    for (int entry = threadIdx.x / 8; entry < 256; entry += THREADS / 8) {
        const __half2 pair = __floats2half2_rn(__uint_as_float(codes[entry >> 4]),
                                               __uint_as_float(codes[entry & 15]));
        const uint32_t bits = *reinterpret_cast<const uint32_t*>(&pair);
        reinterpret_cast<uint4*>(table)[entry * 8 + (threadIdx.x & 7)] =
            make_uint4(bits, bits, bits, bits);
    }
}

/// absmax of blocks [first, first + count), exactly as blockScale(); `nested` is the table of
/// nested codes in shared memory. Four neighbours a thread where they are aligned (four blocks then
/// share one nested absmax), else four in flight.
template <int THREADS>
__device__ __forceinline__ void
expandScales(const WeightArgs& w, const float* nested, int64_t first, int count, float* out) {
    if (w.absmax == nullptr && ((first | count) & 3) == 0 &&
        (reinterpret_cast<uintptr_t>(out) & 15) == 0) {
#pragma unroll 2
        for (int i = threadIdx.x * 4; i < count; i += THREADS * 4) {
            const uchar4 codes = *reinterpret_cast<const uchar4*>(w.absmax_q + first + i);
            const float outer = w.nested_absmax[(first + i) >> 8];
            *reinterpret_cast<float4*>(out + i) =
                make_float4(__fadd_rn(__fmul_rn(nested[codes.x], outer), w.nested_offset),
                            __fadd_rn(__fmul_rn(nested[codes.y], outer), w.nested_offset),
                            __fadd_rn(__fmul_rn(nested[codes.z], outer), w.nested_offset),
                            __fadd_rn(__fmul_rn(nested[codes.w], outer), w.nested_offset));
        }
        return;
    }
    constexpr int kInFlight = 4;
    for (int i0 = threadIdx.x; i0 < count; i0 += THREADS * kInFlight) {
        float outer[kInFlight];
        int code[kInFlight];
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            const int i = i0 + j * THREADS;
            outer[j] = 0.0F;
            code[j] = 0;
            if (i < count) {
                if (w.absmax != nullptr) {
                    outer[j] = w.absmax[first + i];
                } else {
                    code[j] = w.absmax_q[first + i];
                    outer[j] = w.nested_absmax[(first + i) >> 8];
                }
            }
        }
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) {
            const int i = i0 + j * THREADS;
            if (i < count) {
                out[i] = w.absmax != nullptr
                             ? outer[j]
                             : __fadd_rn(__fmul_rn(nested[code[j]], outer[j]), w.nested_offset);
            }
        }
    }
}

/// Where element i of the input lies in Shared::x: slab, half of the lane's 16, lane, element.
__device__ __forceinline__ int inputSlot(int i) {
    return (i & ~(kSlab - 1)) + ((i >> 3) & 1) * 256 + ((i >> 4) & 31) * 8 + (i & 7);
}

/// 2^(exponent - 3) for largest in [2^exponent, 2^(exponent + 1)): dividing by it leaves elements
/// below 16. 1 for zero and non-finite rows.
__device__ __forceinline__ float powerOfTwoFor(float largest) {
    if (!(largest > 0.0F && largest < INFINITY)) {
        return 1.0F;
    }
    int exponent = static_cast<int>(__float_as_uint(largest) >> 23) - 127;
    exponent = exponent < -100 ? -100 : exponent > 100 ? 100 : exponent;
    return __uint_as_float(static_cast<uint32_t>(exponent - 3 + 127) << 23);
}

/// Sum and maximum over the block's first `warps` warps, which alone hold values; `buffer` [64] is
/// used once in a step. Every thread of the block takes part in the barrier.
__device__ __forceinline__ float2 blockSumAndMax(float sum,
                                                 float largest,
                                                 int warps,
                                                 float* buffer) {
    const int warp = threadIdx.x >> 5;
    float2* parts = reinterpret_cast<float2*>(buffer);
    if (warp < warps) {
        sum = warpSum(sum);
        largest = warpMax(largest);
        if ((threadIdx.x & 31) == 0) {
            parts[warp] = make_float2(sum, largest);
        }
    }
    __syncthreads();
    sum = 0.0F;
    largest = 0.0F;
#pragma unroll 4
    for (int i = 0; i < warps; ++i) {
        sum += parts[i].x;
        largest = fmaxf(largest, parts[i].y);
    }
    return make_float2(sum, largest);
}

/// Four neighbours that another block may have written; `at` is aligned to 16 bytes (the launch
/// checks it).
__device__ __forceinline__ float4 loadFour(const float* at) {
    return __ldcg(reinterpret_cast<const float4*>(at));
}

/// Elements i to i + 3 of a small vector; ones where it is absent.
__device__ __forceinline__ float4 loadFour(const VectorArgs& v, int i) {
    if (v.data == nullptr) {
        return make_float4(1.0F, 1.0F, 1.0F, 1.0F);
    }
    if (v.type == kElementF32) {
        return *reinterpret_cast<const float4*>(static_cast<const float*>(v.data) + i);
    }
    const uint2 bits = *reinterpret_cast<const uint2*>(static_cast<const uint16_t*>(v.data) + i);
    if (v.type == kElementBf16) {
        return make_float4(__uint_as_float(bits.x << 16), __uint_as_float(bits.x & 0xffff0000U),
                           __uint_as_float(bits.y << 16), __uint_as_float(bits.y & 0xffff0000U));
    }
    const float2 low = __half22float2(asHalf2(bits.x));
    const float2 high = __half22float2(asHalf2(bits.y));
    return make_float4(low.x, low.y, high.x, high.y);
}

__device__ __forceinline__ float4 times(const float4& a, const float4& b) {
    return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
__device__ __forceinline__ float4 times(const float4& a, float b) {
    return make_float4(a.x * b, a.y * b, a.z * b, a.w * b);
}

__device__ __forceinline__ float4 plus(const float4& a, const float4& b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__device__ __forceinline__ float sumOfSquares(const float4& v) {
    return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
}

__device__ __forceinline__ float largestOf(const float4& v) {
    return fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
}

/// Elements i to i + 3 (i a multiple of 4), scaled, in the form that products read.
__device__ __forceinline__ void storeFour(const Shared& s, int i, const float4& v, float scale) {
    const __half2 low = __floats2half2_rn(v.x * scale, v.y * scale);
    const __half2 high = __floats2half2_rn(v.z * scale, v.w * scale);
    uint2 bits;
    bits.x = *reinterpret_cast<const uint32_t*>(&low);
    bits.y = *reinterpret_cast<const uint32_t*>(&high);
    *reinterpret_cast<uint2*>(reinterpret_cast<__half*>(s.x) + inputSlot(i)) = bits;
}

/// The row as it is.
template <int THREADS>
__device__ __forceinline__ float makePlainInput(const ProjectKernelArgs& a, const Shared& s) {
    const int fours = a.cols / 4;
    waitForPredecessor();
    float largest = 0.0F;
#pragma unroll 2
    for (int c = threadIdx.x; c < fours; c += THREADS) {
        largest = fmaxf(largest, largestOf(loadFour(a.x + 4 * c)));
    }
    const int warps = fours < THREADS ? (fours + 31) / 32 : THREADS / 32;
    const float factor = powerOfTwoFor(blockSumAndMax(0.0F, largest, warps, s.buffer).y);
    const float down = 1.0F / factor;
#pragma unroll 2
    for (int c = threadIdx.x; 4 * c < a.x_elements; c += THREADS) {
        storeFour(s, 4 * c, c < fours ? loadFour(a.x + 4 * c) : make_float4(0.0F, 0.0F, 0.0F, 0.0F),
                  down);
    }
    __syncthreads();
    return factor;
}

/// Makes h in fp16 in shared memory; returns the factor that undoes its scaling. Everything before
/// the wait reads constants only.
template <int THREADS>
__device__ __forceinline__ float makeInput(const ProjectKernelArgs& a, const Shared& s) {
    const bool has_residual = a.input == kInputResidualNorm || a.input == kInputResidual;
    const bool is_normed = a.input == kInputNorm || a.input == kInputResidualNorm;
    if (!has_residual && !is_normed) {
        return makePlainInput<THREADS>(a, s);
    }
    const int fours = a.cols / 4;
    const auto n = static_cast<float>(a.cols);
    const int warps = fours < THREADS ? (fours + 31) / 32 : THREADS / 32;
    float4* const r = s.rows;
    float4* const t = r + fours;
    float4* const norm = t + fours;
    float4* const t_norm = norm + fours;
#pragma unroll 1
    for (int c = threadIdx.x; c < fours; c += THREADS) {
        norm[c] = is_normed ? loadFour(a.norm, 4 * c) : make_float4(1.0F, 1.0F, 1.0F, 1.0F);
        if (has_residual) {
            t_norm[c] = loadFour(a.t_norm, 4 * c);
        }
    }
    waitForPredecessor();
    float scale = 0.0F;
    if (has_residual) {
        float sum = 0.0F;
#pragma unroll 2
        for (int c = threadIdx.x; c < fours; c += THREADS) {
            const float4 x = loadFour(a.x + 4 * c);
            const float4 v = loadFour(a.t + 4 * c);
            r[c] = x;
            t[c] = v;
            sum += sumOfSquares(v);
        }
        sum = blockSumAndMax(sum, 0.0F, warps, s.buffer).x;
        scale = a.t_norm.data != nullptr ? rsqrtf(sum / n + a.eps) : 1.0F;
    }
    float sum = 0.0F;
    float largest = 0.0F;
#pragma unroll 1
    for (int c = threadIdx.x; c < fours; c += THREADS) {
        float4 v = has_residual ? r[c] : loadFour(a.x + 4 * c);
        if (has_residual) {
            const float4 add = t[c];
            const float4 weight = t_norm[c];
            v.x = (v.x + add.x * scale * weight.x) * a.scalar;
            v.y = (v.y + add.y * scale * weight.y) * a.scalar;
            v.z = (v.z + add.z * scale * weight.z) * a.scalar;
            v.w = (v.w + add.w * scale * weight.w) * a.scalar;
            if (blockIdx.x == 0) {
                *reinterpret_cast<float4*>(a.x_out + 4 * c) = v;
            }
        }
        sum += sumOfSquares(v);
        const float4 weight = norm[c];
        v.x *= weight.x;
        v.y *= weight.y;
        v.z *= weight.z;
        v.w *= weight.w;
        largest = fmaxf(largest, largestOf(v));
        r[c] = v;
    }
    const float2 both = blockSumAndMax(sum, largest, warps, s.buffer + 64);
    const float inverse = is_normed ? rsqrtf(both.x / n + a.eps) : 1.0F;
    const float factor = powerOfTwoFor(both.y * inverse);
    const float down = inverse / factor; // factor is a power of two: no rounding of its own
#pragma unroll 1
    for (int c = threadIdx.x; 4 * c < a.x_elements; c += THREADS) {
        storeFour(s, 4 * c, c < fours ? r[c] : make_float4(0.0F, 0.0F, 0.0F, 0.0F), down);
    }
    __syncthreads();
    return factor;
}

} // namespace kernels::cuda
