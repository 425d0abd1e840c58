// SPDX-License-Identifier: Apache-2.0
// The table for AVX-512 with BF16 and VBMI: products of bf16 operands with fp32 sums; F32 and F16
// weights stay in fp32.
#include "kernels/cpu/avx512bf16/matmul_bf16.h"
#include "kernels/cpu/simd/op_table.h"
#include "kernels/cpu/simd_tables.h"

namespace kernels::cpu {

namespace {

struct Avx512Bf16Kit {
    using V = Avx512Bf16;
    using FourBit = FourBitBf16Dot;
    using Bf16 = Bf16Dot;
    using Matmul = MatmulBf16;
    using MatmulExact = MatmulFp32<V, 12, 2>;
    static constexpr const char* kName = "cpu-avx512bf16";
};

} // namespace

const OpTable& avx512Bf16Table() {
    static constexpr OpTable kTable = makeTable<Avx512Bf16Kit>();
    return kTable;
}

} // namespace kernels::cpu
