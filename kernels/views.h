// SPDX-License-Identifier: Apache-2.0
// Plain views that kernels take: no ownership, no engine types. Pointers are addresses on the
// device whose table is called. All activations are fp32; weights come in the storage formats
// below. Sizes are int64_t, rows are contiguous unless a stride says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels {

/// Outcome of enqueuing one kernel. The engine adds context (which module, which sizes).
enum class Status { Ok = 1, BadShape, Unsupported, OutOfMemory, DeviceLost };

/// Element types of dense operands.
enum class DType : uint8_t { F32 = 1, F16, BF16 };

/// How a linear weight [out, in] is stored. Nf4 and Fp4 are bitsandbytes' canonical bytes
/// (even element in the high nibble); Int8Row is one fp32 scale per row: w = q * scale[row]. Int4
/// and Int8 have the steps of GGUF's Q4_0 and Q8_0: Int4 in the bytes of the other 4-bit formats,
/// Int8 as w = q * absmax[i / block_size], not rounded again. From Q4_0 on: blocks as GGUF files
/// have them (block_formats.h), whole ones in each row.
enum class WeightFormat : uint8_t {
    F32 = 1,
    F16,
    BF16,
    Nf4,
    Fp4,
    Int8Row,
    Int4,
    Int8,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2_K,
    Q3_K,
    Q4_K,
    Q5_K,
    Q6_K,
    IQ4_NL,
    IQ4_XS,
    MXFP4,
    Q2_0,
};

/// What stands between the gate of a gated product and the other factor.
enum class Activation : uint8_t {
    GeluTanh = 1, ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    Silu,         ///< x / (1 + e^-x)
};
inline constexpr Activation kDefaultActivation = Activation::GeluTanh;

/// fp32 matrix, [rows, cols], row i at data + i * stride.
struct MatF32 {
    const float* data = nullptr;
    int64_t rows = 0;
    int64_t cols = 0;
    int64_t stride = 0;
};

/// Writable fp32 matrix, [rows, cols], row i at data + i * stride.
struct MutF32 {
    float* data = nullptr;
    int64_t rows = 0;
    int64_t cols = 0;
    int64_t stride = 0;
    // NOLINTNEXTLINE(google-explicit-constructor): writable implies readable
    operator MatF32() const { return {data, rows, cols, stride}; }
};

/// Dense matrix of any element type, contiguous [rows, cols].
struct MatView {
    const void* data = nullptr;
    DType type = DType::F32;
    int64_t rows = 0;
    int64_t cols = 0;
};

/// One linear weight, [rows = out, cols = in], in its canonical storage bytes.
///
/// 4-bit formats: value(i) = round_to(expand_type, fp32(code(i)) * absmax(i / block_size)), with
/// i the flat row-major index. Either `absmax` (fp32, one per block) is set, or the nested
/// quadruple, then absmax(j) = fp32(nested_code[absmax_q[j]] * nested_absmax[j / 256]) then
/// + nested_offset, as two separate fp32 roundings (spec: engine/quant/NF4.md).
struct WeightView {
    const void* data = nullptr;
    WeightFormat format = WeightFormat::BF16;
    int64_t rows = 0;
    int64_t cols = 0;

    const float* row_scale = nullptr; ///< Int8Row: [rows].

    int32_t block_size = 0;               ///< 4-bit and Int8: elements per absmax.
    DType expand_type = DType::BF16;      ///< 4-bit: type that the product is rounded to.
    const float* absmax = nullptr;        ///< 4-bit plain, Int8: [ceil(rows*cols/block_size)].
    const uint8_t* absmax_q = nullptr;    ///< 4-bit, nested: 8-bit codes of absmax.
    const float* nested_absmax = nullptr; ///< 4-bit, nested: one per 256 blocks.
    const float* nested_code = nullptr;   ///< 4-bit, nested: [256], as stored.
    float nested_offset = 0.0F;           ///< 4-bit, nested.
};

} // namespace kernels
