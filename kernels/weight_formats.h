// SPDX-License-Identifier: Apache-2.0
// What kernels know of each weight format (views.h): a row. Kernels are written for a layout;
// formats of one layout differ in what stands here, and another one is another row.
#pragma once

#include "kernels/views.h"

#include <cstdint>

namespace kernels {

/// How values are stored: by themselves, as 4-bit codes with a scale for each block of a flat array
/// (even element in the high nibble), as int8 with a scale for each row or block, or in blocks that
/// hold all that belongs to their values (block_formats.h).
enum class WeightLayout : uint8_t { F32 = 1, F16, BF16, Codes, Int8Row, Int8Block, Blocks };

/// What the codes 0 to 15 stand for, by fp32 bit pattern; and as bytes, for products of integers:
/// entry = value * step + zero, rounded. Step and zero are chosen so that the values of all codes
/// lie close to whole numbers.
struct CodeTable {
    uint32_t bits[16];
    float step;
    float zero;
};

struct WeightFormatRow {
    WeightFormat format = WeightFormat::F32;
    WeightLayout layout = WeightLayout::F32;
    int bits = 0;           ///< A value takes these, scales aside.
    uint8_t code_table = 0; ///< Index in kCodeTables; 0: it has no codes.
    // Blocks alone:
    int16_t block_values = 0; ///< A block has so many values
    int16_t block_bytes = 0;  ///< in so many bytes.
};

inline constexpr WeightFormatRow kWeightFormats[] = {
    {WeightFormat::F32, WeightLayout::F32, 32, 0},
    {WeightFormat::F16, WeightLayout::F16, 16, 0},
    {WeightFormat::BF16, WeightLayout::BF16, 16, 0},
    {WeightFormat::Nf4, WeightLayout::Codes, 4, 1},
    {WeightFormat::Fp4, WeightLayout::Codes, 4, 2},
    {WeightFormat::Int8Row, WeightLayout::Int8Row, 8, 0},
    {WeightFormat::Int4, WeightLayout::Codes, 4, 3},
    {WeightFormat::Int8, WeightLayout::Int8Block, 8, 0},
    {WeightFormat::Q4_0, WeightLayout::Blocks, 4, 0, 32, 18},
    {WeightFormat::Q4_1, WeightLayout::Blocks, 4, 0, 32, 20},
    {WeightFormat::Q5_0, WeightLayout::Blocks, 5, 0, 32, 22},
    {WeightFormat::Q5_1, WeightLayout::Blocks, 5, 0, 32, 24},
    {WeightFormat::Q8_0, WeightLayout::Blocks, 8, 0, 32, 34},
    {WeightFormat::Q2_K, WeightLayout::Blocks, 2, 0, 256, 84},
    {WeightFormat::Q3_K, WeightLayout::Blocks, 3, 0, 256, 110},
    {WeightFormat::Q4_K, WeightLayout::Blocks, 4, 0, 256, 144},
    {WeightFormat::Q5_K, WeightLayout::Blocks, 5, 0, 256, 176},
    {WeightFormat::Q6_K, WeightLayout::Blocks, 6, 0, 256, 210},
    {WeightFormat::IQ4_NL, WeightLayout::Blocks, 4, 0, 32, 18},
    {WeightFormat::IQ4_XS, WeightLayout::Blocks, 4, 0, 256, 136},
    {WeightFormat::MXFP4, WeightLayout::Blocks, 4, 0, 32, 17},
    {WeightFormat::Q2_0, WeightLayout::Blocks, 2, 0, 64, 18},
};

inline constexpr int kCodeTableCount = 4;
struct CodeTables {
    CodeTable at[kCodeTableCount];
};
inline constexpr CodeTables kCodeTables = {{
    // Formats without codes have zeros: launches may fill a table that nobody looks at.
    {},
    // NF4: Dettmers et al. 2023, QLoRA. As bytes it loses a share of 1.1e-5 of a weight's square;
    // its own rounding of Gaussian weights loses 8.4e-3.
    {{0xbf800000, 0xbf3239b1, 0xbf066b30, 0xbeca32a0, 0xbe91a24d, 0xbe3d353f, 0xbdba7871,
      0x00000000, 0x3da2faff, 0x3e24cae3, 0x3e7c04dd, 0x3ead033a, 0x3ee1a4b8, 0x3f1007ab,
      0x3f3913b3, 0x3f800000},
     124.112F,
     128.16F},
    // FP4 of bitsandbytes: sign, 2 exponent bits, 1 mantissa bit, normalised by 12. Code 8 is minus
    // zero, as its kernels decode it. As bytes it loses 1.1e-5, all of it from its smallest value,
    // 1/192, which becomes 1/120.
    {{0x00000000, 0x3baaaaab, 0x3f2aaaab, 0x3f800000, 0x3eaaaaab, 0x3f000000, 0x3e2aaaab,
      0x3e800000, 0x80000000, 0xbbaaaaab, 0xbf2aaaab, 0xbf800000, 0xbeaaaaab, 0xbf000000,
      0xbe2aaaab, 0xbe800000},
     120.0F,
     128.0F},
    // Eighths from -1 to 7/8: a block's scale is eight steps. Exact as bytes.
    {{0xbf800000, 0xbf600000, 0xbf400000, 0xbf200000, 0xbf000000, 0xbec00000, 0xbe800000,
      0xbe000000, 0x00000000, 0x3e000000, 0x3e800000, 0x3ec00000, 0x3f000000, 0x3f200000,
      0x3f400000, 0x3f600000},
     128.0F,
     128.0F},
}};

// Internal, as files that are compiled for other instruction sets read this header as well.
static inline constexpr const WeightFormatRow& rowOf(WeightFormat format) {
    return kWeightFormats[static_cast<int>(format) - 1];
}
static inline constexpr bool areRowsInOrder() {
    int number = 0;
    for (const WeightFormatRow& row : kWeightFormats) {
        if (static_cast<int>(row.format) != ++number) {
            return false;
        }
    }
    return true;
}
static_assert(areRowsInOrder());

static inline constexpr bool hasCodes(const WeightView& w) {
    return rowOf(w.format).layout == WeightLayout::Codes;
}
static inline constexpr bool hasBlocks(const WeightView& w) {
    return rowOf(w.format).layout == WeightLayout::Blocks;
}
/// The format must have codes.
static inline constexpr const CodeTable& codeTableOf(WeightFormat format) {
    return kCodeTables.at[rowOf(format).code_table];
}

/// Bytes of `count` values, their separate scales aside.
static inline constexpr int64_t valueBytes(WeightFormat format, int64_t count) {
    const WeightFormatRow& row = rowOf(format);
    return row.block_values > 0
               ? (count + row.block_values - 1) / row.block_values * row.block_bytes
               : (count * row.bits + 7) / 8;
}

/// A weight that has all parts its format asks for.
static inline constexpr bool isWeight(const WeightView& w) {
    if (w.data == nullptr || w.rows <= 0 || w.cols <= 0) {
        return false;
    }
    switch (rowOf(w.format).layout) {
    case WeightLayout::Codes:
        return w.block_size > 0 &&
               (w.absmax != nullptr ||
                (w.absmax_q != nullptr && w.nested_absmax != nullptr && w.nested_code != nullptr));
    case WeightLayout::Int8Row:
        return w.row_scale != nullptr;
    case WeightLayout::Int8Block:
        return w.block_size > 0 && w.absmax != nullptr;
    case WeightLayout::Blocks:
        return w.cols % rowOf(w.format).block_values == 0;
    default:
        return true;
    }
}

} // namespace kernels
