// SPDX-License-Identifier: Apache-2.0
// The table for AVX-512 with VNNI: 4-bit rows and one token as products of bytes, int8 rows in 16
// bits; everything else in fp32, weights widened on the way.
#include "kernels/cpu/avx512/dot_blocks.h"
#include "kernels/cpu/avx512/dot_codes.h"
#include "kernels/cpu/avx512/dot_four_bit.h"
#include "kernels/cpu/avx512/dot_int8.h"
#include "kernels/cpu/avx512vnni/vec_vnni.h"
#include "kernels/cpu/simd/op_table.h"
#include "kernels/cpu/simd/probe_loops.h"
#include "kernels/cpu/simd_tables.h"

namespace kernels::cpu {

namespace {

struct Avx512VnniKit {
    using V = Avx512Vnni;
    using FourBit = FourBitDot<FourBitAvx512<V>>;
    using FourBitOne = FourBitByteDot<V>;
    /// Two to four tokens take 21 to 37 operations per 128 codes, with fp32 products 34 to 52.
    static constexpr int64_t kFourBitOneTokens = FourBitOne::kMostTokens;
    using Bf16 = NaturalDot<V, WeightFormat::BF16>;
    using Int8 = Int8Dot<V>;
    using Blocks = BlockByteDot<V>;
    using Matmul = MatmulFp32<V, 12, 2>; // 24 accumulators of 32 registers
    using MatmulExact = Matmul;
    static constexpr DotLimits kDotLimits = {.bf16 = 28, .four_bit = 32, .int8 = 20, .exact = 8};
    static constexpr const char* kName = "cpu-avx512vnni";
};

} // namespace

const OpTable& avx512VnniTable() {
    static constexpr OpTable kTable = makeTable<Avx512VnniKit>();
    return kTable;
}

ProbeLoops avx512VnniProbeLoops() {
    return {Probe<Avx512Vnni>::read, Probe<Avx512Vnni>::fp32, nullptr};
}

} // namespace kernels::cpu
