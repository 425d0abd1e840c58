// SPDX-License-Identifier: Apache-2.0
// Products of many bf16 rows with 4-bit weights as they are stored
// (device/prompt/product_codes.cu).
#pragma once

#include "kernels/cuda/launch/launch_args.h"

namespace kernels::cuda {

/// y[i] = W[i] x, or a pair: y[0] = act(W[0] x) * (W[1] x).
struct CodesProduct {
    const void* x = nullptr; ///< [rows, cols of w] bf16, aligned to 16 bytes.
    int64_t rows = 0;        ///< At least 1.
    bool is_pair = false;
    Activation activation = kDefaultActivation; ///< A pair has one.
    int count = 0;                              ///< Weights: 1 to 3; a pair has 2.
    WeightView w[3];
    void* y[3] = {nullptr, nullptr, nullptr}; ///< fp32, aligned to 8 bytes; of a pair bf16, to 4.
    int64_t stride[3] = {0, 0, 0};            ///< Elements between rows of y, even.
    int parts = 1; ///< Parts of the columns, y[i] behind each other. In: room; out: how many.
    const ProductUpdatesArgs* updates = nullptr; ///< Their h is made; nullptr: none.
};

/// The card and the weights allow it: one 4-bit format in blocks of 64, a multiple of 256 columns,
/// an even number of rows.
[[nodiscard]] bool takesCodes(const Stream& s, const WeightView* w, int count);

/// Enqueues it; takesCodes() said so.
Status productOfCodes(Stream& s, CodesProduct& a);

} // namespace kernels::cuda
