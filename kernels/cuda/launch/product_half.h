// SPDX-License-Identifier: Apache-2.0
// Products of many bf16 rows with bf16 weights by warp groups (device/prompt/product_wide_half.cu).
#pragma once

#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/launch_sizes.h"

namespace kernels::cuda {

/// The card has the kernels, the product is one of theirs: more than 64 rows, numbers of outputs
/// that are multiples of eight, results aligned; fp32 or a pair, no bounds. Says nothing of the
/// weights, which are bf16 or expanded to it.
[[nodiscard]] bool takesHalf(const Stream& s, const ProductArgs& a);

/// Tiles and parts of its columns for `outputs[i]` of every weight.
[[nodiscard]] HalfSizes
halfSizesOf(const Stream& s, const ProductArgs& a, const int64_t* outputs, int least, int most);

/// Enqueues it; takesHalf() said so. product: x, w, y, m, k, n, stride and count.
Status productOfHalves(Stream& s,
                       ProductKernelArgs product,
                       bool is_pair,
                       const HalfSizes& sizes,
                       const ProductUpdatesArgs* updates);

} // namespace kernels::cuda
