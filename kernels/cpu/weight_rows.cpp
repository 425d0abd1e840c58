// SPDX-License-Identifier: Apache-2.0
// See weight_rows.h. Compiled without contraction (-ffp-contract=off): the nested absmax must be
// a rounded product followed by a rounded sum.
#include "kernels/cpu/weight_rows.h"

#include "kernels/block_formats.h"
#include "kernels/cpu/code_tables.h"
#include "kernels/cpu/float_types.h"

#include <cmath>

namespace kernels::cpu {

namespace {

constexpr int64_t kNestedBlock = 256;

float fourBitValue(const WeightView& weight, int64_t index) {
    const uint8_t byte = static_cast<const uint8_t*>(weight.data)[index / 2];
    const uint8_t code = index % 2 == 0 ? byte >> 4 : byte & 0x0fU;
    const auto code_value = std::bit_cast<float>(codeTableOf(weight.format).bits[code]);
    return roundTo(weight.expand_type, code_value * blockScale(weight, index / weight.block_size));
}

} // namespace

CodeValues codeValues(WeightFormat format) {
    CodeValues result{};
    for (int i = 0; i < 16 && rowOf(format).layout == WeightLayout::Codes; ++i) {
        result.value[i] = std::bit_cast<float>(codeTableOf(format).bits[i]);
    }
    return result;
}

CodeBytes codeBytes(WeightFormat format) {
    CodeBytes result;
    result.step = codeTableOf(format).step;
    result.zero = codeTableOf(format).zero;
    const CodeValues codes = codeValues(format);
    for (int i = 0; i < 16; ++i) {
        result.entry[i] =
            static_cast<uint8_t>(std::lround(codes.value[i] * result.step + result.zero));
    }
    return result;
}

void lookUpNestedCodes(const WeightView& weight, int64_t first_block, int64_t count, float* out) {
    // Through integer registers on purpose: the vector units are busy with the weights.
    for (int64_t j = 0; j < count; ++j) {
        uint32_t bits = 0;
        std::memcpy(&bits, weight.nested_code + weight.absmax_q[first_block + j], sizeof(bits));
        std::memcpy(out + j, &bits, sizeof(bits));
    }
}

float blockScale(const WeightView& weight, int64_t block) {
    if (weight.absmax != nullptr) {
        return weight.absmax[block];
    }
    const float product =
        weight.nested_code[weight.absmax_q[block]] * weight.nested_absmax[block / kNestedBlock];
    return product + weight.nested_offset;
}

void expandRow(
    const WeightView& weight, int64_t row, int64_t col_begin, int64_t count, float* out) {
    const int64_t first = row * weight.cols + col_begin;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t index = first + i;
        switch (rowOf(weight.format).layout) {
        case WeightLayout::F32:
            out[i] = loadElement(weight.data, DType::F32, index);
            break;
        case WeightLayout::F16:
            out[i] = loadElement(weight.data, DType::F16, index);
            break;
        case WeightLayout::BF16:
            out[i] = loadElement(weight.data, DType::BF16, index);
            break;
        case WeightLayout::Codes:
            out[i] = fourBitValue(weight, index);
            break;
        case WeightLayout::Int8Row:
            out[i] = static_cast<float>(static_cast<const int8_t*>(weight.data)[index]) *
                     weight.row_scale[row];
            break;
        case WeightLayout::Int8Block:
            out[i] = static_cast<float>(static_cast<const int8_t*>(weight.data)[index]) *
                     weight.absmax[index / weight.block_size];
            break;
        case WeightLayout::Blocks:
            withBlockFormat(weight.format, [&](auto known) { // all at once
                expandBlocks<decltype(known)::kFormat>(weight.data, first, count, out);
            });
            return;
        }
    }
}

} // namespace kernels::cpu
