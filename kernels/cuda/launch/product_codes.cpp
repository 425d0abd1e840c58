// SPDX-License-Identifier: Apache-2.0
// Products of many bf16 rows with 4-bit weights as they are stored
// (device/prompt/product_codes.cu): which weights it takes, its grid and the parts of k that fill
// the card.
#include "kernels/cuda/launch/product_codes.h"

#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <cstring>

namespace kernels::cuda {

namespace {

constexpr int64_t kOutputs = 128;

/// Kernels of one form, by output and updates.
struct Form {
    KernelId store, pair, store_updates, pair_updates;
};

} // namespace

bool takesCodes(const Stream& s, const WeightView* w, int count) {
    if (s.is_reference || s.facts.compute_capability < 80 ||
        s.facts.shared_bytes < productCodesShared(4, 1) || w[0].cols % kProductCodesColumns != 0) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const bool is_plain = w[i].absmax != nullptr;
        if (!hasCodes(w[i]) || w[i].format != w[0].format || w[i].block_size != 64 ||
            w[i].rows % 2 != 0 || w[i].cols != w[0].cols || is_plain != (w[0].absmax != nullptr) ||
            !isThereAligned(w[i].data) ||
            !(is_plain ? isThereAligned(w[i].absmax) : isThereAligned(w[i].absmax_q))) {
            return false;
        }
    }
    return true;
}

namespace {

/// Warp groups take it: outputs that can be stored eight at a time, the kernels are there.
bool takesWide(const Stream& s, const CodesProduct& a) {
    const bool is_known =
        s.wide_rows == 0 || s.wide_rows == 128 || s.wide_rows == 192 || s.wide_rows == 256;
    if (!is_known || s.facts.compute_capability != 90 ||
        s.functions[static_cast<size_t>(KernelId::product_wide_256)] == nullptr ||
        s.facts.shared_bytes < productWideShared(256) || (a.rows <= kFewRows && s.wide_rows == 0) ||
        !isThereAligned(a.x)) {
        return false;
    }
    for (int i = 0; i < a.count; ++i) {
        const bool is_stored = !a.is_pair || i == 0;
        if (a.w[i].rows % 8 != 0 ||
            (is_stored && (!isThereAligned(a.y[i]) || a.stride[i] % (a.is_pair ? 8 : 4) != 0))) {
            return false;
        }
    }
    return true;
}

Status wideProduct(Stream& s, CodesProduct& a, ProductCodesArgs& args, int64_t columns) {
    static_assert(kProductWideOutputs == kOutputs);
    ProductKernelArgs& product = args.product;
    const int64_t pieces = product.k / kProductCodesColumns;
    const WideSizes chosen = wideSizes(s.facts.multiprocessors, a.rows, columns, pieces,
                                       a.is_pair ? 1 : a.parts, s.wide_rows);
    a.parts = chosen.parts;
    const int64_t part = (pieces + chosen.parts - 1) / chosen.parts;
    product.k_part = static_cast<int32_t>(part * kProductCodesColumns);
    ProductWideArgs wide{};
    wide.codes = args;
    TensorMap map{};
    const uint64_t sizes[2] = {static_cast<uint64_t>(product.k), static_cast<uint64_t>(a.rows)};
    const uint64_t row_bytes = sizes[0] * 2;
    const uint32_t box[2] = {64, static_cast<uint32_t>(chosen.rows)};
    const uint32_t steps[2] = {1, 1};
    const Status status =
        s.check(s.driver->tensorMapEncodeTiled(&map, kTensorBf16, 2, const_cast<void*>(a.x), sizes,
                                               &row_bytes, box, steps, 0, kTensorSwizzle128,
                                               kTensorPromote256, 0),
                "cuTensorMapEncodeTiled");
    if (status != Status::Ok) {
        return status;
    }
    static_assert(sizeof wide.x_map == sizeof map);
    std::memcpy(wide.x_map, map.words, sizeof map);
    constexpr Form k256 = {KernelId::product_wide_256, KernelId::product_wide_pair_256,
                           KernelId::product_wide_256_updates,
                           KernelId::product_wide_pair_256_updates};
    constexpr Form k192 = {KernelId::product_wide_192, KernelId::product_wide_pair_192,
                           KernelId::product_wide_192_updates,
                           KernelId::product_wide_pair_192_updates};
    constexpr Form k128 = {KernelId::product_wide_128, KernelId::product_wide_pair_128,
                           KernelId::product_wide_128_updates,
                           KernelId::product_wide_pair_128_updates};
    const Form& form = chosen.rows == 256 ? k256 : chosen.rows == 192 ? k192 : k128;
    const unsigned row_tiles = tiles(a.rows, chosen.rows);
    const auto column_tiles = static_cast<unsigned>(columns);
    const auto parts = static_cast<unsigned>(chosen.parts);
    const auto shared = static_cast<unsigned>(productWideShared(chosen.rows));
    return a.updates != nullptr
               ? s.launch(a.is_pair ? form.pair_updates : form.store_updates, row_tiles,
                          column_tiles, parts, 384, shared, wide, *a.updates)
               : s.launch(a.is_pair ? form.pair : form.store, row_tiles, column_tiles, parts, 384,
                          shared, wide);
}

} // namespace

Status productOfCodes(Stream& s, CodesProduct& a) {
    const bool is_wide = takesWide(s, a);
    ProductCodesArgs args{};
    ProductKernelArgs& product = args.product;
    product.x = a.x;
    product.m = a.rows;
    product.k = a.w[0].cols;
    product.count = a.count;
    product.activation = a.activation;
    int64_t columns = 0;
    for (int i = 0; i < a.count; ++i) {
        args.w[i] = weightArgs(a.w[i]);
        product.n[i] = static_cast<int32_t>(a.w[i].rows);
        product.stride[i] = static_cast<int32_t>(a.stride[i]);
        product.y[i] = a.y[i];
        product.first_tile[i] = static_cast<int32_t>(columns);
        columns += tiles(a.w[i].rows, kOutputs);
    }
    if (a.is_pair) {
        columns = tiles(a.w[0].rows, kOutputs / 2);
    }
    if (is_wide) {
        return wideProduct(s, a, args, columns);
    }
    const CodesSizes sizes =
        codesSizes(s.facts.multiprocessors, s.facts.shared_bytes, a.rows, columns,
                   product.k / kProductCodesColumns, a.is_pair ? 1 : a.parts);
    a.parts = sizes.parts;
    product.k_part = static_cast<int32_t>(sizes.part * kProductCodesColumns);
    constexpr Form kMany = {KernelId::product_codes, KernelId::product_codes_pair,
                            KernelId::product_codes_updates, KernelId::product_codes_pair_updates};
    constexpr Form k16 = {KernelId::product_codes_16, KernelId::product_codes_16_pair,
                          KernelId::product_codes_16_updates,
                          KernelId::product_codes_16_pair_updates};
    constexpr Form k32 = {KernelId::product_codes_32, KernelId::product_codes_32_pair,
                          KernelId::product_codes_32_updates,
                          KernelId::product_codes_32_pair_updates};
    const Form& form = sizes.fragments == 1 ? k16 : sizes.fragments == 2 ? k32 : kMany;
    const unsigned row_tiles = tiles(a.rows, int64_t{16} * sizes.fragments);
    const auto column_tiles = static_cast<unsigned>(columns);
    const auto parts = static_cast<unsigned>(sizes.parts);
    const auto threads = static_cast<unsigned>(sizes.groups * 128);
    const auto shared = static_cast<unsigned>(productCodesShared(sizes.fragments, sizes.groups));
    return a.updates != nullptr
               ? s.launch(a.is_pair ? form.pair_updates : form.store_updates, row_tiles,
                          column_tiles, parts, threads, shared, args, *a.updates)
               : s.launch(a.is_pair ? form.pair : form.store, row_tiles, column_tiles, parts,
                          threads, shared, args);
}

} // namespace kernels::cuda
