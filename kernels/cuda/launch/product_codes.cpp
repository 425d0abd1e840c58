// SPDX-License-Identifier: Apache-2.0
// Products of many bf16 rows with 4-bit weights as they are stored (device/product_codes.cu): which
// weights it takes, its grid and the parts of k that fill the card.
#include "kernels/cuda/launch/product_codes.h"

#include <algorithm>

namespace kernels::cuda {

namespace {

constexpr int64_t kRows = 64; // of a tile
constexpr int64_t kOutputs = 128;
constexpr unsigned kBlockThreads = 128;
constexpr int64_t kBlocksAtOnce = 3; // on a multiprocessor of compute capability 9.0

bool isAligned(const void* pointer) {
    return pointer != nullptr && reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
}

} // namespace

bool takesCodes(const Stream& s, const WeightView* w, int count) {
    if (s.is_reference || s.facts.compute_capability < 80 || s.blas != nullptr ||
        s.facts.shared_bytes < kProductCodesShared || w[0].cols % kProductCodesColumns != 0) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const bool is_plain = w[i].absmax != nullptr;
        if (!isFourBit(w[i]) || w[i].format != w[0].format || w[i].block_size != 64 ||
            w[i].rows % 2 != 0 || w[i].cols != w[0].cols || is_plain != (w[0].absmax != nullptr) ||
            !isAligned(w[i].data) ||
            !(is_plain ? isAligned(w[i].absmax) : isAligned(w[i].absmax_q))) {
            return false;
        }
    }
    return true;
}

Status productOfCodes(Stream& s, CodesProduct& a) {
    ProductCodesArgs args{};
    ProductKernelArgs& product = args.product;
    product.x = a.x;
    product.m = a.rows;
    product.k = a.w[0].cols;
    product.count = a.count;
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
    const int64_t row_tiles = tiles(a.rows, kRows);
    const int64_t pieces = product.k / kProductCodesColumns;
    const int64_t tile_count = std::max<int64_t>(1, row_tiles * columns);
    const int64_t wanted = kBlocksAtOnce * s.facts.multiprocessors / tile_count;
    const int64_t parts =
        a.is_pair ? 1 : std::clamp<int64_t>(std::min(wanted, pieces), 1, std::max(1, a.parts));
    const int64_t part = (pieces + parts - 1) / parts;
    a.parts = static_cast<int>((pieces + part - 1) / part);
    product.k_part = static_cast<int32_t>(part * kProductCodesColumns);
    if (a.updates != nullptr) {
        return s.launch(
            a.is_pair ? KernelId::product_codes_pair_updates : KernelId::product_codes_updates,
            static_cast<unsigned>(row_tiles), static_cast<unsigned>(columns),
            static_cast<unsigned>(a.parts), kBlockThreads, kProductCodesShared, args, *a.updates);
    }
    return s.launch(a.is_pair ? KernelId::product_codes_pair : KernelId::product_codes,
                    static_cast<unsigned>(row_tiles), static_cast<unsigned>(columns),
                    static_cast<unsigned>(a.parts), kBlockThreads, kProductCodesShared, args);
}

} // namespace kernels::cuda
