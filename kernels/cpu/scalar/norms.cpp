// SPDX-License-Identifier: Apache-2.0
// Reference RMS norms and rotary embedding.
#include "kernels/cpu/float_types.h"
#include "kernels/cpu/scalar/scalar_ops.h"
#include "kernels/cpu/shape_checks.h"

#include <cmath>

namespace kernels::cpu::scalar {

namespace {

/// 1 / sqrt(mean(x^2) + eps).
double inverseRms(const float* x, int64_t n, float eps) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; ++i) {
        sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    return 1.0 / std::sqrt(sum / static_cast<double>(n) + static_cast<double>(eps));
}

double weightAt(const MatView& weight, int64_t c) {
    return weight.data == nullptr ? 1.0
                                  : static_cast<double>(loadElement(weight.data, weight.type, c));
}

} // namespace

Status rmsNorm(Queue q, MatF32 x, MatView weight, float eps, MutF32 y) {
    if (const Status status = checkNorm(x, weight, y); status != Status::Ok) {
        return status;
    }
    parallelFor(poolOf(q), x.rows, 4, [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t) {
            const float* in = x.data + t * x.stride;
            const double inverse = inverseRms(in, x.cols, eps);
            for (int64_t c = 0; c < x.cols; ++c) {
                y.data[t * y.stride + c] =
                    static_cast<float>(static_cast<double>(in[c]) * inverse * weightAt(weight, c));
            }
        }
    });
    return Status::Ok;
}

Status rmsNormAdd(Queue q, MatF32 x, MatView weight, float eps, float alpha, MutF32 residual) {
    if (const Status status = checkNorm(x, weight, residual); status != Status::Ok) {
        return status;
    }
    parallelFor(poolOf(q), x.rows, 4, [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t) {
            const float* in = x.data + t * x.stride;
            const double inverse = static_cast<double>(alpha) * inverseRms(in, x.cols, eps);
            for (int64_t c = 0; c < x.cols; ++c) {
                const double normed = static_cast<double>(in[c]) * inverse * weightAt(weight, c);
                float& out = residual.data[t * residual.stride + c];
                out = static_cast<float>(static_cast<double>(out) + normed);
            }
        }
    });
    return Status::Ok;
}

Status rope(Queue q,
            MutF32 x,
            int64_t head_dim,
            int64_t offset,
            int64_t dim,
            const int32_t* position,
            const float* inv_freq) {
    if (const Status status = checkRope(x, head_dim, offset, dim, position, inv_freq);
        status != Status::Ok) {
        return status;
    }
    const int64_t half = dim / 2;
    const int64_t heads = x.cols / head_dim;
    parallelFor(poolOf(q), x.rows, 4, [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t) {
            for (int64_t j = 0; j < half; ++j) {
                const float angle = static_cast<float>(position[t]) * inv_freq[j];
                const double cosine = std::cos(static_cast<double>(angle));
                const double sine = std::sin(static_cast<double>(angle));
                for (int64_t head = 0; head < heads; ++head) {
                    float* pair = x.data + t * x.stride + head * head_dim + offset + j;
                    const auto a = static_cast<double>(pair[0]);
                    const auto b = static_cast<double>(pair[half]);
                    pair[0] = static_cast<float>(a * cosine - b * sine);
                    pair[half] = static_cast<float>(b * cosine + a * sine);
                }
            }
        }
    });
    return Status::Ok;
}

} // namespace kernels::cpu::scalar
