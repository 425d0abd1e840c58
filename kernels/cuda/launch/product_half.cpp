// SPDX-License-Identifier: Apache-2.0
// Products with bf16 weights by warp groups (device/prompt/product_wide_half.cu): which products
// they take, tensor maps of the operands, tiles.
#include "kernels/cuda/launch/product_half.h"

#include "kernels/cuda/launch/launch_args.h"

#include <algorithm>
#include <cstring>

namespace kernels::cuda {

namespace {

bool hasBounds(const ProductArgs::Bounds& b) {
    return b.in_low > -INFINITY || b.in_high < INFINITY || b.out_low > -INFINITY ||
           b.out_high < INFINITY;
}

/// Boxes of `box_rows` rows and 64 columns of a matrix [rows, cols] in bf16, row by row.
Status encodeMap(
    Stream& s, uint64_t (&words)[16], const void* data, int64_t rows, int64_t cols, int box_rows) {
    TensorMap map{};
    static_assert(sizeof words == sizeof map);
    const uint64_t sizes[2] = {static_cast<uint64_t>(cols), static_cast<uint64_t>(rows)};
    const uint64_t row_bytes = sizes[0] * 2;
    const uint32_t box[2] = {64, static_cast<uint32_t>(box_rows)};
    const uint32_t steps[2] = {1, 1};
    const Status status =
        s.check(s.driver->tensorMapEncodeTiled(&map, kTensorBf16, 2, const_cast<void*>(data), sizes,
                                               &row_bytes, box, steps, 0, kTensorSwizzle128,
                                               kTensorPromote256, 0),
                "cuTensorMapEncodeTiled");
    std::memcpy(words, map.words, sizeof map);
    return status;
}

} // namespace

bool takesHalf(const Stream& s, const ProductArgs& a) {
    const int form = s.wide_rows;
    const bool is_pair = a.output == ProductArgs::Output::GatedPair;
    const bool is_known = form == 0 || form == 128 || form == 192 || form == 256 ||
                          (form == kProductHalfMostOutputs && !is_pair);
    if (!is_known || s.facts.compute_capability != 90 ||
        s.functions[static_cast<size_t>(KernelId::product_half_256)] == nullptr ||
        s.facts.shared_bytes < productHalfShared(kProductHalfMostOutputs) ||
        (a.rows <= kFewRows && form == 0) || a.output == ProductArgs::Output::GatedMultiply ||
        !isThereAligned(a.x)) {
        return false;
    }
    for (int i = 0; i < a.count; ++i) {
        const bool is_stored = !is_pair || i == 0;
        if (a.w[i].rows % 8 != 0 || hasBounds(a.bounds[i]) ||
            (is_stored && !isThereAligned(a.y[i]))) {
            return false;
        }
    }
    return true;
}

HalfSizes
halfSizesOf(const Stream& s, const ProductArgs& a, const int64_t* outputs, int least, int most) {
    return halfSizes(s.facts.multiprocessors, a.rows, outputs, a.count,
                     a.output == ProductArgs::Output::GatedPair, a.w[0].cols, least, most,
                     s.wide_rows);
}

Status productOfHalves(Stream& s,
                       ProductKernelArgs product,
                       bool is_pair,
                       const HalfSizes& sizes,
                       const ProductUpdatesArgs* updates) {
    ProductHalfArgs args{};
    Status status = encodeMap(s, args.x_map, product.x, product.m, product.k, kProductHalfRows);
    const int box = productHalfBox(sizes.outputs, is_pair);
    const int per_tile = is_pair ? sizes.outputs / 2 : sizes.outputs;
    int64_t columns = 0;
    for (int i = 0; i < product.count && status == Status::Ok; ++i) {
        status = encodeMap(s, args.w_map[i], product.w[i], product.n[i], product.k, box);
        product.first_tile[i] = static_cast<int32_t>(columns);
        columns += is_pair && i > 0 ? 0 : tiles(product.n[i], per_tile);
    }
    if (status != Status::Ok) {
        return status;
    }
    const int64_t chunks = (product.k + 63) / 64;
    product.k_part = static_cast<int32_t>((chunks + sizes.parts - 1) / sizes.parts * 64);
    args.product = product;
    args.row_tiles = static_cast<int32_t>(tiles(product.m, kProductHalfRows));
    args.column_tiles = static_cast<int32_t>(columns);
    const int64_t count = int64_t{args.row_tiles} * columns * sizes.parts;
    args.tiles = static_cast<int32_t>(count);
    /// By output and updates.
    struct Form {
        KernelId store, pair, store_updates, pair_updates;
    };
    // A pair has no tiles of 320.
    constexpr Form k320 = {KernelId::product_half_320, KernelId::product_half_pair_256,
                           KernelId::product_half_320_updates,
                           KernelId::product_half_pair_256_updates};
    constexpr Form k256 = {KernelId::product_half_256, KernelId::product_half_pair_256,
                           KernelId::product_half_256_updates,
                           KernelId::product_half_pair_256_updates};
    constexpr Form k192 = {KernelId::product_half_192, KernelId::product_half_pair_192,
                           KernelId::product_half_192_updates,
                           KernelId::product_half_pair_192_updates};
    constexpr Form k128 = {KernelId::product_half_128, KernelId::product_half_pair_128,
                           KernelId::product_half_128_updates,
                           KernelId::product_half_pair_128_updates};
    const Form& form = sizes.outputs == 320   ? k320
                       : sizes.outputs == 256 ? k256
                       : sizes.outputs == 192 ? k192
                                              : k128;
    const auto grid = static_cast<unsigned>(std::min<int64_t>(count, s.facts.multiprocessors));
    const auto shared = static_cast<unsigned>(productHalfShared(sizes.outputs));
    return updates != nullptr
               ? s.launch(is_pair ? form.pair_updates : form.store_updates, grid, 1, 1, 384, shared,
                          args, *updates)
               : s.launch(is_pair ? form.pair : form.store, grid, 1, 1, 384, shared, args);
}

} // namespace kernels::cuda
