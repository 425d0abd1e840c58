// SPDX-License-Identifier: Apache-2.0
// The parts of a weight in memory: codes or values, and what scales them.
#pragma once

#include "kernels/views.h"
#include "kernels/weight_formats.h"

#include <cstddef>
#include <cstdint>

namespace engine {

/// Blocks of one nested absmax, and codes of its table.
inline constexpr int64_t kNestedBlocks = 256;
inline constexpr int64_t kNestedCodes = 256;
/// What parts on a card are aligned to where several lie in one piece of memory.
inline constexpr size_t kPartAlignment = 256;

/// fn(pointer member, bytes) for every part that the view has.
template <typename View, typename Fn>
void eachPart(View& view, const Fn& fn) {
    const int64_t count = view.rows * view.cols;
    const auto blocks = [&view, count] { return (count + view.block_size - 1) / view.block_size; };
    using kernels::WeightLayout;
    switch (kernels::rowOf(view.format).layout) {
    case WeightLayout::F32:
    case WeightLayout::F16:
    case WeightLayout::BF16:
    case WeightLayout::Blocks:
        fn(view.data, kernels::valueBytes(view.format, count));
        return;
    case WeightLayout::Int8Row:
        fn(view.data, count);
        fn(view.row_scale, 4 * view.rows);
        return;
    case WeightLayout::Int8Block:
        fn(view.data, count);
        fn(view.absmax, 4 * blocks());
        return;
    case WeightLayout::Codes:
        fn(view.data, (count + 1) / 2);
        if (view.absmax != nullptr) {
            fn(view.absmax, 4 * blocks());
        } else {
            fn(view.absmax_q, blocks());
            fn(view.nested_absmax, 4 * ((blocks() + kNestedBlocks - 1) / kNestedBlocks));
            fn(view.nested_code, 4 * kNestedCodes);
        }
        return;
    }
}

/// Leaves `rows` rows from `first` on of a weight. False: its blocks do not begin there.
[[nodiscard]] bool takeRows(kernels::WeightView& view, int64_t first, int64_t rows);
/// Bytes of all parts of a weight, each aligned.
[[nodiscard]] size_t bytesOf(const kernels::WeightView& view);
/// Points the parts of a view of that format and shape to memory, in which they follow each other.
void layParts(kernels::WeightView& view, std::byte* memory);

} // namespace engine
