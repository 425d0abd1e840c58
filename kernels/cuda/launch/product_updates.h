// SPDX-License-Identifier: Apache-2.0
// Low-rank updates inside products of many rows (device/prompt/product_updates.cuh): where the
// columns of their first half lie, and the launch that makes it.
#pragma once

#include "kernels/cuda/launch/launch_args.h"

namespace kernels::cuda {

/// The updates belong to the product's weights, in their order, and fit their shapes.
[[nodiscard]] bool areUpdates(const ProductArgs& a);

/// Fills in everything but h. False: more of them, or of their ranks, than the kernels take, or an
/// A that begins at an odd address.
[[nodiscard]] bool layOutUpdates(const ProductArgs& a, ProductUpdatesArgs& updates);

/// Bytes of h; 0: there are no updates.
[[nodiscard]] int64_t updateBytes(const ProductUpdatesArgs& updates);

/// Enqueues what makes h.
Status makeRanks(Stream& s, const ProductUpdatesArgs& updates);

/// The same updates of outputs from `first` on; all weights begin there.
[[nodiscard]] ProductUpdatesArgs updatesFrom(const ProductUpdatesArgs& updates, int64_t first);

} // namespace kernels::cuda
