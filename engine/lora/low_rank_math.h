// SPDX-License-Identifier: Apache-2.0
// Host arithmetic on low-rank factors that is not part of a forward pass: norms of products, rows
// of W + s B A, DoRA's row norms, the layout of expert factors.
#pragma once

#include "engine/lora/adapter.h"

#include <span>
#include <vector>

namespace engine {

/// || B A ||_F without forming the product: the trace of (B^T B)(A A^T), summed over experts.
/// a and b as in the file (see LowRankUpdate).
double productNorm(std::span<const float> a, std::span<const float> b, const LowRankUpdate& update);

/// row[i] += scale * sum_k b_row[k] * a[k * in + i] for one row of B; a is [rank, in].
void addProductRow(std::span<const float> b_row,
                   std::span<const float> a,
                   float scale,
                   std::span<float> row);

/// The same in double, for merging.
void addProductRow(std::span<const float> b_row,
                   std::span<const float> a,
                   double scale,
                   std::span<double> row);

/// sum of squares, in double.
double squaredNorm(std::span<const float> values);

/// B of expert updates from the file's [out, rank, experts] to [experts, out, rank]; other updates
/// unchanged.
std::vector<float> expertMajor(std::vector<float> b, const LowRankUpdate& update);

/// [rows, cols] -> [cols, rows].
std::vector<float> transposed(std::span<const float> values, int64_t rows, int64_t cols);

} // namespace engine
