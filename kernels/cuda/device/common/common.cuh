// SPDX-License-Identifier: Apache-2.0
// Device helpers: element conversion, the value of one stored weight, block reductions.
#pragma once

#include "kernels/block_formats.h"
#include "kernels/cuda/device/common/args.h"
#include "kernels/cuda/device/common/ptx.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace kernels::cuda {

static __device__ __constant__ CodeTables kCodes = kCodeTables;

/// The values of codes by bit pattern; zeros for code_table 0. code_table: WeightArgs::code_table.
const __device__ __forceinline__ uint32_t* codesOf(int code_table) {
    return kCodes.at[code_table].bits;
}

__device__ __forceinline__ __half2 asHalf2(uint32_t bits) {
    return *reinterpret_cast<const __half2*>(&bits);
}
__device__ __forceinline__ uint32_t bitsOf(const __half2& pair) {
    uint32_t bits = 0;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

__device__ __forceinline__ float loadElement(const void* data, int type, int64_t index) {
    if (type == kElementF32) {
        return static_cast<const float*>(data)[index];
    }
    if (type == kElementF16) {
        return __half2float(static_cast<const __half*>(data)[index]);
    }
    return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[index]);
}

/// fp32 rounded through an element type (nearest even).
__device__ __forceinline__ float roundTo(int type, float value) {
    if (type == kElementF16) {
        return __half2float(__float2half_rn(value));
    }
    if (type == kElementBf16) {
        return __bfloat162float(__float2bfloat16_rn(value));
    }
    return value;
}

/// absmax of a 4-bit block; nested: a rounded product, then a rounded sum.
__device__ __forceinline__ float blockScale(const WeightArgs& w, int64_t block) {
    if (w.absmax != nullptr) {
        return w.absmax[block];
    }
    return __fadd_rn(__fmul_rn(w.nested_code[w.absmax_q[block]], w.nested_absmax[block >> 8]),
                     w.nested_offset);
}

/// A value of a block; a function of its own, as it has fourteen ways that few calls take.
static __device__ __noinline__ float
blockValueAt(WeightFormat format, const void* data, int64_t i) {
    return blockElement(format, data, i);
}

/// Element i (flat, row-major) of a stored weight, exactly as its format defines it.
__device__ __forceinline__ float weightValue(const WeightArgs& w, int64_t row, int64_t index) {
    switch (w.layout) {
    case WeightLayout::F32:
        return static_cast<const float*>(w.data)[index];
    case WeightLayout::F16:
        return loadElement(w.data, kElementF16, index);
    case WeightLayout::BF16:
        return loadElement(w.data, kElementBf16, index);
    case WeightLayout::Int8Row:
        return __fmul_rn(static_cast<float>(static_cast<const int8_t*>(w.data)[index]),
                         w.row_scale[row]);
    case WeightLayout::Int8Block:
        return __fmul_rn(static_cast<float>(static_cast<const int8_t*>(w.data)[index]),
                         w.absmax[index / w.block_size]);
    case WeightLayout::Blocks:
        return blockValueAt(w.format, w.data, index);
    default: {
        const uint8_t byte = static_cast<const uint8_t*>(w.data)[index >> 1];
        const int code = (index & 1) == 0 ? byte >> 4 : byte & 15;
        const float value = __uint_as_float(codesOf(w.code_table)[code]);
        return roundTo(w.expand_type, __fmul_rn(value, blockScale(w, index / w.block_size)));
    }
    }
}

__device__ __forceinline__ float warpSum(float value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) {
        value += __shfl_xor_sync(0xffffffffU, value, offset);
    }
    return value;
}

__device__ __forceinline__ float warpMax(float value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, offset));
    }
    return value;
}

/// Sum over the block, in every thread. `buffer` [33] in shared memory; two barriers, so that the
/// buffer can be used again at once.
__device__ __forceinline__ float blockSum(float value, float* buffer) {
    value = warpSum(value);
    const int warps = (blockDim.x + 31) / 32;
    __syncthreads();
    if ((threadIdx.x & 31) == 0) {
        buffer[threadIdx.x >> 5] = value;
    }
    __syncthreads();
    float sum = 0.0F;
    for (int i = 0; i < warps; ++i) {
        sum += buffer[i];
    }
    return sum;
}

__device__ __forceinline__ float blockMax(float value, float* buffer) {
    value = warpMax(value);
    const int warps = (blockDim.x + 31) / 32;
    __syncthreads();
    if ((threadIdx.x & 31) == 0) {
        buffer[threadIdx.x >> 5] = value;
    }
    __syncthreads();
    float largest = buffer[0];
    for (int i = 1; i < warps; ++i) {
        largest = fmaxf(largest, buffer[i]);
    }
    return largest;
}

__device__ __forceinline__ float activated(Activation activation, float x) {
    constexpr float kRootTwoOverPi = 0.7978845608028654F;
    return activation == Activation::Silu
               ? x / (1.0F + expf(-x))
               : 0.5F * x * (1.0F + tanhf(kRootTwoOverPi * (x + 0.044715F * x * x * x)));
}

/// body(act) with the activation as a function: chosen once in front of a loop, not for each value.
template <typename Body>
__device__ __forceinline__ void withActivation(Activation activation, const Body& body) {
    if (activation == Activation::Silu) {
        body([](float x) { return activated(Activation::Silu, x); });
    } else {
        body([](float x) { return activated(Activation::GeluTanh, x); });
    }
}

/// activated(): x times the logistic function of x, or for the tanh form of GELU of
/// 2 sqrt(2 / pi) (x + 0.044715 x^3).
__device__ __forceinline__ float activatedFast(Activation activation, float x) {
    constexpr float kTwoRootTwoOverPi = 1.5957691216057308F;
    const float inner =
        activation == Activation::Silu ? x : kTwoRootTwoOverPi * (x + 0.044715F * x * x * x);
    return __fdividef(x, 1.0F + __expf(-inner));
}

/// Key k is visible to query q (kernels/ops.h, AttentionMask).
__device__ __forceinline__ bool
isVisible(const AttentionKernelArgs& a, int64_t query, int64_t key) {
    const int k = a.key_position[key];
    if (k < 0) {
        return false;
    }
    const int q = a.query_position[query];
    if (a.is_causal != 0 && k > q) {
        if (a.query_block == nullptr || a.query_block[query] < 0 ||
            a.query_block[query] != a.key_block[key]) {
            return false;
        }
    }
    return a.window == 0 || k > q - a.window;
}

} // namespace kernels::cuda
