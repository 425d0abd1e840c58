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

/// Where an element of A ([rank, in], of experts [experts, rank, in]) stands in its file tensor.
int64_t indexOfA(const LowRankUpdate& update, int64_t element);
/// The same for B ([out, rank], of experts [experts, out, rank]).
int64_t indexOfB(const LowRankUpdate& update, int64_t element);

/// The file's values in these orders.
std::vector<float> orderedA(std::vector<float> a, const LowRankUpdate& update);
std::vector<float> orderedB(std::vector<float> b, const LowRankUpdate& update);

/// [rows, cols] -> [cols, rows].
std::vector<float> transposed(std::span<const float> values, int64_t rows, int64_t cols);

} // namespace engine
