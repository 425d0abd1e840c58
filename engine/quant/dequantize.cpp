// SPDX-License-Identifier: Apache-2.0
// Expansion of every weight format in host memory, and conversions between dense types. 4-bit
// values are one fp32 product, rounded once to the type recorded at quantization (NF4.md).

#include "engine/base/float_types.h"
#include "engine/quant/quantize.h"
#include "kernels/block_formats.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace engine {

namespace {

float roundTo(kernels::DType type, float value) {
    switch (type) {
    case kernels::DType::BF16:
        return roundToBf16(value);
    case kernels::DType::F16:
        return f16ToFloat(floatToF16(value));
    case kernels::DType::F32:
        break;
    }
    return value;
}

/// Values of 4-bit elements [first, first + count). The 16 products of a block are rounded once.
void expand4Bit(const kernels::WeightView& weight, int64_t first, int64_t count, float* out) {
    const auto& book = codeBook(weight.format);
    const auto* codes = static_cast<const uint8_t*>(weight.data);
    const int64_t block_size = weight.block_size;
    const int64_t end = first + count;
    std::array<float, 16> values{};
    for (int64_t i = first; i < end;) {
        const int64_t block = i / block_size;
        const int64_t block_end = std::min(end, (block + 1) * block_size);
        const float scale = blockScale(weight, block);
        for (size_t c = 0; c < 16; ++c) {
            values[c] = roundTo(weight.expand_type, book[c] * scale);
        }
        for (; i < block_end; ++i) {
            const uint8_t byte = codes[i / 2];
            out[i - first] = values[i % 2 == 0 ? byte >> 4U : byte & 15U];
        }
    }
}

float loadOne(TensorType type, const std::byte* at) {
    if (type == TensorType::F32) {
        float value = 0.0F;
        std::memcpy(&value, at, 4);
        return value;
    }
    uint16_t bits = 0;
    std::memcpy(&bits, at, 2);
    return type == TensorType::F16 ? f16ToFloat(bits) : bf16ToFloat(bits);
}

void storeOne(TensorType type, float value, std::byte* at) {
    if (type == TensorType::F32) {
        std::memcpy(at, &value, 4);
        return;
    }
    const uint16_t bits = type == TensorType::F16 ? floatToF16(value) : floatToBf16(value);
    std::memcpy(at, &bits, 2);
}

constexpr int64_t kPiece = 4096;

} // namespace

float blockScale(const kernels::WeightView& weight, int64_t block) {
    if (weight.absmax != nullptr) {
        return weight.absmax[block];
    }
    // Two roundings: product, then sum (the flags forbid contraction to a fused operation).
    const float product =
        weight.nested_code[weight.absmax_q[block]] * weight.nested_absmax[block / kNestedBlockSize];
    return product + weight.nested_offset;
}

void expandRange(const kernels::WeightView& weight, int64_t first, int64_t count, float* out) {
    const auto* bytes = static_cast<const std::byte*>(weight.data);
    switch (kernels::rowOf(weight.format).layout) {
    case kernels::WeightLayout::Codes:
        expand4Bit(weight, first, count, out);
        break;
    case kernels::WeightLayout::Int8Row: {
        const auto* q = static_cast<const int8_t*>(weight.data);
        for (int64_t i = 0; i < count; ++i) {
            out[i] = static_cast<float>(q[first + i]) * weight.row_scale[(first + i) / weight.cols];
        }
        break;
    }
    case kernels::WeightLayout::Int8Block: {
        const auto* q = static_cast<const int8_t*>(weight.data);
        for (int64_t i = first; i < first + count; ++i) {
            out[i - first] = static_cast<float>(q[i]) * weight.absmax[i / weight.block_size];
        }
        break;
    }
    case kernels::WeightLayout::Blocks:
        kernels::withBlockFormat(weight.format, [&](auto row) {
            kernels::expandBlocks<decltype(row)::kFormat>(weight.data, first, count, out);
        });
        break;
    case kernels::WeightLayout::F32:
        std::memcpy(out, bytes + first * 4, static_cast<size_t>(count) * 4);
        break;
    case kernels::WeightLayout::F16:
        for (int64_t i = 0; i < count; ++i) {
            out[i] = loadOne(TensorType::F16, bytes + (first + i) * 2);
        }
        break;
    case kernels::WeightLayout::BF16:
        for (int64_t i = 0; i < count; ++i) {
            out[i] = loadOne(TensorType::BF16, bytes + (first + i) * 2);
        }
        break;
    }
}

void dequantize(const kernels::WeightView& weight,
                TensorType type,
                std::byte* out,
                const ParallelFor& parallel) {
    const int64_t count = weight.rows * weight.cols;
    const auto size = static_cast<int64_t>(tensorTypeSize(type));
    runOver(parallel, (count + kPiece - 1) / kPiece, [&](int64_t begin, int64_t end) {
        std::array<float, kPiece> values{};
        for (int64_t piece = begin; piece < end; ++piece) {
            const int64_t first = piece * kPiece;
            const int64_t length = std::min(kPiece, count - first);
            expandRange(weight, first, length, values.data());
            for (int64_t i = 0; i < length; ++i) {
                storeOne(type, values[static_cast<size_t>(i)], out + (first + i) * size);
            }
        }
    });
}

void convertDense(TensorType from,
                  const std::byte* values,
                  TensorType to,
                  std::byte* out,
                  int64_t count,
                  const ParallelFor& parallel) {
    const auto from_size = static_cast<int64_t>(tensorTypeSize(from));
    const auto to_size = static_cast<int64_t>(tensorTypeSize(to));
    if (from == to) {
        std::memcpy(out, values, static_cast<size_t>(count * from_size));
        return;
    }
    runOver(parallel, (count + kPiece - 1) / kPiece, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * kPiece; i < std::min(count, end * kPiece); ++i) {
            storeOne(to, loadOne(from, values + i * from_size), out + i * to_size);
        }
    });
}

} // namespace engine
