// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/kv_rows.h"

#include <algorithm>
#include <bit>

namespace kernels::cpu {

void gatherKvScales(const void* data,
                    KvType type,
                    int64_t heads,
                    int64_t head_dim,
                    int64_t head,
                    int64_t first,
                    int64_t count,
                    float* scales) {
    const KvHeadRows rows(data, type, heads, head_dim, head);
    for (int64_t i = 0; i < count; ++i) {
        scales[i] = rows.scale(first + i);
    }
}

void storeKvRow(const float* values, KvType type, int64_t heads, int64_t head_dim, void* row) {
    if (!hasScales(type)) {
        for (int64_t i = 0; i < heads * head_dim; ++i) {
            storeElement(row, kvElement(type), i, values[i]);
        }
        return;
    }
    auto* const codes = static_cast<uint8_t*>(row);
    std::byte* const scales = static_cast<std::byte*>(row) + kvScalesAt(type, heads, head_dim);
    for (int64_t head = 0; head < heads; ++head) {
        const float* const from = values + head * head_dim;
        // By their bits, so that NaN counts as the largest.
        uint32_t largest = 0;
        for (int64_t d = 0; d < head_dim; ++d) {
            largest = std::max(largest, std::bit_cast<uint32_t>(from[d]) & 0x7fffffffU);
        }
        const float scale = kvScale(std::bit_cast<float>(largest));
        const float inverse = kvInverse(std::bit_cast<float>(largest));
        std::memcpy(scales + 4 * head, &scale, sizeof(scale));
        for (int64_t d = 0; d < head_dim; ++d) {
            const float product = from[d] * inverse;
            codes[head * head_dim + d] =
                static_cast<uint8_t>(std::bit_cast<uint32_t>(product + kKvRounding));
        }
    }
}

} // namespace kernels::cpu
