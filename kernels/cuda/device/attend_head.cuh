// SPDX-License-Identifier: Apache-2.0
// What both forms of the attention step do to one head: norm, RoPE, unpacking of cached rows.
#pragma once

#include "kernels/cuda/device/common.cuh"

namespace kernels::cuda {

/// rms norm of one head in shared memory in place, then half-split RoPE (turns nullptr: none), then
/// scale. One warp. turns: [dim / 2] cosine, [dim / 2] sine.
__device__ __forceinline__ void
normAndTurn(float* head, int dim, const float* norm, float eps, const float* turns, float scale) {
    const int lane = threadIdx.x & 31;
    float sum = 0.0F;
    for (int d = lane; d < dim; d += 32) {
        sum += head[d] * head[d];
    }
    const float inverse = rsqrtf(warpSum(sum) / static_cast<float>(dim) + eps);
    const int half = dim / 2;
    for (int j = lane; j < half; j += 32) {
        float a = head[j] * inverse;
        float b = head[j + half] * inverse;
        if (norm != nullptr) {
            a *= norm[j];
            b *= norm[j + half];
        }
        if (turns != nullptr) {
            const float cosine = turns[j];
            const float sine = turns[half + j];
            const float turned = a * cosine - b * sine;
            b = b * cosine + a * sine;
            a = turned;
        }
        head[j] = a * scale;
        head[j + half] = b * scale;
    }
    __syncwarp();
}

__device__ __forceinline__ void unpack8(const uint4& bits, float (&out)[8]) {
    const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        out[2 * i] = __uint_as_float(words[i] << 16);
        out[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000U);
    }
}

} // namespace kernels::cuda
