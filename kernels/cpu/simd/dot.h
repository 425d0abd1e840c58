// SPDX-License-Identifier: Apache-2.0
// Linear products for few tokens (decode, short prompts): every weight row is read once, in
// memory order, and multiplied with up to 8 tokens at a time. The sums of kWidth rows are kept as
// vectors and added up by one transpose. What differs by storage format is a policy class:
//
//   V           vector layer
//   X           element type of the converted activations
//   kStep       the converted row is padded with zeros to a multiple of this
//   convert()   one activation row, fp32 -> X in the order the policy wants
//   row<T>()    sums[t] = vector whose lanes add up to <row, x_t>
//
// The order of additions depends on the shape only, never on threads.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/expand.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/ops.h"

#include <atomic>

namespace kernels::cpu {

/// What happens to a product before it is stored: y = (is_added ? y : 0) + factor * row_factor * s.
struct Epilogue {
    bool is_added = false;
    float factor = 1.0F;
    const float* row_factor = nullptr; ///< [out], nullptr = 1.
};

constexpr int64_t kDotTokens = 8;             ///< Tokens per pass over a row.
constexpr int64_t kBytesPerChunk = 64 * 1024; ///< Weight bytes that a thread claims at once.

template <class Policy>
struct DotProduct {
    using V = typename Policy::V;
    using F = typename V::F;
    using X = typename Policy::X;
    static constexpr int64_t kWidth = V::kWidth;

    using GroupFn = void (*)(const Policy& policy,
                             int64_t row,
                             int64_t count,
                             const X* x,
                             int64_t x_stride,
                             const Epilogue& epilogue,
                             float* y,
                             int64_t y_stride);

    /// `count` <= kWidth rows from `row` on, T tokens.
    template <int T>
    static void rowGroup(const Policy& policy,
                         int64_t row,
                         int64_t count,
                         const X* x,
                         int64_t x_stride,
                         const Epilogue& epilogue,
                         float* y,
                         int64_t y_stride) {
        F sums[T][kWidth];
        for (int64_t r = 0; r < kWidth; ++r) {
            F row_sums[T];
            if (r < count) {
                policy.template row<T>(row + r, x, x_stride, row_sums);
            } else {
                for (int t = 0; t < T; ++t) {
                    row_sums[t] = V::zero();
                }
            }
            for (int t = 0; t < T; ++t) {
                sums[t][V::slotOfRow(r)] = row_sums[t];
            }
        }
        const bool is_full = count == kWidth;
        F factor = V::set1(epilogue.factor);
        if (epilogue.row_factor != nullptr) {
            const float* p = epilogue.row_factor + row;
            factor = V::mul(factor, is_full ? V::load(p) : V::loadPart(p, count));
        }
        for (int t = 0; t < T; ++t) {
            F result = V::mul(V::transposeSum(sums[t]), factor);
            float* out = y + t * y_stride + row;
            if (epilogue.is_added) {
                result = V::add(result, is_full ? V::load(out) : V::loadPart(out, count));
            }
            if (is_full) {
                V::store(out, result);
            } else {
                V::storePart(out, result, count);
            }
        }
    }

    static constexpr GroupFn kGroups[kDotTokens] = {&rowGroup<1>, &rowGroup<2>, &rowGroup<3>,
                                                    &rowGroup<4>, &rowGroup<5>, &rowGroup<6>,
                                                    &rowGroup<7>, &rowGroup<8>};

    static void rows(const Policy& policy,
                     int64_t begin,
                     int64_t end,
                     const X* x,
                     int64_t x_stride,
                     const Epilogue& epilogue,
                     MutF32 y) {
        for (int64_t row = begin; row < end; row += kWidth) {
            const int64_t count = end - row < kWidth ? end - row : kWidth;
            for (int64_t t = 0; t < y.rows; t += kDotTokens) {
                const int64_t tokens = y.rows - t < kDotTokens ? y.rows - t : kDotTokens;
                const X* xt = x + t * x_stride;
                float* yt = y.data + t * y.stride;
                kGroups[tokens - 1](policy, row, count, xt, x_stride, epilogue, yt, y.stride);
            }
        }
    }

    static Status run(ThreadPool* pool,
                      MatF32 x,
                      const WeightView& w,
                      int64_t row_bytes,
                      const Epilogue& epilogue,
                      MutF32 y) {
        const int64_t x_stride = (w.cols + Policy::kStep - 1) / Policy::kStep * Policy::kStep;
        X* converted =
            threadScratchOf<X>(ScratchSlot::Activations, static_cast<size_t>(x.rows * x_stride));
        if (converted == nullptr) {
            return Status::OutOfMemory;
        }
        for (int64_t t = 0; t < x.rows; ++t) {
            Policy::convert(x.data + t * x.stride, w.cols, converted + t * x_stride);
        }
        int64_t grain = kBytesPerChunk / (row_bytes > 0 ? row_bytes : 1) / kWidth * kWidth;
        grain = grain < kWidth ? kWidth : grain;
        std::atomic<bool> is_failed{false};
        parallelFor(pool, w.rows, grain, [&](int64_t begin, int64_t end) {
            Policy policy;
            if (!policy.open(w)) {
                is_failed.store(true, std::memory_order_relaxed);
                return;
            }
            rows(policy, begin, end, converted, x_stride, epilogue, y);
        });
        return is_failed.load() ? Status::OutOfMemory : Status::Ok;
    }
};

/// fp32 activations in natural order, weights widened to fp32: F32, F16, BF16 and int8 rows.
template <class Vec, WeightFormat kFormat>
class NaturalDot {
public:
    using V = Vec;
    using F = typename V::F;
    using X = float;
    static constexpr int64_t kStep = V::kWidth;

    bool open(const WeightView& w) {
        data_ = w.data;
        cols_ = w.cols;
        return true;
    }

    static void convert(const float* x, int64_t cols, float* out) {
        int64_t i = 0;
        for (; i + V::kWidth <= cols; i += V::kWidth) {
            V::store(out + i, V::load(x + i));
        }
        if (i < cols) {
            V::store(out + i, V::loadPart(x + i, cols - i));
        }
    }

    template <int T>
    KERNELS_INLINE void row(int64_t row_index, const float* x, int64_t x_stride, F* sums) const {
        constexpr int kChains = T == 1 ? 4 : (T == 2 ? 2 : 1);
        F acc[T][kChains];
        for (int t = 0; t < T; ++t) {
            for (int c = 0; c < kChains; ++c) {
                acc[t][c] = V::zero();
            }
        }
        const int64_t first = row_index * cols_;
        int64_t k = 0;
        for (; k + kChains * V::kWidth <= cols_; k += kChains * V::kWidth) {
#pragma GCC unroll 4
            for (int c = 0; c < kChains; ++c) {
                const F w = load(first + k + c * V::kWidth);
#pragma GCC unroll 8
                for (int t = 0; t < T; ++t) {
                    acc[t][c] = V::fma(w, V::load(x + t * x_stride + k + c * V::kWidth), acc[t][c]);
                }
            }
        }
        for (; k < cols_; k += V::kWidth) {
            const F w = cols_ - k >= V::kWidth ? load(first + k) : loadPart(first + k, cols_ - k);
            for (int t = 0; t < T; ++t) {
                acc[t][0] = V::fma(w, V::load(x + t * x_stride + k), acc[t][0]);
            }
        }
        for (int t = 0; t < T; ++t) {
            sums[t] = acc[t][0];
            for (int c = 1; c < kChains; ++c) {
                sums[t] = V::add(sums[t], acc[t][c]);
            }
        }
    }

private:
    KERNELS_INLINE F load(int64_t index) const {
        if constexpr (kFormat == WeightFormat::F32) {
            return V::load(static_cast<const float*>(data_) + index);
        } else if constexpr (kFormat == WeightFormat::F16) {
            return V::loadF16(static_cast<const uint16_t*>(data_) + index);
        } else if constexpr (kFormat == WeightFormat::BF16) {
            return V::loadBf16(static_cast<const uint16_t*>(data_) + index);
        } else {
            return V::loadI8(static_cast<const int8_t*>(data_) + index);
        }
    }
    KERNELS_INLINE F loadPart(int64_t index, int64_t n) const {
        if constexpr (kFormat == WeightFormat::F32) {
            return V::loadPart(static_cast<const float*>(data_) + index, n);
        } else if constexpr (kFormat == WeightFormat::F16) {
            return V::loadF16Part(static_cast<const uint16_t*>(data_) + index, n);
        } else if constexpr (kFormat == WeightFormat::BF16) {
            return V::loadBf16Part(static_cast<const uint16_t*>(data_) + index, n);
        } else {
            return V::loadI8Part(static_cast<const int8_t*>(data_) + index, n);
        }
    }

    const void* data_ = nullptr;
    int64_t cols_ = 0;
};

/// 4-bit weights of any block size and any number of columns: a row is expanded exactly, in
/// pieces, and multiplied in fp32. The general way behind the fast policies.
template <class Vec>
class ExpandingDot {
public:
    using V = Vec;
    using F = typename V::F;
    using X = float;
    static constexpr int64_t kStep = V::kWidth;

    bool open(const WeightView& w) {
        weight_ = w;
        codes_ = codeValues(w.format);
        const int64_t padded = (w.cols + V::kWidth - 1) / V::kWidth * V::kWidth;
        buffer_ = threadScratchOf<float>(ScratchSlot::Rows, static_cast<size_t>(padded));
        return buffer_ != nullptr;
    }

    static void convert(const float* x, int64_t cols, float* out) {
        NaturalDot<V, WeightFormat::F32>::convert(x, cols, out);
    }

    template <int T>
    KERNELS_INLINE void row(int64_t row_index, const float* x, int64_t x_stride, F* sums) const {
        Expand<V>::row(weight_, codes_.value, row_index, 0, weight_.cols, buffer_);
        WeightView expanded;
        expanded.data = buffer_;
        expanded.cols = weight_.cols;
        NaturalDot<V, WeightFormat::F32> dense;
        dense.open(expanded);
        dense.template row<T>(0, x, x_stride, sums);
    }

private:
    WeightView weight_;
    CodeValues codes_{};
    float* buffer_ = nullptr;
};

} // namespace kernels::cpu
