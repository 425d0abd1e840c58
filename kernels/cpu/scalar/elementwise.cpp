// SPDX-License-Identifier: Apache-2.0
// Reference element-wise functions, column scales and the row store of the KV cache.
#include "kernels/cpu/float_types.h"
#include "kernels/cpu/kv_rows.h"
#include "kernels/cpu/scalar/scalar_ops.h"
#include "kernels/cpu/shape_checks.h"

#include <cmath>
#include <limits>

namespace kernels::cpu::scalar {

namespace {

constexpr int64_t kRowsPerChunk = 4;

double sigmoid(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}

double activated(Activation activation, double x) {
    constexpr double kRootTwoOverPi = 0.79788456080286535588;
    switch (activation) { // without a default: the compiler tells of an activation without a case
    case Activation::Silu:
        return x * sigmoid(x);
    case Activation::GeluTanh:
        return 0.5 * x * (1.0 + std::tanh(kRootTwoOverPi * (x + 0.044715 * x * x * x)));
    }
    return std::numeric_limits<double>::quiet_NaN();
}

/// y[t,c] = fn(t, c) for the shape of y.
template <typename Fn>
void forEach(Queue q, const MutF32& y, Fn fn) {
    parallelFor(poolOf(q), y.rows, kRowsPerChunk, [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t) {
            for (int64_t c = 0; c < y.cols; ++c) {
                y.data[t * y.stride + c] = fn(t, c);
            }
        }
    });
}

float at(const MatF32& x, int64_t t, int64_t c) {
    return x.data[t * x.stride + c];
}

} // namespace

Status gatedMul(Queue q, Activation activation, MatF32 gate, MatF32 up, MutF32 y) {
    if (!isSameShape(gate, y) || !isSameShape(up, y)) {
        return Status::BadShape;
    }
    forEach(q, y, [&](int64_t t, int64_t c) {
        return static_cast<float>(activated(activation, static_cast<double>(at(gate, t, c))) *
                                  static_cast<double>(at(up, t, c)));
    });
    return Status::Ok;
}

Status sigmoidMul(Queue q, MatF32 x, MatF32 gate, MutF32 y) {
    if (!isSameShape(x, y) || !isSameShape(gate, y)) {
        return Status::BadShape;
    }
    forEach(q, y, [&](int64_t t, int64_t c) {
        return static_cast<float>(static_cast<double>(at(x, t, c)) *
                                  sigmoid(static_cast<double>(at(gate, t, c))));
    });
    return Status::Ok;
}

Status causalConv1d(Queue q, MatF32 x, const float* w, int64_t taps, MutF32 y) {
    if (!isSameShape(x, y) || w == nullptr || taps <= 0) {
        return Status::BadShape;
    }
    forEach(q, y, [&](int64_t t, int64_t c) {
        double sum = 0.0;
        for (int64_t k = 0; k < taps; ++k) {
            const int64_t source = t + 1 - taps + k;
            if (source >= 0) {
                sum += static_cast<double>(w[c * taps + k]) * static_cast<double>(at(x, source, c));
            }
        }
        return static_cast<float>(sum);
    });
    return Status::Ok;
}

Status clamp(Queue q, MatF32 x, float lo, float hi, MutF32 y) {
    if (!isSameShape(x, y)) {
        return Status::BadShape;
    }
    forEach(q, y, [&](int64_t t, int64_t c) {
        float value = at(x, t, c);
        value = value < lo ? lo : value; // comparisons with NaN are false: NaN passes through
        return value > hi ? hi : value;
    });
    return Status::Ok;
}

Status addScaled(Queue q, MatF32 x, float alpha, MutF32 y) {
    if (!isSameShape(x, y)) {
        return Status::BadShape;
    }
    forEach(q, y, [&](int64_t t, int64_t c) { return at(y, t, c) + alpha * at(x, t, c); });
    return Status::Ok;
}

Status scale(Queue q, MutF32 x, float s) {
    if (!isMatrix(x)) {
        return Status::BadShape;
    }
    forEach(q, x, [&](int64_t t, int64_t c) { return at(x, t, c) * s; });
    return Status::Ok;
}

Status scaleColumns(Queue q, MutF32 x, const float* s) {
    if (!isMatrix(x) || s == nullptr) {
        return Status::BadShape;
    }
    forEach(q, x, [&](int64_t t, int64_t c) { return at(x, t, c) * s[c]; });
    return Status::Ok;
}

Status addColumns(Queue q, MutF32 x, const float* b) {
    if (!isMatrix(x) || b == nullptr) {
        return Status::BadShape;
    }
    forEach(q, x, [&](int64_t t, int64_t c) { return at(x, t, c) + b[c]; });
    return Status::Ok;
}

Status softCap(Queue q, MutF32 x, float cap) {
    if (!isMatrix(x) || !(cap > 0.0F)) {
        return Status::BadShape;
    }
    const auto limit = static_cast<double>(cap);
    forEach(q, x, [&](int64_t t, int64_t c) {
        return static_cast<float>(limit * std::tanh(static_cast<double>(at(x, t, c)) / limit));
    });
    return Status::Ok;
}

Status storeRows(Queue q,
                 MatF32 src,
                 const int32_t* slot,
                 KvType type,
                 int64_t heads,
                 void* dst,
                 int64_t capacity) {
    if (const Status status = checkStore(src, slot, heads, dst, capacity); status != Status::Ok) {
        return status;
    }
    const int64_t dim = src.cols / heads;
    const int64_t row_bytes = kvRowBytes(type, heads, dim);
    parallelFor(poolOf(q), src.rows, kRowsPerChunk, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            storeKvRow(src.data + i * src.stride, type, heads, dim,
                       static_cast<std::byte*>(dst) + slot[i] * row_bytes);
        }
    });
    return Status::Ok;
}

} // namespace kernels::cpu::scalar
