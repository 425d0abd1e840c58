// SPDX-License-Identifier: Apache-2.0
// Expansion of a panel of weight rows to bf16, in front of a tensor-core product. Values are those
// of the format's definition, rounded to bf16 (the same as bitsandbytes' own bf16 expansion).
#include "kernels/cuda/device/common/common.cuh"

using namespace kernels;
using namespace kernels::cuda;

namespace {

/// The 16 values of a 4-bit format to shared memory, with a barrier of the block.
__device__ __forceinline__ void loadCodes(const WeightArgs& w, float* codes) {
    if (threadIdx.x < 16) {
        codes[threadIdx.x] = __uint_as_float(codesOf(w.code_table)[threadIdx.x]);
    }
    __syncthreads();
}

/// 16 weights of one 4-bit block from flat index `index` on.
__device__ __forceinline__ void
expandSixteen(const WeightArgs& w, int64_t index, const float* codes, __nv_bfloat16* out) {
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
    uint4* to = reinterpret_cast<uint4*>(out);
    to[0] = *reinterpret_cast<const uint4*>(values);
    to[1] = *reinterpret_cast<const uint4*>(values + 4);
}

/// 16 weights in 8 bits of one row, from flat index `index` on.
__device__ __forceinline__ void
expandSixteenBytes(const WeightArgs& w, int64_t index, __nv_bfloat16* out) {
    const float scale = w.row_scale[index / w.cols];
    const uint4 packed =
        *reinterpret_cast<const uint4*>(static_cast<const int8_t*>(w.data) + index);
    const uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
    __nv_bfloat162 values[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const uint32_t two = words[i / 2] >> (16 * (i & 1));
        values[i] = __floats2bfloat162_rn(
            __fmul_rn(static_cast<float>(static_cast<int8_t>(two & 255U)), scale),
            __fmul_rn(static_cast<float>(static_cast<int8_t>(two >> 8 & 255U)), scale));
    }
    uint4* to = reinterpret_cast<uint4*>(out);
    to[0] = *reinterpret_cast<const uint4*>(values);
    to[1] = *reinterpret_cast<const uint4*>(values + 4);
}

/// A run of blocks from flat index `index` on.
__device__ __forceinline__ void expandRun(const WeightArgs& w, int64_t index, __nv_bfloat16* out) {
    withBlockFormat(w.format, [&](auto format) {
        constexpr WeightFormat F = decltype(format)::kFormat;
        constexpr int per_block = BlockFormat<F>::kValues;
        const uint8_t* const block =
            static_cast<const uint8_t*>(w.data) + index / per_block * BlockFormat<F>::kBytes;
        const int run = static_cast<int>(index % per_block) / kRunValues;
        const BlockRange range = rangeOf<F>(block, run);
        const CodeRun codes = codesAt<F>(block, run);
        __nv_bfloat162 values[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            values[i] = __floats2bfloat162_rn(blockValue<F>(range, codeOf<F>(codes, 2 * i)),
                                              blockValue<F>(range, codeOf<F>(codes, 2 * i + 1)));
        }
        uint4* const to = reinterpret_cast<uint4*>(out);
        to[0] = *reinterpret_cast<const uint4*>(values);
        to[1] = *reinterpret_cast<const uint4*>(values + 4);
    });
}

} // namespace

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
    loadCodes(w, codes);
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 16;
    if (i < rows * w.cols) {
        expandSixteen(w, first_row * w.cols + i, codes, out + i);
    }
}

/// The same for blocks, whose rows are whole runs.
__global__ void
belfry_expand_blocks(WeightArgs w, int64_t first_row, int64_t rows, __nv_bfloat16* out) {
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 16;
    if (i < rows * w.cols) {
        expandRun(w, first_row * w.cols + i, out + i);
    }
}

/// Rows of up to three weights, each of any format; 16 weights a thread (the end of a weight's rows
/// may have fewer).
__global__ void belfry_expand_group(const __grid_constant__ ExpandArgs a) {
    BELFRY_SHARED(float, codes, [16]);
    const int64_t block = blockIdx.x;
    const int which = block >= a.blocks[1] ? 2 : block >= a.blocks[0] ? 1 : 0;
    const WeightArgs& w = a.w[which];
    loadCodes(w, codes);
    const int64_t at = block - (which == 0 ? 0 : a.blocks[which - 1]);
    const int64_t i = (at * blockDim.x + threadIdx.x) * 16;
    const int64_t count = a.rows[which] * w.cols;
    const int64_t index = a.first[which] * w.cols + i;
    __nv_bfloat16* const to = static_cast<__nv_bfloat16*>(a.to[which]) + i;
    const bool is_four_bit = w.layout == WeightLayout::Codes;
    if (is_four_bit && w.cols % 16 == 0 && w.block_size % 16 == 0) {
        if (i < count) {
            expandSixteen(w, index, codes, to);
        }
        return;
    }
    if (w.layout == WeightLayout::Int8Row && w.cols % 16 == 0 &&
        (reinterpret_cast<uintptr_t>(w.data) & 15) == 0) {
        if (i < count) {
            expandSixteenBytes(w, index, to);
        }
        return;
    }
    if (w.layout == WeightLayout::Blocks) {
        if (i < count) {
            expandRun(w, index, to);
        }
        return;
    }
    for (int e = 0; e < 16 && i + e < count; ++e) {
        to[e] = __float2bfloat16_rn(weightValue(w, (index + e) / w.cols, index + e));
    }
}

} // extern "C"
