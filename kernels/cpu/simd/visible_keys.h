// SPDX-License-Identifier: Apache-2.0
// The attention mask of ops.h for blocks: which blocks of keys are wholly visible, wholly hidden,
// or need the rule key by key.
#pragma once

#include "kernels/cpu/simd/vec_avx2.h"
#include "kernels/ops.h"

namespace kernels::cpu {

enum class Visibility { None = 1, Some, All };

template <class V>
class VisibleKeys {
public:
    /// For queries [first, end).
    VisibleKeys(const AttentionMask& mask, int64_t first, int64_t end) : mask_(mask) {
        lowest_query_ = INT64_MAX;
        highest_query_ = INT64_MIN;
        for (int64_t i = first; i < end; ++i) {
            const int64_t position = mask.query_position[i];
            lowest_query_ = position < lowest_query_ ? position : lowest_query_;
            highest_query_ = position > highest_query_ ? position : highest_query_;
        }
    }

    [[nodiscard]] Visibility ofBlock(int64_t key, int64_t keys) const {
        int64_t lowest = INT64_MAX;
        int64_t highest = INT64_MIN;
        for (int64_t i = key; i < key + keys; ++i) {
            const int64_t position = mask_.key_position[i];
            lowest = position < lowest ? position : lowest;
            highest = position > highest ? position : highest;
        }
        const bool has_window = mask_.window > 0;
        if (highest < 0 || (has_window && highest <= lowest_query_ - mask_.window)) {
            return Visibility::None;
        }
        const bool may_see_forward = !mask_.causal || mask_.query_block != nullptr;
        if (!may_see_forward && lowest > highest_query_) {
            return Visibility::None;
        }
        const bool is_past = !mask_.causal || highest <= lowest_query_;
        const bool is_inside = !has_window || lowest > highest_query_ - mask_.window;
        return lowest >= 0 && is_past && is_inside ? Visibility::All : Visibility::Some;
    }

    /// Overwrites the scores of hidden keys [key, key + keys) of one query with `hidden`.
    void mask(int64_t query, int64_t key, int64_t keys, float hidden, float* scores) const {
        const int64_t position = mask_.query_position[query];
        // Keys above `first` are inside the window; positions are never negative when visible.
        int64_t first = mask_.window > 0 ? position - mask_.window : -1;
        first = first < -1 ? -1 : first;
        const int32_t block = mask_.query_block != nullptr ? mask_.query_block[query] : -1;
        const auto above = V::iset1(static_cast<int32_t>(first));
        const auto last = V::iset1(mask_.causal ? static_cast<int32_t>(position) : INT32_MAX);
        const auto same = V::iset1(block);
        const auto none = V::set1(hidden);
        int64_t k = 0;
        for (; k + V::kWidth <= keys; k += V::kWidth) {
            const auto at = V::iload(mask_.key_position + key + k);
            auto allowed = V::mnot(V::igreater(at, last));
            if (block >= 0) {
                const auto blocks = V::iload(mask_.key_block + key + k);
                allowed = V::mor(allowed, V::iequal(blocks, same));
            }
            allowed = V::mand(allowed, V::igreater(at, above));
            V::store(scores + k, V::select(allowed, V::load(scores + k), none));
        }
        for (; k < keys; ++k) {
            const int64_t at = mask_.key_position[key + k];
            const bool is_past = !mask_.causal || at <= position ||
                                 (block >= 0 && mask_.key_block[key + k] == block);
            if (!is_past || at <= first) {
                scores[k] = hidden;
            }
        }
    }

private:
    const AttentionMask& mask_;
    int64_t lowest_query_;
    int64_t highest_query_;
};

} // namespace kernels::cpu
