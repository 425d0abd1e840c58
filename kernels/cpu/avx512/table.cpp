// SPDX-License-Identifier: Apache-2.0
// The table for AVX-512 without bf16 instructions: fp32 products, weights widened on the way.
#include "kernels/cpu/avx512/dot_four_bit.h"
#include "kernels/cpu/simd/op_table.h"
#include "kernels/cpu/simd/probe_loops.h"
#include "kernels/cpu/simd_tables.h"

namespace kernels::cpu {

namespace {

struct Avx512Kit {
    using V = Avx512;
    using FourBit = FourBitAvx512Dot;
    using Bf16 = NaturalDot<Avx512, WeightFormat::BF16>;
    using Int8 = NaturalDot<V, WeightFormat::Int8Row>;
    using Matmul = MatmulFp32<Avx512, 12, 2>; // 24 accumulators of 32 registers
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
