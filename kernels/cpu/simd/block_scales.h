// SPDX-License-Identifier: Apache-2.0
// The scales of one row of a 4-bit weight, one per 64 elements, for the kernels that apply the
// scale once per 64 products. Nested absmax is decoded here, row by row, with its two roundings.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/vec_avx2.h"
#include "kernels/cpu/weight_rows.h"

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

    /// False when there is no memory.
    bool open(const WeightView& w) {
        weight_ = w;
        is_direct_ = w.absmax != nullptr && w.block_size == kScaleStep;
        if (is_direct_) {
            return true;
        }
        // Twice: decoded per block, then repeated per 64 elements.
        const int64_t count = w.cols / kScaleStep + V::kWidth;
        buffer_ = threadScratchOf<float>(ScratchSlot::Scales, static_cast<size_t>(2 * count));
        repeated_ = buffer_ + count;
        return buffer_ != nullptr;
    }

    /// cols / 64 scales; valid until the next call on this thread.
    KERNELS_INLINE const float* ofRow(int64_t row) const {
        const int64_t blocks = weight_.cols / weight_.block_size;
        const int64_t first = row * blocks;
        if (is_direct_) {
            return weight_.absmax + first;
        }
        const float* scales = weight_.absmax + first;
        if (weight_.absmax == nullptr) {
            decode(first, blocks);
            scales = buffer_;
        }
        const int64_t repeat = weight_.block_size / kScaleStep;
        if (repeat == 1) {
            return scales;
        }
        for (int64_t i = 0; i < blocks * repeat; ++i) {
            repeated_[i] = scales[i / repeat];
        }
        return repeated_;
    }

private:
    KERNELS_INLINE void decode(int64_t first, int64_t count) const {
        lookUpNestedCodes(weight_, first, count, buffer_);
        const auto offset = V::set1(weight_.nested_offset);
        int64_t j = 0;
        while (j < count) {
            const int64_t group = (first + j) / kNestedBlocks;
            const int64_t group_end = (group + 1) * kNestedBlocks - first;
            const int64_t end = group_end < count ? group_end : count;
            const auto factor = V::set1(weight_.nested_absmax[group]);
            for (; j + V::kWidth <= end; j += V::kWidth) {
                V::store(buffer_ + j, V::add(V::mul(V::load(buffer_ + j), factor), offset));
            }
            if (j < end) {
                const auto codes = V::loadPart(buffer_ + j, end - j);
                V::storePart(buffer_ + j, V::add(V::mul(codes, factor), offset), end - j);
                j = end;
            }
        }
    }

    WeightView weight_;
    bool is_direct_ = false;
    float* buffer_ = nullptr;
    float* repeated_ = nullptr;
};

} // namespace kernels::cpu
