// SPDX-License-Identifier: Apache-2.0
// The table for AVX-512 without instructions for bytes or bf16: fp32 products, weights widened on
// the way; int8 rows in 16 bits.
#include "kernels/cpu/avx512/dot_four_bit.h"
#include "kernels/cpu/avx512/dot_int8.h"
#include "kernels/cpu/simd/dot_blocks.h"
#include "kernels/cpu/simd/op_table.h"
#include "kernels/cpu/simd/probe_loops.h"
#include "kernels/cpu/simd_tables.h"

namespace kernels::cpu {

namespace {

struct Avx512Kit {
    using V = Avx512;
    using FourBit = FourBitDot<FourBitAvx512<V>>;
    using Bf16 = NaturalDot<V, WeightFormat::BF16>;
    using Int8 = Int8Dot<V>;
    using Blocks = BlockDot<V>;
    using Matmul = MatmulFp32<V, 12, 2>; // 24 accumulators of 32 registers
    using MatmulExact = Matmul;
    static constexpr DotLimits kDotLimits = {.bf16 = 28, .four_bit = 32, .int8 = 20, .exact = 8};
    static constexpr const char* kName = "cpu-avx512";
};

} // namespace

const OpTable& avx512Table() {
    static constexpr OpTable kTable = makeTable<Avx512Kit>();
    return kTable;
}

ProbeLoops avx512ProbeLoops() {
    return {Probe<Avx512>::read, Probe<Avx512>::fp32, nullptr};
}

} // namespace kernels::cpu
