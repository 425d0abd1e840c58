// SPDX-License-Identifier: Apache-2.0
// The attention mask rule of ops.h for one query and one key.
#pragma once

#include "kernels/ops.h"

namespace kernels::cpu {

inline bool isVisible(const AttentionMask& mask, int64_t query, int64_t key) {
    const int32_t key_position = mask.key_position[key];
    if (key_position < 0) {
        return false; // empty slot
    }
    const int32_t query_position = mask.query_position[query];
    if (mask.causal && key_position > query_position) {
        const bool is_same_block = mask.query_block != nullptr && mask.query_block[query] >= 0 &&
                                   mask.query_block[query] == mask.key_block[key];
        if (!is_same_block) {
            return false;
        }
    }
    return mask.window == 0 || key_position > query_position - mask.window;
}

} // namespace kernels::cpu
