// SPDX-License-Identifier: Apache-2.0
// Element-wise functions, column scales, row gather and the row store of the KV cache with vector
// code. Rows are cut into pieces of kPiece columns, so that one token's wide row is shared too.
#pragma once

#include "kernels/cpu/shape_checks.h"
#include "kernels/cpu/simd/expand.h"
#include "kernels/cpu/simd/math.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/ops.h"

namespace kernels::cpu {

template <class V>
struct Elementwise {
    using F = typename V::F;
    using M = Math<V>;

    static Status gatedMul(Queue q, Activation activation, MatF32 gate, MatF32 up, MutF32 y) {
        if (!isSameShape(gate, y) || !isSameShape(up, y)) {
            return Status::BadShape;
        }
        if (activation == Activation::Silu) {
            map(q, y, [&](int64_t t, int64_t c, int64_t n) {
                return V::mul(M::silu(at(gate, t, c, n)), at(up, t, c, n));
            });
        } else {
            map(q, y, [&](int64_t t, int64_t c, int64_t n) {
                return V::mul(M::geluTanh(at(gate, t, c, n)), at(up, t, c, n));
            });
        }
        return Status::Ok;
    }

    static Status sigmoidMul(Queue q, MatF32 x, MatF32 gate, MutF32 y) {
        if (!isSameShape(x, y) || !isSameShape(gate, y)) {
            return Status::BadShape;
        }
        map(q, y, [&](int64_t t, int64_t c, int64_t n) {
            return V::mul(at(x, t, c, n), M::sigmoid(at(gate, t, c, n)));
        });
        return Status::Ok;
    }

    static Status clamp(Queue q, MatF32 x, float lo, float hi, MutF32 y) {
        if (!isSameShape(x, y)) {
            return Status::BadShape;
        }
        const F low = V::set1(lo);
        const F high = V::set1(hi);
        map(q, y, [&](int64_t t, int64_t c, int64_t n) {
            // max and min return their second operand when one is NaN: NaN passes through.
            return V::min(high, V::max(low, at(x, t, c, n)));
        });
        return Status::Ok;
    }

    static Status addScaled(Queue q, MatF32 x, float alpha, MutF32 y) {
        if (!isSameShape(x, y)) {
            return Status::BadShape;
        }
        const F a = V::set1(alpha);
        map(q, y, [&](int64_t t, int64_t c, int64_t n) {
            return V::fma(a, at(x, t, c, n), at(y, t, c, n));
        });
        return Status::Ok;
    }

    static Status scale(Queue q, MutF32 x, float s) {
        if (!isMatrix(x)) {
            return Status::BadShape;
        }
        const F f = V::set1(s);
        map(q, x, [&](int64_t t, int64_t c, int64_t n) { return V::mul(at(x, t, c, n), f); });
        return Status::Ok;
    }

    static Status scaleColumns(Queue q, MutF32 x, const float* s) {
        if (!isMatrix(x) || s == nullptr) {
            return Status::BadShape;
        }
        map(q, x, [&](int64_t t, int64_t c, int64_t n) {
            return V::mul(at(x, t, c, n), loadSome(s + c, n));
        });
        return Status::Ok;
    }

    static Status addColumns(Queue q, MutF32 x, const float* b) {
        if (!isMatrix(x) || b == nullptr) {
            return Status::BadShape;
        }
        map(q, x, [&](int64_t t, int64_t c, int64_t n) {
            return V::add(at(x, t, c, n), loadSome(b + c, n));
        });
        return Status::Ok;
    }

    static Status softCap(Queue q, MutF32 x, float cap) {
        if (!isMatrix(x) || !(cap > 0.0F)) {
            return Status::BadShape;
        }
        const F limit = V::set1(cap);
        map(q, x, [&](int64_t t, int64_t c, int64_t n) {
            return V::mul(limit, M::tanh(V::div(at(x, t, c, n), limit)));
        });
        return Status::Ok;
    }

    static Status gatherRows(Queue q,
                             WeightView table,
                             const int32_t* ids,
                             int64_t count,
                             int64_t col_offset,
                             float scale_factor,
                             MutF32 y) {
        const Status status = checkGather(table, ids, count, col_offset, y);
        if (status != Status::Ok) {
            return status;
        }
        const CodeValues codes = codeValues(table.format);
        parallelFor(poolOf(q), count, 4, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                float* row = y.data + i * y.stride;
                Expand<V>::row(table, codes.value, ids[i], col_offset, y.cols, row);
                scaleRow(row, y.cols, scale_factor);
            }
        });
        return Status::Ok;
    }

    static Status
    storeRows(Queue q, MatF32 src, const int32_t* slot, DType type, void* dst, int64_t capacity) {
        const Status status = checkStore(src, slot, dst, capacity);
        if (status != Status::Ok) {
            return status;
        }
        parallelFor(poolOf(q), src.rows, rowsPerChunk(src.cols), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                storeRow(src.data + i * src.stride, src.cols, type, dst, slot[i] * src.cols);
            }
        });
        return Status::Ok;
    }

    static ThreadPool* poolOf(Queue q) { return static_cast<ThreadPool*>(q.context); }

    /// Rows that make a piece of work worth a hand-over to another thread.
    static int64_t rowsPerChunk(int64_t cols) {
        const int64_t rows = 4 * kPiece / (cols > 0 ? cols : 1);
        return rows > 0 ? rows : 1;
    }

private:
    static constexpr int64_t kPiece = 2048;

    static KERNELS_INLINE F loadSome(const float* p, int64_t n) {
        return n == V::kWidth ? V::load(p) : V::loadPart(p, n);
    }
    static KERNELS_INLINE F at(const MatF32& x, int64_t t, int64_t c, int64_t n) {
        return loadSome(x.data + t * x.stride + c, n);
    }

    /// y[t, c...c+n) = fn(t, c, n), n <= kWidth.
    template <typename Fn>
    static void map(Queue q, const MutF32& y, Fn fn) {
        const int64_t pieces = (y.cols + kPiece - 1) / kPiece;
        const int64_t grain = pieces > 1 ? 2 : rowsPerChunk(y.cols);
        parallelFor(poolOf(q), y.rows * pieces, grain, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t t = i / pieces;
                const int64_t first = i % pieces * kPiece;
                const int64_t last = y.cols - first < kPiece ? y.cols : first + kPiece;
                float* row = y.data + t * y.stride;
                int64_t c = first;
                for (; c + V::kWidth <= last; c += V::kWidth) {
                    V::store(row + c, fn(t, c, V::kWidth));
                }
                if (c < last) {
                    V::storePart(row + c, fn(t, c, last - c), last - c);
                }
            }
        });
    }

    static void scaleRow(float* row, int64_t cols, float factor) {
        const F f = V::set1(factor);
        int64_t c = 0;
        for (; c + V::kWidth <= cols; c += V::kWidth) {
            V::store(row + c, V::mul(V::load(row + c), f));
        }
        if (c < cols) {
            V::storePart(row + c, V::mul(V::loadPart(row + c, cols - c), f), cols - c);
        }
    }

    static void storeRow(const float* row, int64_t cols, DType type, void* dst, int64_t first) {
        for (int64_t c = 0; c < cols; c += V::kWidth) {
            const int64_t n = cols - c < V::kWidth ? cols - c : V::kWidth;
            const F v = loadSome(row + c, n);
            if (type == DType::F32) {
                float* out = static_cast<float*>(dst) + first + c;
                n == V::kWidth ? V::store(out, v) : V::storePart(out, v, n);
                continue;
            }
            uint16_t* out = static_cast<uint16_t*>(dst) + first + c;
            if (type == DType::BF16) {
                n == V::kWidth ? V::storeBf16(out, v) : V::storeBf16Part(out, v, n);
            } else {
                n == V::kWidth ? V::storeF16(out, v) : V::storeF16Part(out, v, n);
            }
        }
    }
};

} // namespace kernels::cpu
