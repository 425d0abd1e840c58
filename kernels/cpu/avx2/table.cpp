// SPDX-License-Identifier: Apache-2.0
// The table for AVX2 + FMA + F16C: 4-bit rows and one token as products of bytes, everything else
// in fp32; for a few tokens 4-bit code values are rounded to bf16.
#include "kernels/cpu/avx2/dot_codes.h"
#include "kernels/cpu/avx2/dot_four_bit.h"
#include "kernels/cpu/simd/dot_blocks.h"
#include "kernels/cpu/simd/op_table.h"
#include "kernels/cpu/simd/probe_loops.h"
#include "kernels/cpu/simd_tables.h"

namespace kernels::cpu {

namespace {

struct Avx2Kit {
    using V = Avx2;
    using FourBit = FourBitDot<FourBitAvx2>;
    using FourBitOne = FourBitAvx2ByteDot;
    using Bf16 = NaturalDot<Avx2, WeightFormat::BF16>;
    using Int8 = NaturalDot<V, WeightFormat::Int8Row>;
    using Blocks = BlockDot<V>;
    using Matmul = MatmulFp32<Avx2, 6, 2>; // 12 accumulators of 16 registers
    using MatmulExact = Matmul;
    static constexpr DotLimits kDotLimits = {.bf16 = 24, .four_bit = 40, .int8 = 20, .exact = 12};
    static constexpr const char* kName = "cpu-avx2";
};

} // namespace

const OpTable& avx2Table() {
    static constexpr OpTable kTable = makeTable<Avx2Kit>();
    return kTable;
}

ProbeLoops avx2ProbeLoops() {
    return {Probe<Avx2>::read, Probe<Avx2>::fp32, nullptr};
}

} // namespace kernels::cpu
