// SPDX-License-Identifier: Apache-2.0
// The table for AVX-512 with BF16, VBMI and VNNI: products of bf16 operands with fp32 sums (of
// bytes and 16-bit integers for one token and 4-bit or int8 rows); F32 and F16 weights stay in
// fp32.
#include "kernels/cpu/avx512/dot_blocks.h"
#include "kernels/cpu/avx512/dot_codes.h"
#include "kernels/cpu/avx512/dot_int8.h"
#include "kernels/cpu/avx512bf16/matmul_bf16.h"
#include "kernels/cpu/simd/op_table.h"
#include "kernels/cpu/simd/probe_loops.h"
#include "kernels/cpu/simd_tables.h"

namespace kernels::cpu {

namespace {

struct Avx512Bf16Kit {
    using V = Avx512Bf16;
    using FourBit = FourBitDot<FourBitBf16>;
    using FourBitOne = FourBitByteDot<V>;
    using Bf16 = Bf16Dot;
    using Int8 = Int8Dot<V>;
    using Blocks = BlockByteDot<V>;
    using Matmul = MatmulBf16;
    using MatmulExact = MatmulFp32<V, 12, 2>;
    static constexpr DotLimits kDotLimits = {.bf16 = 6, .four_bit = 20, .int8 = 8, .exact = 8};
    static constexpr const char* kName = "cpu-avx512bf16";
};

double bf16Probe(int64_t rounds) {
    constexpr int kChains = Probe<Avx512Bf16>::kChains;
    __m512 acc[kChains];
    for (__m512& chain : acc) {
        chain = _mm512_set1_ps(1.0F);
    }
    int32_t pair = 0x3f003f00; // 0.5, 0.5; hidden from the optimizer
    __asm__ volatile("" : "+m"(pair));
    const __m512i factor = _mm512_set1_epi32(pair);
    for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
        for (int c = 0; c < kChains; ++c) {
            acc[c] = dotPairs(acc[c], factor, factor);
        }
    }
    __m512 total = acc[0];
    for (int c = 1; c < kChains; ++c) {
        total = _mm512_add_ps(total, acc[c]);
    }
    volatile float sink = _mm512_reduce_add_ps(total);
    (void)sink;
    return static_cast<double>(rounds) * kChains * 64.0;
}

} // namespace

const OpTable& avx512Bf16Table() {
    static constexpr OpTable kTable = makeTable<Avx512Bf16Kit>();
    return kTable;
}

ProbeLoops avx512Bf16ProbeLoops() {
    return {Probe<Avx512Bf16>::read, Probe<Avx512Bf16>::fp32, bf16Probe};
}

} // namespace kernels::cpu
