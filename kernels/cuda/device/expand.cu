// SPDX-License-Identifier: Apache-2.0
// Expansion of a panel of weight rows to bf16, in front of a tensor-core product. Values are those
// of the format's definition, rounded to bf16 (the same as bitsandbytes' own bf16 expansion).
#include "kernels/cuda/device/common.cuh"

using namespace kernels::cuda;

extern "C" {

/// out[r, c] = w[first_row + r, c], any format; one element a thread.
__global__ void
belfry_expand_any(WeightArgs w, int64_t first_row, int64_t rows, __nv_bfloat16* out) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < rows * w.cols) {
        const int64_t row = first_row + i / w.cols;
        out[i] = __float2bfloat16_rn(weightValue(w, row, first_row * w.cols + i));
    }
}

/// The same for 4-bit formats with cols and block_size multiples of 16: 16 weights a thread, 8
/// bytes in, 32 bytes out.
__global__ void
belfry_expand_four_bit(WeightArgs w, int64_t first_row, int64_t rows, __nv_bfloat16* out) {
    BELFRY_SHARED(float, codes, [16]);
    if (threadIdx.x < 16) {
        codes[threadIdx.x] = __uint_as_float(w.format == kFormatFp4 ? kFp4Codes[threadIdx.x]
                                                                    : kNf4Codes[threadIdx.x]);
    }
    __syncthreads();
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 16;
    if (i >= rows * w.cols) {
        return;
    }
    const int64_t index = first_row * w.cols + i;
    const float scale = blockScale(w, index / w.block_size);
    const uint2 packed =
        *reinterpret_cast<const uint2*>(static_cast<const uint8_t*>(w.data) + index / 2);
    __nv_bfloat162 values[8];
#pragma unroll
    for (int b = 0; b < 8; ++b) {
        const uint32_t byte = ((b < 4 ? packed.x : packed.y) >> (8 * (b & 3))) & 255U;
        float even = __fmul_rn(codes[byte >> 4], scale);
        float odd = __fmul_rn(codes[byte & 15U], scale);
        if (w.expand_type == kElementF16) {
            even = roundTo(kElementF16, even);
            odd = roundTo(kElementF16, odd);
        }
        values[b] = __floats2bfloat162_rn(even, odd);
    }
    uint4* to = reinterpret_cast<uint4*>(out + i);
    to[0] = *reinterpret_cast<const uint4*>(values);
    to[1] = *reinterpret_cast<const uint4*>(values + 4);
}

} // extern "C"
