// SPDX-License-Identifier: Apache-2.0
// Linear products for few tokens (decode, short prompts): every weight row is read once, in
// memory order, and multiplied with up to 8 tokens at a time. The sums of kWidth rows are kept as
// vectors and added up by one transpose. What differs by storage format is a policy class:
//
//   V           vector layer
//   X           element type of the converted activations
//   kStep       the converted row is padded with zeros to a multiple of this
//   convert()   one activation row, fp32 -> X in the order the policy wants
//   kTogether(T) rows that are multiplied at once, so that an activation is loaded once for them
//   rows<R, T>() sums[r][t] = vector whose lanes add up to <row + r, x_t> over columns [k, end)
//
//   kMostTokens  optional: tokens multiplied at once, kDotTokens where it is missing
//   strideOf(cols)  optional: elements of a converted row, where it holds more than columns
//   hasPieces(T) wide rows are taken in pieces of columns, so that the activations of a piece stay
//                in the first cache while 16 rows pass. Costs memory bandwidth.
//
// The order of additions depends on the shape only, never on
// threads.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/expand.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/ops.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace kernels::cpu {

/// What happens to a product before it is stored: y = (is_added ? y : 0) + factor * row_factor * s.
struct Epilogue {
    bool is_added = false;
    float factor = 1.0F;
    const float* row_factor = nullptr; ///< [out], nullptr = 1.
};

constexpr int64_t kDotTokens = 8; ///< Tokens per pass over a row.
/// Weight bytes that a thread claims at once, out of its own stretch of the rows: little, so that
/// threads end together (a chunk takes one to three microseconds).
constexpr int64_t kLeastBytesPerChunk = int64_t{16} << 10;
constexpr int64_t kMostBytesPerChunk = int64_t{64} << 10;
constexpr int64_t kChunksPerThread = 16;
constexpr int64_t kPieceBytes = 16384; ///< Activations held in the first cache.

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

    /// Columns per piece: equal pieces whose activations take about kPieceBytes.
    static int64_t pieceOf(int64_t cols, int64_t tokens) {
        if (!Policy::hasPieces(static_cast<int>(tokens))) {
            return cols;
        }
        const int64_t most = kPieceBytes / (tokens * static_cast<int64_t>(sizeof(X)));
        const int64_t pieces = (cols + most - 1) / most;
        const int64_t piece = (cols + pieces - 1) / pieces;
        return (piece + Policy::kStep - 1) / Policy::kStep * Policy::kStep;
    }

    template <int R, int T>
    static KERNELS_INLINE void addSums(const Policy& policy,
                                       int64_t row,
                                       int64_t r,
                                       int64_t k,
                                       int64_t end,
                                       const X* x,
                                       int64_t x_stride,
                                       F (&sums)[T][kWidth]) {
        F row_sums[R][T];
        policy.template rows<R, T>(row + r, k, end, x, x_stride, row_sums);
        for (int i = 0; i < R; ++i) {
            for (int t = 0; t < T; ++t) {
                F& sum = sums[t][V::slotOfRow(r + i)];
                if constexpr (Policy::hasPieces(T)) {
                    sum = V::add(sum, row_sums[i][t]);
                } else {
                    sum = row_sums[i][t];
                }
            }
        }
    }

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
        constexpr int kTogether = Policy::kTogether(T);
        F sums[T][kWidth];
        // Where nothing is added later, only slots that no row writes.
        for (int t = 0; t < T; ++t) {
            for (int64_t r = Policy::hasPieces(T) ? 0 : count; r < kWidth; ++r) {
                sums[t][V::slotOfRow(r)] = V::zero();
            }
        }
        if constexpr (requires { Policy::kWideColumns; }) {
            constexpr int kWide = Policy::kTogetherWide(T);
            if (kWide != kTogether && policy.cols() > Policy::kWideColumns && count == kWidth) {
                for (int64_t r = 0; r < kWidth; r += kWide) {
                    addSums<kWide, T>(policy, row, r, 0, policy.cols(), x, x_stride, sums);
                }
                return store<T>(sums, row, count, epilogue, y, y_stride);
            }
        }
        const int64_t piece = pieceOf(policy.cols(), T);
        for (int64_t k = 0; k < policy.cols(); k += piece) {
            const int64_t end = policy.cols() - k < piece ? policy.cols() : k + piece;
            int64_t r = 0;
            for (; r + kTogether <= count; r += kTogether) {
                addSums<kTogether, T>(policy, row, r, k, end, x, x_stride, sums);
            }
            for (; r < count; ++r) {
                addSums<1, T>(policy, row, r, k, end, x, x_stride, sums);
            }
        }
        store<T>(sums, row, count, epilogue, y, y_stride);
    }

    /// Adds the lanes up and writes one output row piece per token.
    template <int T>
    static KERNELS_INLINE void store(const F (&sums)[T][kWidth],
                                     int64_t row,
                                     int64_t count,
                                     const Epilogue& epilogue,
                                     float* y,
                                     int64_t y_stride) {
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

    static constexpr int64_t mostTokens() {
        if constexpr (requires { Policy::kMostTokens; }) {
            return Policy::kMostTokens;
        } else {
            return kDotTokens;
        }
    }

    template <size_t... kBefore>
    static constexpr std::array<GroupFn, sizeof...(kBefore)>
    groupsOf(std::index_sequence<kBefore...> /*tokens*/) {
        return {&rowGroup<static_cast<int>(kBefore) + 1>...};
    }
    static constexpr auto kGroups = groupsOf(std::make_index_sequence<mostTokens()>());

    static void rows(const Policy& policy,
                     int64_t begin,
                     int64_t end,
                     const X* x,
                     int64_t x_stride,
                     const Epilogue& epilogue,
                     MutF32 y) {
        for (int64_t row = begin; row < end; row += kWidth) {
            const int64_t count = end - row < kWidth ? end - row : kWidth;
            for (int64_t t = 0; t < y.rows; t += mostTokens()) {
                const int64_t tokens = y.rows - t < mostTokens() ? y.rows - t : mostTokens();
                const X* xt = x + t * x_stride;
                float* yt = y.data + t * y.stride;
                kGroups[static_cast<size_t>(tokens - 1)](policy, row, count, xt, x_stride, epilogue,
                                                         yt, y.stride);
            }
        }
    }

    /// Elements of a converted row.
    static int64_t strideOf(int64_t cols) {
        if constexpr (requires { Policy::strideOf(cols); }) {
            return Policy::strideOf(cols);
        } else {
            return (cols + Policy::kStep - 1) / Policy::kStep * Policy::kStep;
        }
    }

    /// Rows that a thread claims at once. A row's sum does not depend on its chunk, so chunks may
    /// depend on the threads.
    static int64_t grainOf(const ThreadPool* pool, int64_t rows, int64_t row_bytes) {
        const int64_t threads = pool == nullptr ? 1 : pool->size();
        const int64_t share = rows * row_bytes / (kChunksPerThread * threads);
        const int64_t chunk_bytes = std::clamp(share, kLeastBytesPerChunk, kMostBytesPerChunk);
        const int64_t grain = chunk_bytes / (row_bytes > 0 ? row_bytes : 1) / kWidth * kWidth;
        return std::max(grain, kWidth);
    }

    static Status run(ThreadPool* pool,
                      MatF32 x,
                      const WeightView& w,
                      int64_t row_bytes,
                      const Epilogue& epilogue,
                      MutF32 y) {
        const int64_t x_stride = strideOf(w.cols);
        X* converted =
            threadScratchOf<X>(ScratchSlot::Activations, static_cast<size_t>(x.rows * x_stride));
        if (converted == nullptr) {
            return Status::OutOfMemory;
        }
        for (int64_t t = 0; t < x.rows; ++t) {
            Policy::convert(x.data + t * x.stride, w.cols, converted + t * x_stride);
        }
        const int64_t grain = grainOf(pool, w.rows, row_bytes);
        std::atomic<bool> is_failed{false};
        parallelShares(pool, w.rows, grain, [&](auto& next) {
            int64_t begin = 0;
            int64_t end = 0;
            if (!next(begin, end)) {
                return;
            }
            Policy policy;
            if (!policy.open(w)) {
                is_failed.store(true, std::memory_order_relaxed);
                return;
            }
            do {
                rows(policy, begin, end, converted, x_stride, epilogue, y);
            } while (next(begin, end));
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

    [[nodiscard]] int64_t cols() const { return cols_; }

    static void convert(const float* x, int64_t cols, float* out) {
        int64_t i = 0;
        for (; i + V::kWidth <= cols; i += V::kWidth) {
            V::store(out + i, V::load(x + i));
        }
        if (i < cols) {
            V::store(out + i, V::loadPart(x + i, cols - i));
        }
    }

    /// Accumulators and loaded values fit the registers.
    static constexpr int kTogether(int tokens) { return tokens == 1 ? 1 : (tokens <= 3 ? 4 : 2); }
    static constexpr bool hasPieces(int /*tokens*/) { return false; }

    template <int R, int T>
    KERNELS_INLINE void rows(int64_t row,
                             int64_t k,
                             int64_t end,
                             const float* x,
                             int64_t x_stride,
                             F (&sums)[R][T]) const {
        constexpr int kChains = R * T == 1 ? 4 : (R * T == 2 ? 2 : 1);
        F acc[R][T][kChains];
        for (int r = 0; r < R; ++r) {
            for (int t = 0; t < T; ++t) {
                for (int c = 0; c < kChains; ++c) {
                    acc[r][t][c] = V::zero();
                }
            }
        }
        const int64_t first = row * cols_;
        for (; k + kChains * V::kWidth <= end; k += kChains * V::kWidth) {
#pragma GCC unroll 4
            for (int c = 0; c < kChains; ++c) {
                const int64_t at = k + c * V::kWidth;
                F w[R];
                for (int r = 0; r < R; ++r) {
                    w[r] = load(first + r * cols_ + at);
                    prefetch(first + (r + R) * cols_ + at);
                }
#pragma GCC unroll 8
                for (int t = 0; t < T; ++t) {
                    const F xt = V::load(x + t * x_stride + at);
#pragma GCC unroll 4
                    for (int r = 0; r < R; ++r) {
                        acc[r][t][c] = V::fma(w[r], xt, acc[r][t][c]);
                    }
                }
            }
        }
        for (; k < end; k += V::kWidth) {
            const int64_t left = end - k;
            for (int r = 0; r < R; ++r) {
                const int64_t at = first + r * cols_ + k;
                const F w = left >= V::kWidth ? load(at) : loadPart(at, left);
                for (int t = 0; t < T; ++t) {
                    acc[r][t][0] = V::fma(w, V::load(x + t * x_stride + k), acc[r][t][0]);
                }
            }
        }
        for (int r = 0; r < R; ++r) {
            for (int t = 0; t < T; ++t) {
                sums[r][t] = acc[r][t][0];
                for (int c = 1; c < kChains; ++c) {
                    sums[r][t] = V::add(sums[r][t], acc[r][t][c]);
                }
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
    /// Asks for the rows that come next; pieces of rows are too short for the processor's own
    /// prediction. A prefetch behind the last row does no harm.
    KERNELS_INLINE void prefetch(int64_t index) const {
        constexpr int64_t kSize = kFormat == WeightFormat::F32       ? 4
                                  : kFormat == WeightFormat::Int8Row ? 1
                                                                     : 2;
        _mm_prefetch(static_cast<const char*>(data_) + index * kSize, _MM_HINT_T0);
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

    [[nodiscard]] int64_t cols() const { return weight_.cols; }

    static void convert(const float* x, int64_t cols, float* out) {
        NaturalDot<V, WeightFormat::F32>::convert(x, cols, out);
    }

    static constexpr int kTogether(int /*tokens*/) { return 1; }
    static constexpr bool hasPieces(int tokens) { return tokens >= 3; }

    template <int R, int T>
    KERNELS_INLINE void rows(int64_t row,
                             int64_t k,
                             int64_t end,
                             const float* x,
                             int64_t x_stride,
                             F (&sums)[R][T]) const {
        static_assert(R == 1);
        Expand<V>::row(weight_, codes_.value, row, k, end - k, buffer_);
        WeightView expanded;
        expanded.data = buffer_;
        expanded.cols = end - k;
        NaturalDot<V, WeightFormat::F32> dense;
        dense.open(expanded);
        dense.template rows<R, T>(0, 0, end - k, x + k, x_stride, sums);
    }

private:
    WeightView weight_;
    CodeValues codes_{};
    float* buffer_ = nullptr;
};

} // namespace kernels::cpu
