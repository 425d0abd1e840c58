// SPDX-License-Identifier: Apache-2.0
// Compiled with -O3: the inner loops are plain and left to the vectoriser.
#include "engine/lora/low_rank_math.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

/// gram[i * rank + j] += sum over vectors of v_i v_j, upper triangle. `vectors` is
/// [count, rank].
void addGram(const float* vectors, int64_t count, int64_t rank, std::vector<double>& gram) {
    for (int64_t n = 0; n < count; ++n) {
        const float* v = vectors + n * rank;
        for (int64_t i = 0; i < rank; ++i) {
            const double vi = v[i];
            double* row = gram.data() + i * rank;
            for (int64_t j = i; j < rank; ++j) {
                row[j] += vi * static_cast<double>(v[j]);
            }
        }
    }
}

} // namespace

double
productNorm(std::span<const float> a, std::span<const float> b, const LowRankUpdate& update) {
    const int64_t copies = std::max<int64_t>(update.experts, 1);
    const int64_t rank = update.rank;
    const std::vector<float> a_major = orderedA({a.begin(), a.end()}, update);
    const std::vector<float> b_major = orderedB({b.begin(), b.end()}, update);
    double total = 0.0;
    for (int64_t e = 0; e < copies; ++e) {
        std::vector<double> gram_a(static_cast<size_t>(rank * rank));
        std::vector<double> gram_b(static_cast<size_t>(rank * rank));
        const std::span<const float> a_e = std::span(a_major).subspan(
            static_cast<size_t>(e * rank * update.in), static_cast<size_t>(rank * update.in));
        const std::vector<float> columns = transposed(a_e, rank, update.in);
        addGram(columns.data(), update.in, rank, gram_a);
        addGram(b_major.data() + e * update.out * rank, update.out, rank, gram_b);
        for (int64_t i = 0; i < rank; ++i) {
            for (int64_t j = i; j < rank; ++j) {
                const auto at = static_cast<size_t>(i * rank + j);
                total += (i == j ? 1.0 : 2.0) * gram_a[at] * gram_b[at];
            }
        }
    }
    return std::sqrt(std::max(total, 0.0));
}

void addProductRow(std::span<const float> b_row,
                   std::span<const float> a,
                   float scale,
                   std::span<float> row) {
    const size_t in = row.size();
    for (size_t k = 0; k < b_row.size(); ++k) {
        const float factor = scale * b_row[k];
        const float* values = a.data() + k * in;
        for (size_t i = 0; i < in; ++i) {
            row[i] += factor * values[i];
        }
    }
}

void addProductRow(std::span<const float> b_row,
                   std::span<const float> a,
                   double scale,
                   std::span<double> row) {
    const size_t in = row.size();
    for (size_t k = 0; k < b_row.size(); ++k) {
        const double factor = scale * static_cast<double>(b_row[k]);
        const float* values = a.data() + k * in;
        for (size_t i = 0; i < in; ++i) {
            row[i] += factor * static_cast<double>(values[i]);
        }
    }
}

double squaredNorm(std::span<const float> values) {
    double total = 0.0;
    for (const float value : values) {
        total += static_cast<double>(value) * static_cast<double>(value);
    }
    return total;
}

int64_t indexOfA(const LowRankUpdate& update, int64_t element) {
    if (update.experts == 0 || !update.is_stored_swapped) {
        return element;
    }
    const int64_t matrix = update.rank * update.in;
    const int64_t expert = element / matrix;
    const int64_t k = element % matrix / update.in;
    const int64_t column = element % update.in;
    return (column * update.rank + k) * update.experts + expert;
}

int64_t indexOfB(const LowRankUpdate& update, int64_t element) {
    if (update.experts == 0) {
        return element;
    }
    const int64_t matrix = update.out * update.rank;
    const int64_t expert = element / matrix;
    if (!update.is_stored_swapped) {
        return element % matrix * update.experts + expert;
    }
    const int64_t row = element % matrix / update.rank;
    const int64_t k = element % update.rank;
    return (expert * update.rank + k) * update.out + row;
}

std::vector<float> orderedA(std::vector<float> a, const LowRankUpdate& update) {
    if (!update.is_stored_swapped) {
        return a;
    }
    std::vector<float> out(a.size());
    for (size_t i = 0; i < out.size(); ++i) {
        out[i] = a[static_cast<size_t>(indexOfA(update, static_cast<int64_t>(i)))];
    }
    return out;
}

std::vector<float> orderedB(std::vector<float> b, const LowRankUpdate& update) {
    if (update.experts == 0) {
        return b;
    }
    std::vector<float> out(b.size());
    for (size_t i = 0; i < out.size(); ++i) {
        out[i] = b[static_cast<size_t>(indexOfB(update, static_cast<int64_t>(i)))];
    }
    return out;
}

std::vector<float> transposed(std::span<const float> values, int64_t rows, int64_t cols) {
    std::vector<float> out(values.size());
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) {
            out[static_cast<size_t>(c * rows + r)] = values[static_cast<size_t>(r * cols + c)];
        }
    }
    return out;
}

} // namespace engine
