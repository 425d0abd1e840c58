// SPDX-License-Identifier: Apache-2.0
// Attention with a running maximum (Milakov and Gimelshein 2018; Dao et al. 2022): scores exist
// only for one block of query rows and one block of keys. The query heads that read one kv head
// are rows of the same block, so keys are packed once for all of them. With few rows and many keys
// (decode) nothing is packed (few_rows.h), the keys are split into ranges and the partial results
// merged in the order of the ranges. The cut depends on the shape only: any number of threads gives
// the same bits.
//
// P is a tile product policy (matmul_fp32.h): with the bf16 policy q, k, probabilities and v are
// rounded to bf16, sums and the softmax are fp32. Of rows with scales (kernels/kv_rows.h) codes are
// multiplied, and the scales are factors of scores and probabilities.
#pragma once

#include "kernels/cpu/kv_rows.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/shape_checks.h"
#include "kernels/cpu/simd/gemm.h"
#include "kernels/cpu/simd/math.h"
#include "kernels/cpu/simd/visible_keys.h"
#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <cmath>

namespace kernels::cpu {

template <class P>
class FlashAttention {
public:
    using V = typename P::V;
    using F = typename V::F;
    using X = typename P::X;

    static Status run(Queue q, const AttentionArgs& args) {
        const Status status = checkAttention(args);
        if (status != Status::Ok || args.queries == 0) {
            return status;
        }
        const FlashAttention task(args);
        return task.runAll(poolOf(q));
    }

private:
    static constexpr float kMasked = -1e30F; ///< Below every real score.
    static constexpr int64_t kMaxRanges = 32;
    static constexpr int64_t kKeysPerRange = 256;
    /// One decoded token: some microseconds' work for threads that have nothing else to do.
    static constexpr int64_t kFewRowsKeysPerRange = 64;

    static constexpr int64_t roundUp(int64_t n, int64_t unit) {
        return (n + unit - 1) / unit * unit;
    }

    explicit FlashAttention(const AttentionArgs& args)
        : args_(args), group_(args.num_heads / args.num_kv_heads),
          row_codes_(kvRowBytes(args.kv_type, args.num_kv_heads, args.head_dim) /
                     kvCodeBytes(args.kv_type)),
          depth_padded_(roundUp(args.head_dim, P::kPair)),
          out_stride_(roundUp(args.head_dim, P::kCols)) {
        const bool is_narrow = args.head_dim <= 128;
        block_rows_ = P::kRows * (is_narrow ? 20 : 8);
        block_keys_ = is_narrow ? 256 : 128;
        rows_ = args.queries * group_;
        block_rows_ = rows_ < block_rows_ ? rows_ : block_rows_;
        row_blocks_ = (rows_ + block_rows_ - 1) / block_rows_;
        const int64_t tasks = row_blocks_ * args.num_kv_heads;
        has_few_rows_ = P::FewRows::serves(args.kv_type, rows_, args.head_dim);
        ranges_ = 1;
        const int64_t keys_per_range = has_few_rows_ ? kFewRowsKeysPerRange : kKeysPerRange;
        if (tasks < kMaxRanges / 2 && args.keys >= 2 * keys_per_range) {
            const int64_t most = args.keys / keys_per_range;
            const int64_t aim = kMaxRanges / tasks;
            ranges_ = most < aim ? most : aim;
        }
        block_keys_ = std::min(block_keys_, keys_per_range);
        range_keys_ = roundUp((args.keys + ranges_ - 1) / ranges_, block_keys_);
        ranges_ = args.keys > 0 ? (args.keys + range_keys_ - 1) / range_keys_ : 1;
    }

    /// Memory of one task, all parts 64-byte aligned.
    struct Workspace {
        X* queries = nullptr;     ///< [block_rows, depth + one line]
        X* keys = nullptr;        ///< packed [block_keys / kCols][depth][kCols] lanes
        X* values = nullptr;      ///< packed [out_stride / kCols][block_keys / kPair][kCols] lanes
        X* probs = nullptr;       ///< [block_rows, block_keys + one line]
        X* rows = nullptr;        ///< converted key or value rows [block_keys, depth_padded]
        float* scales = nullptr;  ///< [2, block_keys]: of keys, of values
        float* scores = nullptr;  ///< [block_rows, block_keys]
        float* out = nullptr;     ///< [block_rows, out_stride]
        float* largest = nullptr; ///< [block_rows]
        float* sum = nullptr;     ///< [block_rows]
    };

    [[nodiscard]] int64_t lineOf() const { return 64 / static_cast<int64_t>(sizeof(X)); }
    [[nodiscard]] int64_t queryStride() const {
        return roundUp(depth_padded_, lineOf()) + lineOf();
    }
    [[nodiscard]] int64_t probStride() const { return block_keys_ + lineOf(); }

    bool openWorkspace(Workspace& ws) const {
        const auto x_size = static_cast<int64_t>(sizeof(X));
        const int64_t sizes[] = {block_rows_ * queryStride() * x_size,
                                 block_keys_ * depth_padded_ * x_size,
                                 block_keys_ * out_stride_ * x_size,
                                 block_rows_ * probStride() * x_size,
                                 block_keys_ * depth_padded_ * x_size,
                                 2 * block_keys_ * 4,
                                 block_rows_ * block_keys_ * 4,
                                 block_rows_ * out_stride_ * 4,
                                 block_rows_ * 4,
                                 block_rows_ * 4};
        int64_t total = 0;
        for (const int64_t size : sizes) {
            total += roundUp(size, 64);
        }
        auto* base = threadScratchOf<char>(ScratchSlot::Attention, static_cast<size_t>(total));
        if (base == nullptr) {
            return false;
        }
        char* parts[10];
        for (int i = 0; i < 10; ++i) {
            parts[i] = base;
            base += roundUp(sizes[i], 64);
        }
        ws.queries = reinterpret_cast<X*>(parts[0]);
        ws.keys = reinterpret_cast<X*>(parts[1]);
        ws.values = reinterpret_cast<X*>(parts[2]);
        ws.probs = reinterpret_cast<X*>(parts[3]);
        ws.rows = reinterpret_cast<X*>(parts[4]);
        ws.scales = reinterpret_cast<float*>(parts[5]);
        ws.scores = reinterpret_cast<float*>(parts[6]);
        ws.out = reinterpret_cast<float*>(parts[7]);
        ws.largest = reinterpret_cast<float*>(parts[8]);
        ws.sum = reinterpret_cast<float*>(parts[9]);
        return true;
    }

    [[nodiscard]] Status runAll(ThreadPool* pool) const {
        const int64_t tasks = row_blocks_ * args_.num_kv_heads;
        // Per range and task: out [block_rows, out_stride], largest, sum.
        const int64_t partial = block_rows_ * (out_stride_ + 2);
        float* partials = nullptr;
        if (ranges_ > 1) {
            partials = threadScratchOf<float>(ScratchSlot::Partials,
                                              static_cast<size_t>(tasks * ranges_ * partial));
            if (partials == nullptr) {
                return Status::OutOfMemory;
            }
        }
        std::atomic<bool> is_failed{false};
        parallelFor(pool, tasks * ranges_, 1, [&](int64_t begin, int64_t end) {
            Workspace ws;
            if (!openWorkspace(ws)) {
                is_failed.store(true, std::memory_order_relaxed);
                return;
            }
            for (int64_t i = begin; i < end; ++i) {
                const int64_t task = i / ranges_;
                const int64_t range = i % ranges_;
                const int64_t kv_head = task / row_blocks_;
                const int64_t first_row = task % row_blocks_ * block_rows_;
                const int64_t count = rowsFrom(first_row);
                if (partials != nullptr) { // results go straight into the partial's memory
                    ws.out = partials + i * partial;
                    ws.largest = ws.out + block_rows_ * out_stride_;
                    ws.sum = ws.largest + block_rows_;
                }
                attend(ws, kv_head, first_row, count, range * range_keys_);
                if (partials == nullptr) {
                    for (int64_t r = 0; r < count; ++r) {
                        writeRow(kv_head, first_row + r, ws.out + r * out_stride_,
                                 ws.sum[r] > 0.0F ? 1.0F / ws.sum[r] : 0.0F);
                    }
                }
            }
        });
        if (is_failed.load()) {
            return Status::OutOfMemory;
        }
        if (partials != nullptr) {
            parallelFor(pool, tasks * block_rows_, 1, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    mergeRow(partials, partial, i / block_rows_, i % block_rows_);
                }
            });
        }
        return Status::Ok;
    }

    [[nodiscard]] int64_t rowsFrom(int64_t first_row) const {
        const int64_t left = rows_ - first_row;
        return left < block_rows_ ? left : block_rows_;
    }

    /// Row r of a kv head is query r / group, head kv_head * group + r % group.
    [[nodiscard]] int64_t offsetOf(int64_t kv_head, int64_t row) const {
        return (row / group_ * args_.num_heads + kv_head * group_ + row % group_) * args_.head_dim;
    }

    void writeRow(int64_t kv_head, int64_t row, const float* values, float factor) const {
        float* out = args_.out + offsetOf(kv_head, row);
        const F f = V::set1(factor);
        Lanes<V>::each(args_.head_dim, [&](int64_t d, int64_t n) {
            Lanes<V>::save(out + d, n, V::mul(V::load(values + d), f));
        });
    }

    /// Joins the ranges of one row, first to last.
    void mergeRow(float* partials, int64_t partial, int64_t task, int64_t r) const {
        const int64_t first_row = task % row_blocks_ * block_rows_;
        if (first_row + r >= rows_) {
            return;
        }
        float largest = kMasked;
        for (int64_t range = 0; range < ranges_; ++range) {
            const float* part = partials + (task * ranges_ + range) * partial;
            const float candidate = part[block_rows_ * out_stride_ + r];
            largest = candidate > largest ? candidate : largest;
        }
        float total = 0.0F;
        float* result = partials + task * ranges_ * partial + r * out_stride_;
        for (int64_t range = 0; range < ranges_; ++range) {
            const float* part = partials + (task * ranges_ + range) * partial;
            const float* stats = part + block_rows_ * out_stride_;
            const float weight = weightOf(stats[r] - largest);
            total += weight * stats[block_rows_ + r];
            const float* values = part + r * out_stride_;
            const F f = V::set1(weight);
            for (int64_t d = 0; d < out_stride_; d += V::kWidth) {
                const F scaled = V::mul(V::load(values + d), f);
                V::store(result + d, range == 0 ? scaled : V::add(V::load(result + d), scaled));
            }
        }
        writeRow(task / row_blocks_, first_row + r, result, total > 0.0F ? 1.0F / total : 0.0F);
    }

    static float weightOf(float difference) {
        float lanes[V::kWidth];
        V::store(lanes, Math<V>::exp2(V::set1(difference)));
        return lanes[0];
    }

    /// One block of rows against keys [first_key, first_key + range_keys_).
    void attend(
        Workspace& ws, int64_t kv_head, int64_t first_row, int64_t count, int64_t first_key) const {
        for (int64_t r = 0; r < count; ++r) {
            // Scores in units of log 2, so that exp2 serves as the exponential.
            P::narrow(args_.q + offsetOf(kv_head, first_row + r), args_.scale * Math<V>::kLog2E,
                      args_.head_dim, depth_padded_, ws.queries + r * queryStride());
            ws.largest[r] = kMasked;
            ws.sum[r] = 0.0F;
        }
        for (int64_t i = 0; i < count * out_stride_; i += V::kWidth) {
            V::store(ws.out + i, V::zero());
        }
        const VisibleKeys<V> visible(args_.mask, first_row / group_,
                                     (first_row + count - 1) / group_ + 1);
        const int64_t range_end = first_key + range_keys_;
        const int64_t last_key = range_end < args_.keys ? range_end : args_.keys;
        for (int64_t key = first_key; key < last_key; key += block_keys_) {
            const int64_t keys = last_key - key < block_keys_ ? last_key - key : block_keys_;
            const Visibility state = visible.ofBlock(key, keys);
            if (state != Visibility::None) {
                attendBlock(ws, kv_head, first_row, count, key, keys, state, visible);
            }
        }
    }

    void attendBlock(Workspace& ws,
                     int64_t kv_head,
                     int64_t first_row,
                     int64_t count,
                     int64_t key,
                     int64_t keys,
                     Visibility state,
                     const VisibleKeys<V>& visible) const {
        FewRowsArgs<X> few;
        few.rows = count;
        few.keys = keys;
        few.dim = args_.head_dim;
        few.first = key * row_codes_ + kv_head * args_.head_dim;
        few.step = row_codes_;
        if (has_few_rows_) {
            few.a = ws.queries;
            few.a_stride = queryStride();
            few.data = args_.k;
            few.next = args_.v;
            few.c = ws.scores;
            few.c_stride = block_keys_;
            P::FewRows::scores(args_.kv_type, few);
        } else {
            tileScores(ws, kv_head, count, key, keys);
        }
        const bool is_scaled = hasScales(args_.kv_type);
        if (is_scaled) {
            takeScales(ws, kv_head, key, keys);
        }
        for (int64_t r = 0; r < count; ++r) {
            for (int64_t k = 0; is_scaled && k < keys; ++k) {
                ws.scores[r * block_keys_ + k] *= ws.scales[k];
            }
            if (state == Visibility::Some) {
                visible.mask((first_row + r) / group_, key, keys, kMasked,
                             ws.scores + r * block_keys_);
            }
            softmaxRow(ws, r, keys);
        }
        if (has_few_rows_) {
            few.a = ws.probs;
            few.a_stride = probStride();
            few.data = args_.v;
            few.c = ws.out;
            few.c_stride = out_stride_;
            P::FewRows::values(args_.kv_type, few);
        } else {
            tileValues(ws, kv_head, count, key, keys);
        }
    }

    void takeScales(Workspace& ws, int64_t kv_head, int64_t key, int64_t keys) const {
        for (const bool is_key : {true, false}) {
            gatherKvScales(is_key ? args_.k : args_.v, args_.kv_type, args_.num_kv_heads,
                           args_.head_dim, kv_head, key, keys,
                           ws.scales + (is_key ? 0 : block_keys_));
        }
    }

    void
    tileScores(Workspace& ws, int64_t kv_head, int64_t count, int64_t key, int64_t keys) const {
        packKeys(ws, kv_head, key, keys);
        TileArgs<X> score;
        score.a = ws.queries;
        score.a_stride = queryStride();
        score.depth = depth_padded_ / P::kPair;
        score.c_stride = block_keys_;
        score.cols = P::kCols;
        for (int64_t c = 0; c < keys; c += P::kCols) {
            score.b = ws.keys + c * depth_padded_;
            score.c = ws.scores + c;
            multiplyTiles<P>(score, count);
        }
    }

    void
    tileValues(Workspace& ws, int64_t kv_head, int64_t count, int64_t key, int64_t keys) const {
        packValues(ws, kv_head, key, keys);
        TileArgs<X> value;
        value.a = ws.probs;
        value.a_stride = probStride();
        value.depth = (keys + P::kPair - 1) / P::kPair;
        value.c_stride = out_stride_;
        value.cols = P::kCols;
        value.is_added = true;
        for (int64_t c = 0; c < out_stride_; c += P::kCols) {
            value.b = ws.values + c * block_keys_;
            value.c = ws.out + c;
            multiplyTiles<P>(value, count);
        }
    }

    static bool hasNan(const float* scores, int64_t keys) {
        return std::any_of(scores, scores + keys, [](float score) { return std::isnan(score); });
    }

    /// Scores of one row to probabilities relative to the row's running maximum. NaN among them is
    /// in the sum, and with it in every value of the row.
    void softmaxRow(Workspace& ws, int64_t r, int64_t keys) const {
        float* scores = ws.scores + r * block_keys_;
        X* probs = ws.probs + r * probStride();
        const int64_t padded = roundUp(keys, V::kWidth);
        for (int64_t k = keys; k < padded; ++k) {
            scores[k] = kMasked;
        }
        F most = V::set1(ws.largest[r]);
        for (int64_t k = 0; k < padded; k += V::kWidth) {
            most = V::max(V::load(scores + k), most); // of NaN and a number the second: no NaN
        }
        const float largest = V::maxOf(most);
        if (largest <= kMasked && !hasNan(scores, keys)) { // nothing visible so far
            for (int64_t k = 0; k < roundUp(keys, P::kPair); ++k) {
                probs[k] = X{0};
            }
            return;
        }
        const float former = ws.largest[r];
        if (former < largest) {
            const float decay = former <= kMasked ? 0.0F : weightOf(former - largest);
            ws.largest[r] = largest;
            ws.sum[r] *= decay;
            float* out = ws.out + r * out_stride_;
            const F f = V::set1(decay);
            for (int64_t d = 0; d < out_stride_; d += V::kWidth) {
                V::store(out + d, V::mul(V::load(out + d), f));
            }
        }
        const F top = V::set1(largest);
        F sum = V::zero();
        for (int64_t k = 0; k < padded; k += V::kWidth) {
            const F p = Math<V>::exp2(V::sub(V::load(scores + k), top));
            V::store(scores + k, p);
            sum = V::add(sum, p);
        }
        ws.sum[r] += V::sum(sum);
        if (hasScales(args_.kv_type)) {
            const float* const scales = ws.scales + block_keys_;
            for (int64_t k = 0; k < keys; ++k) { // a hidden row may have any scale
                scores[k] = scores[k] == 0.0F ? 0.0F : scores[k] * scales[k];
            }
        }
        P::narrow(scores, 1.0F, padded, padded, probs);
    }

    /// Pointer to `row` of K or V of a kv head as X, converted into `buffer` when stored otherwise.
    const X* rowOf(const void* data, int64_t kv_head, int64_t row, X* buffer) const {
        const int64_t first = row * row_codes_ + kv_head * args_.head_dim;
        if (!hasScales(args_.kv_type) && P::isNative(kvElement(args_.kv_type)) &&
            args_.head_dim % P::kPair == 0) {
            return static_cast<const X*>(data) + first;
        }
        P::narrowKeys(data, args_.kv_type, first, args_.head_dim, buffer);
        for (int64_t d = args_.head_dim; d < depth_padded_; ++d) {
            buffer[d] = X{0};
        }
        return buffer;
    }

    void packKeys(Workspace& ws, int64_t kv_head, int64_t key, int64_t keys) const {
        for (int64_t c = 0; c < keys; c += P::kCols) {
            const X* rows[P::kCols] = {};
            for (int64_t i = 0; i < P::kCols && c + i < keys; ++i) {
                rows[i] = rowOf(args_.k, kv_head, key + c + i, ws.rows + (c + i) * depth_padded_);
            }
            packColumns<P>(rows, depth_padded_ / P::kPair, ws.keys + c * depth_padded_);
        }
    }

    void packValues(Workspace& ws, int64_t kv_head, int64_t key, int64_t keys) const {
        for (int64_t i = 0; i < keys; i += P::kPair) {
            const X* row = rowOf(args_.v, kv_head, key + i, ws.rows);
            const X* next = P::kPair == 2 && i + 1 < keys
                                ? rowOf(args_.v, kv_head, key + i + 1, ws.rows + depth_padded_)
                                : nullptr;
            for (int64_t c = 0; c < out_stride_; c += P::kCols) {
                const int64_t cols = args_.head_dim - c < P::kCols ? args_.head_dim - c : P::kCols;
                P::packDepthRow(row + c, next == nullptr ? nullptr : next + c, cols,
                                ws.values + c * block_keys_ + i * P::kCols);
            }
        }
    }

    const AttentionArgs& args_;
    int64_t group_;        ///< Query heads per kv head.
    int64_t row_codes_;    ///< Codes from one row of keys or values to the next.
    int64_t depth_padded_; ///< head_dim, full lanes.
    int64_t out_stride_;   ///< head_dim, full tiles.
    int64_t rows_ = 0;     ///< queries * group.
    int64_t block_rows_ = 0;
    int64_t block_keys_ = 0;
    int64_t row_blocks_ = 0;
    bool has_few_rows_ = false; ///< Products as in few_rows.h instead of packed tiles.
    int64_t ranges_ = 1;        ///< Key ranges that are computed apart and merged.
    int64_t range_keys_ = 0;
};

} // namespace kernels::cpu
