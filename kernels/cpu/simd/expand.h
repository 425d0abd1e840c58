// SPDX-License-Identifier: Apache-2.0
// Rows of stored weights to fp32 with vector code, bit for bit what weight_rows.cpp computes.
#pragma once

#include "kernels/cpu/code_tables.h"
#include "kernels/cpu/simd/expand_blocks.h"
#include "kernels/cpu/simd/lanes.h"
#include "kernels/cpu/weight_rows.h"
#include "kernels/views.h"

#include <algorithm>

namespace kernels::cpu {

template <class V>
struct Expand {
    using F = typename V::F;

    static KERNELS_INLINE F roundTo(DType type, F v) {
        if (type == DType::BF16) {
            return V::roundBf16(v);
        }
        return type == DType::F16 ? V::widenF16(V::narrowF16(v)) : v;
    }

    static KERNELS_INLINE F loadDense(const void* data, DType type, int64_t index) {
        if (type == DType::F32) {
            return V::load(static_cast<const float*>(data) + index);
        }
        const uint16_t* bits = static_cast<const uint16_t*>(data) + index;
        return type == DType::BF16 ? V::loadBf16(bits) : V::loadF16(bits);
    }

    static KERNELS_INLINE F loadDensePart(const void* data, DType type, int64_t index, int64_t n) {
        if (type == DType::F32) {
            return V::loadPart(static_cast<const float*>(data) + index, n);
        }
        const uint16_t* bits = static_cast<const uint16_t*>(data) + index;
        return type == DType::BF16 ? V::loadBf16Part(bits, n) : V::loadF16Part(bits, n);
    }

    static KERNELS_INLINE F loadSome(const void* data, DType type, int64_t index, int64_t n) {
        return n >= V::kWidth ? loadDense(data, type, index) : loadDensePart(data, type, index, n);
    }

    static void denseRow(const void* data, DType type, int64_t first, int64_t count, float* out) {
        Lanes<V>::each(count, [&](int64_t i, int64_t n) {
            Lanes<V>::save(out + i, n, loadSome(data, type, first + i, n));
        });
    }

    static void int8Row(const int8_t* data, float scale, int64_t count, float* out) {
        Lanes<V>::each(count, [&](int64_t i, int64_t n) {
            const F v = n == V::kWidth ? V::loadI8(data + i) : V::loadI8Part(data + i, n);
            Lanes<V>::save(out + i, n, V::mul(v, V::set1(scale)));
        });
    }

    /// Values [col_begin, col_begin + count) of a row of a 4-bit weight; `table` = its 16 codes.
    static void fourBitRow(const WeightView& w,
                           const float* table,
                           int64_t row,
                           int64_t col_begin,
                           int64_t count,
                           float* out) {
        const uint8_t* bytes = static_cast<const uint8_t*>(w.data);
        const int64_t first = row * w.cols + col_begin;
        int64_t i = 0;
        while (i < count) {
            const int64_t index = first + i;
            const int64_t block = index / w.block_size;
            const int64_t block_end = (block + 1) * w.block_size - first;
            const int64_t end = block_end < count ? block_end : count;
            if (index % 2 != 0) { // the low nibble of a byte that the row before began
                expandRow(w, row, col_begin + i, 1, out + i);
                ++i;
                continue;
            }
            const F scale = V::set1(blockScale(w, block));
            for (; i + V::kWidth <= end; i += V::kWidth) {
                const F code = V::lookUpNibbles(bytes + (first + i) / 2, table);
                V::store(out + i, roundTo(w.expand_type, V::mul(code, scale)));
            }
            if (i < end) {
                expandRow(w, row, col_begin + i, end - i, out + i);
                i = end;
            }
        }
    }

    /// Any format; see expandRow() of weight_rows.h.
    static void row(const WeightView& w,
                    const float* table,
                    int64_t row_index,
                    int64_t col_begin,
                    int64_t count,
                    float* out) {
        const int64_t first = row_index * w.cols + col_begin;
        switch (rowOf(w.format).layout) {
        case WeightLayout::F32:
            return denseRow(w.data, DType::F32, first, count, out);
        case WeightLayout::F16:
            return denseRow(w.data, DType::F16, first, count, out);
        case WeightLayout::BF16:
            return denseRow(w.data, DType::BF16, first, count, out);
        case WeightLayout::Int8Row:
            return int8Row(static_cast<const int8_t*>(w.data) + first, w.row_scale[row_index],
                           count, out);
        case WeightLayout::Int8Block:
            for (int64_t i = 0; i < count;) {
                const int64_t block = (first + i) / w.block_size;
                const int64_t end = std::min(count, (block + 1) * w.block_size - first);
                int8Row(static_cast<const int8_t*>(w.data) + first + i, w.absmax[block], end - i,
                        out + i);
                i = end;
            }
            return;
        case WeightLayout::Blocks:
            return withBlockFormat(w.format, [&](auto format) {
                ExpandBlocks<V>::template row<decltype(format)::kFormat>(w.data, first, count, out);
            });
        case WeightLayout::Codes:
            return fourBitRow(w, table, row_index, col_begin, count, out);
        }
    }
};

} // namespace kernels::cpu
