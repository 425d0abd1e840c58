// SPDX-License-Identifier: Apache-2.0
// Linear products for few tokens (decode, short prompts): every weight row is read once, in
// memory order, and multiplied with up to 8 tokens at a time. The sums of kWidth rows are kept as
// vectors and added up by one transpose. What differs by storage format is a policy class:
//
//   V           vector layer
//   X           element type of the converted activations
//   kStep       the converted row is padded with zeros to a multiple of this
//   convert()   one activation row, fp32 -> X in the order the policy wants
//   open()      for a weight. False when there is no memory; two weights in use at a time need two
//               scratch slots
//   kTogether(T) rows that are multiplied at once, so that an activation is loaded once for them
//   rows<R, T>() sums[r][t] = vector whose lanes add up to <row + r, x_t> over columns [k, end)
//   hasPieces(T) wide rows are taken in pieces of columns, so that the activations of a piece stay
//                in the first cache while 16 rows pass. Costs memory bandwidth.
//
//   kMostTokens  optional: tokens multiplied at once, kDotTokens where it is missing
//   strideOf(cols)  optional: elements of a converted row, where it holds more than columns
//
// The order of additions depends on the shape only, never on threads.
#pragma once

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/simd/lanes.h"
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

/// What rows() multiplies: columns [k, end) of rows from `row` on, with converted tokens from x on.
template <typename X>
struct DotRows {
    int64_t row = 0;
    int64_t k = 0;
    int64_t end = 0;
    const X* x = nullptr;
    int64_t x_stride = 0;
};

/// The plainest policy, for others to begin with.
class DotPolicy {
public:
    KERNELS_INLINE bool open(const WeightView& w, ScratchSlot /*slot*/ = ScratchSlot::Scales) {
        weight_ = w;
        return true;
    }
    [[nodiscard]] KERNELS_INLINE int64_t cols() const { return weight_.cols; }
    static KERNELS_INLINE constexpr int kTogether(int /*tokens*/) { return 1; }
    static KERNELS_INLINE constexpr bool hasPieces(int /*tokens*/) { return false; }

protected:
    [[nodiscard]] KERNELS_INLINE const uint8_t*
    codesOf(int64_t row) const { ///< The weights must have 4-bit codes.
        return static_cast<const uint8_t*>(weight_.data) + row * (weight_.cols / 2);
    }

    WeightView weight_;
};

template <class Policy>
struct DotProduct {
    using V = typename Policy::V;
    using F = typename V::F;
    using X = typename Policy::X;
    static constexpr int64_t kWidth = V::kWidth;

    /// `count` <= kWidth rows from `row` on, and a few tokens.
    struct Group {
        int64_t row = 0;
        int64_t count = 0;
        const X* x = nullptr;
        int64_t x_stride = 0;
        const Epilogue& epilogue;
        float* y = nullptr;
        int64_t y_stride = 0;
    };
    using GroupFn = void (*)(const Policy& policy, const Group& group);

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

    /// Columns [k, end) of row `r` of the group and R - 1 more.
    template <int R, int T>
    static KERNELS_INLINE void addSums(const Policy& policy,
                                       const Group& group,
                                       int64_t r,
                                       int64_t k,
                                       int64_t end,
                                       F (&sums)[T][kWidth]) {
        F row_sums[R][T];
        policy.rows({group.row + r, k, end, group.x, group.x_stride}, row_sums);
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

    template <int T>
    static void rowGroup(const Policy& policy, const Group& group) {
        constexpr int kTogether = Policy::kTogether(T);
        F sums[T][kWidth];
        // Where nothing is added later, only slots that no row writes.
        for (int t = 0; t < T; ++t) {
            for (int64_t r = Policy::hasPieces(T) ? 0 : group.count; r < kWidth; ++r) {
                sums[t][V::slotOfRow(r)] = V::zero();
            }
        }
        const int64_t cols = policy.cols();
        if constexpr (requires { Policy::kWideColumns; }) {
            constexpr int kWide = Policy::kTogetherWide(T);
            if (kWide != kTogether && cols > Policy::kWideColumns && group.count == kWidth) {
                for (int64_t r = 0; r < kWidth; r += kWide) {
                    addSums<kWide, T>(policy, group, r, 0, cols, sums);
                }
                return store<T>(sums, group);
            }
        }
        const int64_t piece = pieceOf(cols, T);
        for (int64_t k = 0; k < cols; k += piece) {
            const int64_t end = cols - k < piece ? cols : k + piece;
            int64_t r = 0;
            for (; r + kTogether <= group.count; r += kTogether) {
                addSums<kTogether, T>(policy, group, r, k, end, sums);
            }
            for (; r < group.count; ++r) {
                addSums<1, T>(policy, group, r, k, end, sums);
            }
        }
        store<T>(sums, group);
    }

    /// Adds the lanes up and writes one output row piece per token.
    template <int T>
    static KERNELS_INLINE void store(const F (&sums)[T][kWidth], const Group& group) {
        const int64_t count = group.count;
        const Epilogue& epilogue = group.epilogue;
        F factor = V::set1(epilogue.factor);
        if (epilogue.row_factor != nullptr) {
            factor = V::mul(factor, Lanes<V>::load(epilogue.row_factor + group.row, count));
        }
        for (int t = 0; t < T; ++t) {
            F result = V::mul(V::transposeSum(sums[t]), factor);
            float* out = group.y + t * group.y_stride + group.row;
            if (epilogue.is_added) {
                result = V::add(result, Lanes<V>::load(out, count));
            }
            Lanes<V>::save(out, count, result);
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
                kGroups[static_cast<size_t>(tokens - 1)](policy, {row, count, x + t * x_stride,
                                                                  x_stride, epilogue,
                                                                  y.data + t * y.stride, y.stride});
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

} // namespace kernels::cpu
