// SPDX-License-Identifier: Apache-2.0
// Rows of a KV cache (kernels/kv_rows.h) in main memory.
#pragma once

#include "kernels/cpu/float_types.h"
#include "kernels/kv_rows.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kernels::cpu {

/// Type of the elements of rows without scales.
constexpr DType kvElement(KvType type) {
    return type == KvType::F32 ? DType::F32 : type == KvType::F16 ? DType::F16 : DType::BF16;
}

/// Code `index` of an array of them; an element where the type has no scales.
template <KvType type>
float loadCode(const void* data, int64_t index) {
    if constexpr (type == KvType::Q8) {
        return static_cast<float>(static_cast<const int8_t*>(data)[index]);
    } else {
        return loadElement(data, kvElement(type), index);
    }
}

/// One head's part of the rows at `data`.
struct KvHeadRows {
    const std::byte* codes = nullptr;  ///< Row 0 begins here.
    const std::byte* scales = nullptr; ///< Scale of row 0; nullptr: the type has none.
    int64_t row_bytes = 0;

    KvHeadRows(const void* data, KvType type, int64_t heads, int64_t head_dim, int64_t head)
        : codes(static_cast<const std::byte*>(data) + head * head_dim * kvCodeBytes(type)),
          scales(hasScales(type) ? static_cast<const std::byte*>(data) +
                                       kvScalesAt(type, heads, head_dim) + 4 * head
                                 : nullptr),
          row_bytes(kvRowBytes(type, heads, head_dim)) {}

    [[nodiscard]] float scale(int64_t row) const {
        float value = 1.0F;
        if (scales != nullptr) {
            std::memcpy(&value, scales + row * row_bytes, sizeof(value));
        }
        return value;
    }
};

/// The scales of one head of rows [first, first + count); the type has such.
void gatherKvScales(const void* data,
                    KvType type,
                    int64_t heads,
                    int64_t head_dim,
                    int64_t head,
                    int64_t first,
                    int64_t count,
                    float* scales);

/// Writes [heads, head_dim] values as one row. Every table stores codes with this: the same bytes.
void storeKvRow(const float* values, KvType type, int64_t heads, int64_t head_dim, void* row);

} // namespace kernels::cpu
