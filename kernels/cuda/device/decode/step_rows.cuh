// SPDX-License-Identifier: Apache-2.0
// Which rows of its weights a block of a projection step owns, and loads of small operands.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

constexpr int kSlab = 512;

/// What another block may have written in this launch: past the first-level cache.
__device__ __forceinline__ float loadFresh(const float* at) {
    return __ldcg(at);
}

/// The rows of weight j among a block's outputs [begin, end): [from, to). `before`: rows of the
/// weights before it, where they follow each other.
struct RowRange {
    int from;
    int to;
};
__device__ __forceinline__ RowRange
rowsOf(const ProjectKernelArgs& a, int j, int begin, int end, int before) {
    const int rows = static_cast<int>(a.w[j].rows);
    if (a.output == kOutputGatedPair) {
        return {begin, end};
    }
    return {begin > before ? begin - before : 0, end - before < rows ? end - before : rows};
}

__device__ __forceinline__ int firstOutput(const ProjectKernelArgs& a, int block, int grid) {
    // Below 2^31: vocabularies of 262k rows on a few hundred multiprocessors.
    return static_cast<int>(static_cast<unsigned>(a.outputs) * static_cast<unsigned>(block) /
                            static_cast<unsigned>(grid));
}

__device__ __forceinline__ RowRange rowsOfWeight(const ProjectKernelArgs& a,
                                                 int weight,
                                                 int begin,
                                                 int end) {
    int before = 0;
    for (int j = 0; j < weight; ++j) {
        before += static_cast<int>(a.w[j].rows);
    }
    return rowsOf(a, weight, begin, end, before);
}

__device__ __forceinline__ void splitEight(const float4& low, const float4& high, float (&v)[8]) {
    v[0] = low.x;
    v[1] = low.y;
    v[2] = low.z;
    v[3] = low.w;
    v[4] = high.x;
    v[5] = high.y;
    v[6] = high.z;
    v[7] = high.w;
}
/// Converts eight elements of 16 bits.
template <int TYPE>
__device__ __forceinline__ void splitEight(const uint4& bits, float (&v)[8]) {
    const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if constexpr (TYPE == kElementBf16) {
            v[2 * i] = __uint_as_float(words[i] << 16);
            v[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000U);
        } else {
            const float2 pair = __half22float2(asHalf2(words[i]));
            v[2 * i] = pair.x;
            v[2 * i + 1] = pair.y;
        }
    }
}

/// Elements 8 `half` to 8 `half` + 7 of a row in shared memory.
template <int TYPE>
__device__ __forceinline__ void eightOf(const char* row, int half, float (&v)[8]) {
    if constexpr (TYPE == kElementF32) {
        splitEight(*reinterpret_cast<const float4*>(row + half * 32),
                   *reinterpret_cast<const float4*>(row + half * 32 + 16), v);
    } else {
        splitEight<TYPE>(*reinterpret_cast<const uint4*>(row + half * 16), v);
    }
}

/// The first eight of a row whose type is known on the way.
__device__ __forceinline__ void eightOf(int type, const char* row, float (&v)[8]) {
    if (type == kElementBf16) {
        eightOf<kElementBf16>(row, 0, v);
    } else if (type == kElementF16) {
        eightOf<kElementF16>(row, 0, v);
    } else {
        eightOf<kElementF32>(row, 0, v);
    }
}

} // namespace kernels::cuda
