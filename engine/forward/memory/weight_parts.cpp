// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/memory/weight_parts.h"

#include <type_traits>

namespace engine {

using kernels::WeightLayout;
using kernels::WeightView;

namespace {

size_t aligned(int64_t bytes) {
    return (static_cast<size_t>(bytes) + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

} // namespace

bool takeRows(WeightView& view, int64_t first, int64_t rows) {
    const int64_t element = first * view.cols;
    const auto move = [&view](int64_t bytes) {
        view.data = static_cast<const std::byte*>(view.data) + bytes;
    };
    switch (kernels::rowOf(view.format).layout) {
    case WeightLayout::F32:
        move(element * 4);
        break;
    case WeightLayout::F16:
    case WeightLayout::BF16:
        move(element * 2);
        break;
    case WeightLayout::Blocks: // A row begins a block.
        move(kernels::valueBytes(view.format, element));
        break;
    case WeightLayout::Int8Row:
        move(element);
        view.row_scale += first;
        break;
    case WeightLayout::Int8Block:
        if (element % view.block_size != 0) {
            return false;
        }
        move(element);
        view.absmax += element / view.block_size;
        break;
    case WeightLayout::Codes: {
        const int64_t block = element / view.block_size;
        const bool is_nested = view.absmax == nullptr;
        if (element % 2 != 0 || element % view.block_size != 0 ||
            (is_nested && block % kNestedBlocks != 0)) {
            return false;
        }
        move(element / 2);
        if (is_nested) {
            view.absmax_q += block;
            view.nested_absmax += block / kNestedBlocks;
        } else {
            view.absmax += block;
        }
        break;
    }
    }
    view.rows = rows;
    return true;
}

size_t bytesOf(const WeightView& view) {
    size_t bytes = 0;
    eachPart(view, [&bytes](const auto* /*data*/, int64_t size) { bytes += aligned(size); });
    return bytes;
}

void layParts(WeightView& view, std::byte* memory) {
    eachPart(view, [&memory](auto*& data, int64_t size) {
        data = reinterpret_cast<std::remove_reference_t<decltype(data)>>(memory);
        memory += aligned(size);
    });
}

} // namespace engine
