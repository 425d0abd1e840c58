// SPDX-License-Identifier: Apache-2.0
// The scales of one row of a 4-bit weight, one per 64 elements, for the kernels that apply the
// scale once per 64 products. Nested absmax is decoded here, row by row, with its two roundings.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/lanes.h"
#include "kernels/cpu/weight_rows.h"

#include <algorithm>

namespace kernels::cpu {

constexpr int64_t kScaleStep = 64;     ///< Elements per scale handed out.
constexpr int64_t kNestedBlocks = 256; ///< Blocks per nested absmax.

template <class V>
class BlockScales {
public:
    /// Blocks are whole multiples of 64 and rows are whole multiples of blocks.
    static bool canServe(const WeightView& w) {
        return w.block_size % kScaleStep == 0 && w.cols % w.block_size == 0;
    }

    /// False when there is no memory. slot: two weights in use at a time need two.
    bool open(const WeightView& w, ScratchSlot slot = ScratchSlot::Scales) {
        weight_ = w;
        is_direct_ = w.absmax != nullptr && w.block_size == kScaleStep;
        if (is_direct_) {
            return true;
        }
        count_ = w.cols / kScaleStep + V::kWidth;
        buffer_ = threadScratchOf<float>(slot, static_cast<size_t>(2 * kSlots * count_));
        return buffer_ != nullptr;
    }

    static constexpr int kSlots = 4; ///< Rows whose scales can be held at a time.

    /// The scales of columns [k, end) of a row, one per 64 columns (k is a multiple of 64); valid
    /// until the next call with the same slot on this thread.
    KERNELS_INLINE const float* ofRow(int64_t row, int64_t k, int64_t end, int slot) const {
        const int64_t row_first = row * (weight_.cols / weight_.block_size);
        if (is_direct_) {
            return weight_.absmax + row_first + k / kScaleStep;
        }
        const int64_t first = k / weight_.block_size;
        const int64_t blocks = (end - 1) / weight_.block_size + 1 - first;
        float* decoded = buffer_ + 2 * slot * count_;
        const float* scales = decoded;
        if (weight_.absmax == nullptr) {
            decode(row_first + first, blocks, decoded);
        } else {
            scales = weight_.absmax + row_first + first;
        }
        if (weight_.block_size == kScaleStep) {
            return scales;
        }
        float* repeated = decoded + count_;
        int64_t i = 0;
        for (int64_t column = k; column < end; column += kScaleStep) {
            repeated[i++] = scales[column / weight_.block_size - first];
        }
        return repeated;
    }

private:
    KERNELS_INLINE void decode(int64_t first, int64_t count, float* out) const {
        lookUpNestedCodes(weight_, first, count, out);
        const auto offset = V::set1(weight_.nested_offset);
        for (int64_t j = 0, end = 0; j < count; j = end) {
            const int64_t group = (first + j) / kNestedBlocks;
            end = std::min((group + 1) * kNestedBlocks - first, count);
            const auto factor = V::set1(weight_.nested_absmax[group]);
            Lanes<V>::each(end - j, [&](int64_t i, int64_t n) {
                const auto codes = Lanes<V>::load(out + j + i, n);
                Lanes<V>::save(out + j + i, n, V::add(V::mul(codes, factor), offset));
            });
        }
    }

    WeightView weight_;
    bool is_direct_ = false;
    float* buffer_ = nullptr;
    int64_t count_ = 0;
};

} // namespace kernels::cpu
