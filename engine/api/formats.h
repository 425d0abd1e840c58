// SPDX-License-Identifier: Apache-2.0
// What the engine and the programs know of each weight format: a row. The rest asks the row and
// names no format; what kernels need stands in kernels/weight_formats.h.
#pragma once

#include "engine/api/placement.h"
#include "kernels/weight_formats.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

struct FormatRow {
    Format format;
    std::string_view name; ///< In device maps.
    std::string_view
        option; ///< What --quant and sentences call it; empty: --quant does not take it.
    std::string_view label; ///< What the window shows; empty: it has words for it.
    std::optional<kernels::WeightFormat> weight_format; ///< nullopt: as the file has it.
    bool is_nested = false;                             ///< The scales of blocks are quantized too.
    int32_t block_size = 0; ///< Weights that share a scale; 0: as --quant-block says.
};

inline constexpr FormatRow kFormatRows[] = {
    {Format::AsStored, "as_stored", "none", "", std::nullopt},
    {Format::Bf16, "bf16", "", "bf16", kernels::WeightFormat::BF16},
    {Format::F16, "f16", "", "fp16", kernels::WeightFormat::F16},
    {Format::F32, "f32", "", "fp32", kernels::WeightFormat::F32},
    {Format::Nf4, "nf4", "nf4", "NF4", kernels::WeightFormat::Nf4},
    {Format::Nf4Dq, "nf4_dq", "nf4-dq", "NF4 dq", kernels::WeightFormat::Nf4, true},
    {Format::Fp4, "fp4", "fp4", "FP4", kernels::WeightFormat::Fp4},
    {Format::Fp4Dq, "fp4_dq", "fp4-dq", "FP4 dq", kernels::WeightFormat::Fp4, true},
    {Format::Q8, "q8", "", "int8", kernels::WeightFormat::Int8Row},
    {Format::Int4, "q4_0", "q4_0", "Q4_0", kernels::WeightFormat::Int4, false, 32},
    {Format::Int8, "q8_0", "q8_0", "Q8_0", kernels::WeightFormat::Int8, false, 32},
    {Format::Q4_0, "gguf_q4_0", "", "Q4_0", kernels::WeightFormat::Q4_0},
    {Format::Q4_1, "gguf_q4_1", "", "Q4_1", kernels::WeightFormat::Q4_1},
    {Format::Q5_0, "gguf_q5_0", "", "Q5_0", kernels::WeightFormat::Q5_0},
    {Format::Q5_1, "gguf_q5_1", "", "Q5_1", kernels::WeightFormat::Q5_1},
    {Format::Q8_0, "gguf_q8_0", "", "Q8_0", kernels::WeightFormat::Q8_0},
    {Format::Q2_K, "gguf_q2_k", "", "Q2_K", kernels::WeightFormat::Q2_K},
    {Format::Q3_K, "gguf_q3_k", "", "Q3_K", kernels::WeightFormat::Q3_K},
    {Format::Q4_K, "gguf_q4_k", "", "Q4_K", kernels::WeightFormat::Q4_K},
    {Format::Q5_K, "gguf_q5_k", "", "Q5_K", kernels::WeightFormat::Q5_K},
    {Format::Q6_K, "gguf_q6_k", "", "Q6_K", kernels::WeightFormat::Q6_K},
    {Format::IQ4_NL, "gguf_iq4_nl", "", "IQ4_NL", kernels::WeightFormat::IQ4_NL},
    {Format::IQ4_XS, "gguf_iq4_xs", "", "IQ4_XS", kernels::WeightFormat::IQ4_XS},
    {Format::MXFP4, "gguf_mxfp4", "", "MXFP4", kernels::WeightFormat::MXFP4},
    {Format::Q2_0, "gguf_q2_0", "", "Q2_0", kernels::WeightFormat::Q2_0},
};
/// What is taken where four bits are asked for and nothing more is said, and with quantized scales.
inline constexpr Format kFourBitFormat = Format::Nf4;
inline constexpr Format kSmallestFormat = Format::Nf4Dq;

constexpr const FormatRow& formatRow(Format format) {
    return kFormatRows[static_cast<int>(format) - 1];
}
constexpr bool areFormatRowsInOrder() {
    int number = 0;
    for (const FormatRow& row : kFormatRows) {
        if (static_cast<int>(row.format) != ++number) {
            return false;
        }
    }
    return true;
}
static_assert(areFormatRowsInOrder());

constexpr std::string_view formatName(Format format) {
    return formatRow(format).name;
}

/// The row of an option of --quant, as files and users spell it; nullptr: there is none.
constexpr const FormatRow* formatOfOption(std::string_view option) {
    for (const FormatRow& row : kFormatRows) {
        if (!option.empty() && row.option == option) {
            return &row;
        }
    }
    return nullptr;
}

/// What --quant takes. With "+experts" the routed experts are quantized as well.
inline std::vector<std::string> quantOptions() {
    std::vector<std::string> options;
    for (const FormatRow& row : kFormatRows) {
        if (!row.option.empty()) {
            options.emplace_back(row.option);
        }
    }
    for (const Format format : {kFourBitFormat, kSmallestFormat}) {
        options.push_back(std::string(formatRow(format).option) + "+experts");
    }
    return options;
}

/// Values are 4-bit codes with a scale for each block.
constexpr bool hasCodes(Format format) {
    const auto weight_format = formatRow(format).weight_format;
    return weight_format && kernels::rowOf(*weight_format).layout == kernels::WeightLayout::Codes;
}
/// Values lie in blocks, as a GGUF file has them; nothing is quantized to such a format.
constexpr bool hasBlocks(Format format) {
    const auto weight_format = formatRow(format).weight_format;
    return weight_format && kernels::rowOf(*weight_format).layout == kernels::WeightLayout::Blocks;
}
/// As device maps call a format, or as GGUF files call their types, which no map asks for.
inline std::string usualName(Format format) {
    return std::string(hasBlocks(format) ? formatRow(format).label : formatName(format));
}
/// Smaller than 16 bits: values have scales.
constexpr bool isQuantized(Format format) {
    const auto weight_format = formatRow(format).weight_format;
    return weight_format && kernels::rowOf(*weight_format).bits < 16;
}
constexpr bool isNested(Format format) {
    return formatRow(format).is_nested;
}
/// What kernels read, of a format that is not AsStored.
constexpr kernels::WeightFormat weightFormat(Format format) {
    return *formatRow(format).weight_format;
}
/// The format whose codes or blocks are those of `codes`.
constexpr Format codesFormat(kernels::WeightFormat codes, bool is_nested) {
    for (const FormatRow& row : kFormatRows) {
        if (row.weight_format == codes && row.is_nested == is_nested) {
            return row.format;
        }
    }
    return Format::AsStored;
}

} // namespace engine
