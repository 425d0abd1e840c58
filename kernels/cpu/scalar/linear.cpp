// SPDX-License-Identifier: Apache-2.0
// Reference linear products, row gather and the LoRA update.
#include "kernels/cpu/float_types.h"
#include "kernels/cpu/scalar/scalar_ops.h"
#include "kernels/cpu/shape_checks.h"
#include "kernels/cpu/thread_owned.h"
#include "kernels/cpu/weight_rows.h"

#include <algorithm>
#include <array>
#include <vector>

namespace kernels::cpu::scalar {

namespace {

constexpr int64_t kLinearRowsPerChunk = 16;

/// As many rows of the weight are multiplied beside each other: one by one each sum would wait for
/// its last addition. It adds its products in the order of the columns, however many rows there
/// are.
constexpr int64_t kRows = 4;

/// Expanded weight rows. Grow with the widest layer met and are reused by the thread.
std::vector<float>& rowBuffer(int64_t cols) {
    struct Rows;
    auto& buffer = threadOwned<std::vector<float>, Rows>();
    if (buffer.size() < static_cast<size_t>(kRows * cols)) {
        buffer.resize(static_cast<size_t>(kRows * cols));
    }
    return buffer;
}

/// y[i] = x . w_i for Rows rows w_i of `cols` values, one behind the other.
template <int64_t Rows>
void multiply(const float* x, const float* w, int64_t cols, float* y) {
    std::array<double, Rows> sums{};
    for (int64_t k = 0; k < cols; ++k) {
        const auto value = static_cast<double>(x[k]);
        for (int64_t i = 0; i < Rows; ++i) {
            sums[static_cast<size_t>(i)] += value * static_cast<double>(w[i * cols + k]);
        }
    }
    for (int64_t i = 0; i < Rows; ++i) {
        y[i] = static_cast<float>(sums[static_cast<size_t>(i)]);
    }
}

} // namespace

Status linear(Queue q, MatF32 x, WeightView w, MutF32 y) {
    if (const Status status = checkLinear(x, w, y); status != Status::Ok) {
        return status;
    }
    parallelFor(poolOf(q), w.rows, kLinearRowsPerChunk, [&](int64_t begin, int64_t end) {
        float* rows = rowBuffer(w.cols).data();
        for (int64_t n = begin; n < end; n += kRows) {
            const int64_t count = std::min(kRows, end - n);
            for (int64_t i = 0; i < count; ++i) {
                expandRow(w, n + i, 0, w.cols, rows + i * w.cols);
            }
            for (int64_t t = 0; t < x.rows; ++t) {
                const float* in = x.data + t * x.stride;
                float* out = y.data + t * y.stride + n;
                if (count == kRows) {
                    multiply<kRows>(in, rows, w.cols, out);
                    continue;
                }
                for (int64_t i = 0; i < count; ++i) {
                    multiply<1>(in, rows + i * w.cols, w.cols, out + i);
                }
            }
        }
    });
    return Status::Ok;
}

Status loraAccumulate(Queue q,
                      MatF32 x,
                      MatView a,
                      MatView b,
                      MatView b_bias,
                      float scaling,
                      MutF32 scratch,
                      MutF32 y) {
    if (const Status status = checkLora(x, a, b, b_bias, scratch, y); status != Status::Ok) {
        return status;
    }
    if (x.data == nullptr || y.data == nullptr || scratch.data == nullptr) {
        return Status::Ok; // no rows
    }
    const int64_t rank = a.rows;
    parallelFor(poolOf(q), x.rows * rank, kLinearRowsPerChunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const int64_t t = i / rank;
            const int64_t r = i % rank;
            double sum = 0.0;
            for (int64_t k = 0; k < x.cols; ++k) {
                sum += static_cast<double>(x.data[t * x.stride + k]) *
                       static_cast<double>(loadElement(a.data, a.type, r * a.cols + k));
            }
            scratch.data[t * scratch.stride + r] = static_cast<float>(sum);
        }
    });
    parallelFor(poolOf(q), y.cols, kLinearRowsPerChunk, [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) {
            for (int64_t t = 0; t < y.rows; ++t) {
                double sum = b_bias.data == nullptr
                                 ? 0.0
                                 : static_cast<double>(loadElement(b_bias.data, b_bias.type, n));
                for (int64_t r = 0; r < rank; ++r) {
                    sum += static_cast<double>(scratch.data[t * scratch.stride + r]) *
                           static_cast<double>(loadElement(b.data, b.type, n * rank + r));
                }
                y.data[t * y.stride + n] += static_cast<float>(static_cast<double>(scaling) * sum);
            }
        }
    });
    return Status::Ok;
}

Status loraAccumulateAll(
    Queue q, MatF32 x, const LoraTerm* terms, int64_t count, MutF32 scratch, MutF32 y) {
    if (const Status status = checkLoraTerms(x, terms, count, scratch, y); status != Status::Ok) {
        return status;
    }
    int64_t first = 0;
    for (int64_t i = 0; i < count; ++i) {
        const LoraTerm& term = terms[i];
        const MutF32 part{scratch.data == nullptr ? nullptr : scratch.data + first, scratch.rows,
                          term.a.rows, scratch.stride};
        const Status status =
            loraAccumulate(q, x, term.a, term.b, term.b_bias, term.scaling, part, y);
        if (status != Status::Ok) {
            return status;
        }
        first += term.a.rows;
    }
    return Status::Ok;
}

Status gatherRows(Queue q,
                  WeightView table,
                  const int32_t* ids,
                  int64_t count,
                  int64_t col_offset,
                  float scale_factor,
                  MutF32 y) {
    if (const Status status = checkGather(table, ids, count, col_offset, y); status != Status::Ok) {
        return status;
    }
    parallelFor(poolOf(q), count, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            float* row = y.data + i * y.stride;
            expandRow(table, ids[i], col_offset, y.cols, row);
            for (int64_t c = 0; c < y.cols; ++c) {
                row[c] *= scale_factor;
            }
        }
    });
    return Status::Ok;
}

} // namespace kernels::cpu::scalar
