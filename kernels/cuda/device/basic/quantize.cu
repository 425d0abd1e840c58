// SPDX-License-Identifier: Apache-2.0
// Quantization of weights while they are loaded: blocks of 64 values to 4-bit codes and their
// absmax, rows to 8-bit codes and their scale. Every rounding is that of engine/quant/NF4.md, so
// that the bytes are those of the CPU; nothing here may be contracted or approximated.
#include "kernels/cuda/device/common/common.cuh"

using namespace kernels::cuda;

namespace {

/// A code is the number of thresholds below the ratio (NF4: by bit pattern, four of the midpoints
/// lie between two fp32 numbers; FP4: on the magnitude).
__device__ __constant__ uint32_t kNf4Thresholds[15] = {
    0xbf591cd8U, 0xbf1c5270U, 0xbeeb8480U, 0xbeadea76U, 0xbe703cecU,
    0xbe0d38bcU, 0xbd3a7871U, 0x3d22faffU, 0x3df64862U, 0x3e5067e0U,
    0x3e9582d4U, 0x3ec753f9U, 0x3f006d04U, 0x3f248dafU, 0x3f5c89daU};
__device__ __constant__ float kFp4Thresholds[7] = {
    0.00260417F, 0.0859375F, 0.20833333F, 0.29166667F, 0.4166667F, 0.583333F, 0.8333333F};
/// FP4 codes in ascending order of magnitude, four bits each: 0 1 6 7 4 5 2 3.
constexpr uint32_t kFp4Order = 0x32547610U;
/// Mantissas of a BF16 absmax whose reciprocal is one unit in the last place higher or lower on the
/// cards that bitsandbytes' FP4 bytes come from; 32 mantissas a word.
__device__ __constant__ uint32_t kReciprocalUp[4] = {
    (1U << 6) | (1U << 13),
    (1U << (37 - 32)) | (1U << (38 - 32)) | (1U << (51 - 32)) | (1U << (61 - 32)),
    (1U << (65 - 64)) | (1U << (66 - 64)) | (1U << (81 - 64)) | (1U << (91 - 64)),
    (1U << (109 - 96)) | (1U << (115 - 96)) | (1U << (116 - 96)) | (1U << (118 - 96)) |
        (1U << (121 - 96))};
__device__ __constant__ uint32_t kReciprocalDown[4] = {
    (1U << 4) | (1U << 11) | (1U << 20) | (1U << 22), 0U, 0U, 1U << (127 - 96)};

constexpr uint32_t kExponentBits = 0x7f800000U;
constexpr float kLargest = 3.402823466e38F;
constexpr int kPerThread = 8;

__device__ __forceinline__ float blockReciprocal(bool is_fp4, uint32_t absmax) {
    const float exact = __fdiv_rn(1.0F, __uint_as_float(absmax));
    const uint32_t bits = __float_as_uint(exact);
    const bool is_bf16 = (absmax & 0xffffU) == 0 && (absmax & kExponentBits) != 0;
    const bool is_normal = bits >= 0x00800000U && bits < kExponentBits;
    if (!is_fp4 || !is_bf16 || !is_normal) {
        return exact;
    }
    const uint32_t mantissa = (absmax >> 16) & 0x7fU;
    const uint32_t bit = 1U << (mantissa & 31U);
    const uint32_t up = (kReciprocalUp[mantissa >> 5] & bit) != 0 ? 1U : 0U;
    const uint32_t down = (kReciprocalDown[mantissa >> 5] & bit) != 0 ? 1U : 0U;
    return __uint_as_float(bits + up - down);
}

__device__ __forceinline__ uint32_t codeOf(bool is_fp4, float y) {
    uint32_t code = 0;
    if (is_fp4) {
        const float magnitude = fabsf(y);
#pragma unroll
        for (int i = 0; i < 7; ++i) {
            code += magnitude > kFp4Thresholds[i] ? 1U : 0U;
        }
        return ((kFp4Order >> (4 * code)) & 15U) | (y < 0.0F ? 8U : 0U);
    }
#pragma unroll
    for (int i = 0; i < 15; ++i) {
        code += y > __uint_as_float(kNf4Thresholds[i]) ? 1U : 0U;
    }
    return code;
}

/// Eight values from `first` on; zeros from `count` on.
__device__ __forceinline__ void
loadValues(const void* values, int type, int64_t first, int64_t count, float* out) {
    if (type == kElementBf16 && first + kPerThread <= count) {
        const uint4 raw =
            *reinterpret_cast<const uint4*>(static_cast<const __nv_bfloat16*>(values) + first);
        const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
        for (int i = 0; i < kPerThread; ++i) {
            const uint32_t word = words[i / 2];
            out[i] = __uint_as_float(i % 2 == 0 ? word << 16 : word & 0xffff0000U);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
        out[i] = first + i < count ? loadElement(values, type, first + i) : 0.0F;
    }
}

} // namespace

extern "C" {

/// data[ceil(count/2)] and absmax[ceil(count/64)] of values[count]; eight values a thread, eight
/// threads a block of values. The absmax of a block with a value that is not finite is not finite
/// (its codes mean nothing then).
__global__ void belfry_quantize_blocks(
    const void* values, int type, int is_fp4, int64_t count, uint8_t* data, float* absmax) {
    const int64_t first =
        (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kPerThread;
    float x[kPerThread];
    loadValues(values, type, first, count, x);
    uint32_t largest = 0;
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
        const uint32_t bits = __float_as_uint(x[i]) & 0x7fffffffU;
        largest = bits > largest ? bits : largest;
    }
#pragma unroll
    for (int lanes = 4; lanes > 0; lanes >>= 1) {
        const uint32_t other = __shfl_xor_sync(0xffffffffU, largest, lanes);
        largest = other > largest ? other : largest;
    }
    if (first >= count) {
        return;
    }
    if ((threadIdx.x & 7) == 0) {
        absmax[first / 64] = __uint_as_float(largest);
    }
    float reciprocal = largest != 0 ? blockReciprocal(is_fp4 != 0, largest) : 0.0F;
    if (reciprocal > kLargest) { // infinite: absmax below 2^-128, so divide
#pragma unroll
        for (int i = 0; i < kPerThread; ++i) {
            x[i] = __fdiv_rn(x[i], __uint_as_float(largest));
        }
        reciprocal = 1.0F;
    }
    uint32_t packed = 0;
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
        const uint32_t code = largest != 0  ? codeOf(is_fp4 != 0, __fmul_rn(x[i], reciprocal))
                              : is_fp4 != 0 ? 0U
                                            : 7U;
        // The even value of a byte is its high half; bytes ascend from the low end of the word.
        packed |= code << (8 * (i / 2) + (i % 2 == 0 ? 4 : 0));
    }
    if (first + kPerThread <= count) {
        *reinterpret_cast<uint32_t*>(data + first / 2) = packed;
        return;
    }
    for (int64_t byte = 0; 2 * byte < count - first; ++byte) {
        data[first / 2 + byte] = static_cast<uint8_t>(packed >> (8 * byte));
    }
}

/// data[rows, cols] and scale[rows] of values[rows, cols]; one warp a row. The scale of a row with
/// a value that is not finite is not finite.
__global__ void belfry_quantize_rows(
    const void* values, int type, int64_t rows, int64_t cols, int8_t* data, float* scale) {
    const int64_t row = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) {
        return; // whole warps
    }
    const int lane = static_cast<int>(threadIdx.x & 31U);
    uint32_t largest = 0;
    for (int64_t c = lane; c < cols; c += 32) {
        const uint32_t bits =
            __float_as_uint(loadElement(values, type, row * cols + c)) & 0x7fffffffU;
        largest = bits > largest ? bits : largest;
    }
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes >>= 1) {
        const uint32_t other = __shfl_xor_sync(0xffffffffU, largest, lanes);
        largest = other > largest ? other : largest;
    }
    const float step = __fdiv_rn(__uint_as_float(largest), 127.0F);
    if (lane == 0) {
        scale[row] = step;
    }
    const bool is_usable = step > 0.0F && step <= kLargest;
    for (int64_t c = lane; c < cols; c += 32) {
        const float value = loadElement(values, type, row * cols + c);
        data[row * cols + c] =
            is_usable ? static_cast<int8_t>(__float2int_rn(__fdiv_rn(value, step))) : int8_t{0};
    }
}

} // extern "C"
