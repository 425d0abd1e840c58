// SPDX-License-Identifier: Apache-2.0
// Products of 4-bit and 8-bit weights in fp16 on tensor cores, sums in fp32.
//
// The input row is scaled by a power of two for each 64 columns and split into two fp16, 22 bits in
// all. One multiplication of the tensor cores has room for eight columns: the two parts of four
// sets of rows, or one part of eight (stream_step.cuh). A byte of two 4-bit codes becomes two fp16
// by one look-up in a table in shared memory that every lane has a copy of in its own bank; an
// 8-bit weight is exact in fp16.
#pragma once

#include "kernels/cuda/device/common/common.cuh"

namespace kernels::cuda {

/// The table of code pairs: 32 copies next to each other of every entry, then a gap.
struct GappedCodePairs {
    uint32_t base; ///< Shared address of this lane's copy of entry 0.

    /// All threads of the block; a barrier has to follow. The even column is a byte's upper half.
    static __device__ __forceinline__ void fill(char* at, int32_t code_table, int threads) {
        const uint32_t* const codes = codesOf(code_table);
        for (int i = threadIdx.x; i < kCodePairs * 32; i += threads) {
            const int byte = i >> 5;
            reinterpret_cast<uint32_t*>(at + byte * kCodeEntryBytes)[i & 31] =
                bitsOf(__floats2half2_rn(__uint_as_float(codes[byte >> 4]),
                                         __uint_as_float(codes[byte & 15])));
        }
    }
    /// Two fp16 of byte `BYTE` of a word: it becomes byte 1 of the address, which is zero in
    /// `base`.
    template <int BYTE>
    __device__ __forceinline__ uint32_t pairOf(uint32_t word) const {
        return loadShared(permuteBytes(word, base, 0x7604U | (BYTE << 4)));
    }
};

/// The same without gaps, half as large, anywhere: an address takes one instruction more.
struct DenseCodePairs {
    uint32_t base; ///< Shared address of this lane's copy of entry 0.

    /// From entry `first` on. `threads` threads; a barrier of theirs has to follow.
    static __device__ __forceinline__ void
    fill(char* at, int32_t code_table, int threads, int first = 0) {
        const uint32_t* const codes = codesOf(code_table);
#pragma unroll 1
        for (int i = first * 8 + static_cast<int>(threadIdx.x); i < kCodePairs * 8; i += threads) {
            const int byte = i >> 3;
            const uint32_t pair = bitsOf(__floats2half2_rn(__uint_as_float(codes[byte >> 4]),
                                                           __uint_as_float(codes[byte & 15])));
            reinterpret_cast<uint4*>(at)[i] = make_uint4(pair, pair, pair, pair);
        }
    }
    template <int BYTE>
    __device__ __forceinline__ uint32_t pairOf(uint32_t word) const {
        return loadShared(base + (permuteBytes(word, 0U, 0x4440U | BYTE) << 7));
    }
};

/// 16 rows x 64 columns of 4-bit codes. Two sums: a multiplication waits for
/// the one before that adds to the same.
template <typename TABLE>
__device__ __forceinline__ void multiplyCodes(float (&c)[4],
                                              const TABLE& table,
                                              const uint2& first,
                                              const uint2& second,
                                              const uint4 (&x)[2]) {
    float more[4] = {};
#pragma unroll
    for (int q = 0; q < 2; ++q) {
        const uint32_t wa = q == 0 ? first.x : first.y;
        const uint32_t wb = q == 0 ? second.x : second.y;
        const uint32_t low[4] = {table.template pairOf<0>(wa), table.template pairOf<0>(wb),
                                 table.template pairOf<1>(wa), table.template pairOf<1>(wb)};
        multiplyAddHalves(c, low, x[q].x, x[q].y);
        const uint32_t high[4] = {table.template pairOf<2>(wa), table.template pairOf<2>(wb),
                                  table.template pairOf<3>(wa), table.template pairOf<3>(wb)};
        multiplyAddHalves(more, high, x[q].z, x[q].w);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        c[i] += more[i];
    }
}

/// 16 rows x 16 columns of bf16: a lane's four columns of both rows, and of x as they lie there.
__device__ __forceinline__ void
multiplyHalfUnit(float (&c)[4], const uint2& first, const uint2& second, const uint2& x) {
    const uint32_t a[4] = {first.x, second.x, first.y, second.y};
    multiplyAdd(c, a, x.x, x.y);
}

/// Two signed bytes of `word` as fp16, exactly: 1024 + 128 + b has b in its lower bits.
__device__ __forceinline__ uint32_t halvesOfBytes(uint32_t biased, uint32_t selector) {
    return bitsOf(
        __hsub2(asHalf2(permuteBytes(biased, 0x64646464U, selector)), asHalf2(0x64806480U)));
}

/// 16 rows x 32 columns of signed bytes.
__device__ __forceinline__ void
multiplyBytes(float (&c)[4], const uint2& first, const uint2& second, const uint4& x) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
        const uint32_t wa = (q == 0 ? first.x : first.y) ^ 0x80808080U;
        const uint32_t wb = (q == 0 ? second.x : second.y) ^ 0x80808080U;
        const uint32_t a[4] = {halvesOfBytes(wa, 0x4140U), halvesOfBytes(wb, 0x4140U),
                               halvesOfBytes(wa, 0x4342U), halvesOfBytes(wb, 0x4342U)};
        multiplyAddHalves(c, a, q == 0 ? x.x : x.z, q == 0 ? x.y : x.w);
    }
}

} // namespace kernels::cuda
