// SPDX-License-Identifier: Apache-2.0
// Element-wise functions, column scales, row gather and the row store of the KV cache with vector
// code. Rows are cut into pieces of kPiece columns, so that one token's wide row is shared too.
#pragma once

#include "kernels/cpu/kv_rows.h"
#include "kernels/cpu/shape_checks.h"
#include "kernels/cpu/simd/expand.h"
#include "kernels/cpu/simd/lanes.h"
#include "kernels/cpu/simd/math.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/ops.h"

namespace kernels::cpu {

template <class V>
struct Elementwise {
    using F = typename V::F;
    using M = Math<V>;

    static Status gatedMul(Queue q, Activation activation, MatF32 gate, MatF32 up, MutF32 y) {
        const bool is_valid = isSameShape(gate, y) && isSameShape(up, y);
        switch (activation) { // without a default, as in the scalar table
        case Activation::Silu:
            return map(q, y, is_valid, [&](int64_t t, int64_t c, int64_t n) {
                return V::mul(M::silu(at(gate, t, c, n)), at(up, t, c, n));
            });
        case Activation::GeluTanh:
            return map(q, y, is_valid, [&](int64_t t, int64_t c, int64_t n) {
                return V::mul(M::geluTanh(at(gate, t, c, n)), at(up, t, c, n));
            });
        }
        return Status::Unsupported;
    }

    static Status sigmoidMul(Queue q, MatF32 x, MatF32 gate, MutF32 y) {
        const bool is_valid = isSameShape(x, y) && isSameShape(gate, y);
        return map(q, y, is_valid, [&](int64_t t, int64_t c, int64_t n) {
            return V::mul(at(x, t, c, n), M::sigmoid(at(gate, t, c, n)));
        });
    }

    static Status clamp(Queue q, MatF32 x, float lo, float hi, MutF32 y) {
        const F low = V::set1(lo);
        const F high = V::set1(hi);
        return map(q, y, isSameShape(x, y), [&](int64_t t, int64_t c, int64_t n) {
            // max and min return their second operand when one is NaN: NaN passes through.
            return V::min(high, V::max(low, at(x, t, c, n)));
        });
    }

    static Status addScaled(Queue q, MatF32 x, float alpha, MutF32 y) {
        const F a = V::set1(alpha);
        return map(q, y, isSameShape(x, y), [&](int64_t t, int64_t c, int64_t n) {
            return V::fma(a, at(x, t, c, n), at(y, t, c, n));
        });
    }

    static Status scale(Queue q, MutF32 x, float s) {
        const F f = V::set1(s);
        return map(q, x, isMatrix(x),
                   [&](int64_t t, int64_t c, int64_t n) { return V::mul(at(x, t, c, n), f); });
    }

    static Status scaleColumns(Queue q, MutF32 x, const float* s) {
        const bool is_valid = isMatrix(x) && s != nullptr;
        return map(q, x, is_valid, [&](int64_t t, int64_t c, int64_t n) {
            return V::mul(at(x, t, c, n), Lanes<V>::load(s + c, n));
        });
    }

    static Status addColumns(Queue q, MutF32 x, const float* b) {
        const bool is_valid = isMatrix(x) && b != nullptr;
        return map(q, x, is_valid, [&](int64_t t, int64_t c, int64_t n) {
            return V::add(at(x, t, c, n), Lanes<V>::load(b + c, n));
        });
    }

    static Status softCap(Queue q, MutF32 x, float cap) {
        const F limit = V::set1(cap);
        return map(q, x, isMatrix(x) && cap > 0.0F, [&](int64_t t, int64_t c, int64_t n) {
            return V::mul(limit, M::tanh(V::div(at(x, t, c, n), limit)));
        });
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

    static Status storeRows(Queue q,
                            MatF32 src,
                            const int32_t* slot,
                            KvType type,
                            int64_t heads,
                            void* dst,
                            int64_t capacity) {
        const Status status = checkStore(src, slot, heads, dst, capacity);
        if (status != Status::Ok) {
            return status;
        }
        const int64_t dim = src.cols / heads;
        const int64_t row_bytes = kvRowBytes(type, heads, dim);
        parallelFor(poolOf(q), src.rows, rowsPerChunk(src.cols), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const float* const row = src.data + i * src.stride;
                auto* const to = static_cast<std::byte*>(dst) + slot[i] * row_bytes;
                if (hasScales(type)) {
                    storeKvRow(row, type, heads, dim, to);
                } else {
                    storeRow(row, src.cols, kvElement(type), to);
                }
            }
        });
        return Status::Ok;
    }

    /// Rows that make a piece of work worth a hand-over to another thread.
    static int64_t rowsPerChunk(int64_t cols) {
        const int64_t rows = 4 * kPiece / (cols > 0 ? cols : 1);
        return rows > 0 ? rows : 1;
    }

private:
    static constexpr int64_t kPiece = 2048;

    static KERNELS_INLINE F at(const MatF32& x, int64_t t, int64_t c, int64_t n) {
        return Lanes<V>::load(x.data + t * x.stride + c, n);
    }

    /// y[t, c...c+n) = fn(t, c, n), n <= kWidth, where the arguments are valid.
    template <typename Fn>
    static Status map(Queue q, const MutF32& y, bool is_valid, Fn fn) {
        if (!is_valid) {
            return Status::BadShape;
        }
        const int64_t pieces = (y.cols + kPiece - 1) / kPiece;
        const int64_t grain = pieces > 1 ? 2 : rowsPerChunk(y.cols);
        parallelFor(poolOf(q), y.rows * pieces, grain, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t t = i / pieces;
                const int64_t first = i % pieces * kPiece;
                const int64_t last = y.cols - first < kPiece ? y.cols : first + kPiece;
                float* row = y.data + t * y.stride + first;
                Lanes<V>::each(last - first, [&](int64_t c, int64_t n) {
                    Lanes<V>::save(row + c, n, fn(t, first + c, n));
                });
            }
        });
        return Status::Ok;
    }

    static void scaleRow(float* row, int64_t cols, float factor) {
        const F f = V::set1(factor);
        Lanes<V>::each(cols, [&](int64_t c, int64_t n) {
            Lanes<V>::save(row + c, n, V::mul(Lanes<V>::load(row + c, n), f));
        });
    }

    static void storeRow(const float* row, int64_t cols, DType type, void* dst) {
        Lanes<V>::each(cols, [&](int64_t c, int64_t n) {
            const F v = Lanes<V>::load(row + c, n);
            if (type == DType::F32) {
                return Lanes<V>::save(static_cast<float*>(dst) + c, n, v);
            }
            uint16_t* out = static_cast<uint16_t*>(dst) + c;
            if (type == DType::BF16) {
                n == V::kWidth ? V::storeBf16(out, v) : V::storeBf16Part(out, v, n);
            } else {
                n == V::kWidth ? V::storeF16(out, v) : V::storeF16Part(out, v, n);
            }
        });
    }
};

} // namespace kernels::cpu
