// SPDX-License-Identifier: Apache-2.0
// Fused steps of one decoded token. Between two products of a layer there are norms of one row, the
// conversion of the activations and hand-overs between threads: microseconds in which no weight is
// read, some hundred times a token. Here every thread prepares the whole input for itself, which
// costs less than handing it over, and then goes through its own stretch of the rows of all weights
// of the step. The values are those of the single functions, to the bit.
#pragma once

#include "kernels/cpu/simd/attention.h"
#include "kernels/cpu/simd/elementwise.h"
#include "kernels/cpu/simd/linear.h"
#include "kernels/cpu/simd/norm_rope.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>

namespace kernels::cpu {

template <class Kit>
struct DecodeSteps {
    using V = typename Kit::V;
    using F = typename V::F;
    static constexpr int64_t kWidth = V::kWidth;

    /// Adapters go through the single functions.
    static bool takesProjection(Queue /*q*/, const ProjectArgs& args) {
        return args.lora_count == 0 && args.tap_count == 0 &&
               std::all_of(args.w, args.w + args.count,
                           [&](const WeightView& w) { return hasSamePolicy(args.w[0], w); });
    }

    static Status project(Queue q, const ProjectArgs& args) {
        if (!isComplete(args)) {
            return Status::BadShape;
        }
        if (!takesProjection(q, args)) {
            return Status::Unsupported;
        }
        return Linear<Kit>::withDot(args.w[0], 1, [&](auto tag, int64_t row_bytes) {
            return run(tag, poolOf(q), args, row_bytes);
        });
    }

    static Status attendStep(Queue q, const AttendStepArgs& args) {
        if (args.q == nullptr || args.position == nullptr || args.slot == nullptr ||
            args.key_count == nullptr || args.cache_k == nullptr || args.cache_v == nullptr ||
            args.out == nullptr || args.num_heads <= 0 || args.num_kv_heads <= 0 ||
            args.head_dim <= 0) {
            return Status::BadShape;
        }
        const int64_t q_size = args.num_heads * args.head_dim;
        const int64_t kv_size = args.num_kv_heads * args.head_dim;
        auto* const heads =
            threadScratchOf<float>(ScratchSlot::Input, static_cast<size_t>(q_size + 2 * kv_size));
        if (heads == nullptr) {
            return Status::OutOfMemory;
        }
        // One row: not worth a second thread.
        const auto normed = [&](const float* from, bool has_norm, const MatView& norm, int64_t size,
                                float* to) {
            if (!has_norm) {
                std::memcpy(to, from, static_cast<size_t>(size) * sizeof(float));
                return Status::Ok;
            }
            return NormRope<V>::rmsNorm(
                {}, {from, size / args.head_dim, args.head_dim, args.head_dim}, norm, args.eps,
                {to, size / args.head_dim, args.head_dim, args.head_dim});
        };
        const auto turned = [&](const float* from, const MatView& norm, int64_t size, float* to) {
            const Status status = normed(from, norm.data != nullptr, norm, size, to);
            return status != Status::Ok
                       ? status
                       : NormRope<V>::rope({}, {to, 1, size, size}, args.head_dim, 0, args.head_dim,
                                           args.position, args.inv_freq);
        };
        Status status = turned(args.q, args.q_norm, q_size, heads);
        if (status == Status::Ok && args.k != nullptr) {
            float* const k = heads + q_size;
            float* const v = k + kv_size;
            status = turned(args.k, args.k_norm, kv_size, k);
            if (status == Status::Ok) {
                status = normed(args.v, args.norms_values, {}, kv_size, v);
            }
            const auto store = [&](const float* row, void* cache) {
                return Elementwise<V>::storeRows({}, {row, 1, kv_size, kv_size}, args.slot,
                                                 args.kv_type, args.num_kv_heads, cache,
                                                 args.capacity);
            };
            status = status == Status::Ok ? store(k, args.cache_k) : status;
            status = status == Status::Ok ? store(v, args.cache_v) : status;
        }
        if (status != Status::Ok) {
            return status;
        }
        AttentionArgs attention;
        attention.q = heads;
        attention.k = args.cache_k;
        attention.v = args.cache_v;
        attention.kv_type = args.kv_type;
        attention.queries = 1;
        attention.keys = *args.key_count;
        attention.num_heads = args.num_heads;
        attention.num_kv_heads = args.num_kv_heads;
        attention.head_dim = args.head_dim;
        attention.scale = args.scale;
        attention.mask.query_position = args.position;
        attention.mask.key_position = args.key_position;
        attention.mask.window = args.window;
        attention.out = args.out;
        return FlashAttention<typename Kit::Matmul>::run(q, attention);
    }

    static Status argmax(
        Queue q, const float* logits, int64_t count, const uint32_t* suppressed, uint64_t* best) {
        if (logits == nullptr || best == nullptr || count <= 0) {
            return Status::BadShape;
        }
        std::atomic<uint64_t> most{0};
        parallelFor(poolOf(q), count, kLogitsPerChunk, [&](int64_t begin, int64_t end) {
            uint64_t known = most.load(std::memory_order_relaxed);
            const uint64_t mine =
                bestOf(logits, begin, end, suppressed, static_cast<uint32_t>(known >> 32U));
            while (known < mine && !most.compare_exchange_weak(known, mine)) {
            }
        });
        *best = most.load();
        return Status::Ok;
    }

private:
    static constexpr int64_t kLogitsPerChunk = 16384;
    static constexpr int64_t kScreened = 256; ///< Logits that are looked at together.
    static constexpr int64_t kLineBytes = 64;
    static constexpr int64_t kFirstBytes = 8192; ///< As far as the products ask ahead.

    static bool hasResidual(const ProjectArgs& args) {
        using Input = ProjectArgs::Input;
        return args.input == Input::ResidualNorm || args.input == Input::Residual;
    }

    static bool isComplete(const ProjectArgs& args) {
        using Output = ProjectArgs::Output;
        if (args.x == nullptr || args.count < 1 || args.count > 3 ||
            (hasResidual(args) && (args.t == nullptr || args.x_out == nullptr)) ||
            (args.output == Output::GatedPair &&
             (args.count != 2 || args.w[0].rows != args.w[1].rows)) ||
            (args.output == Output::GatedMultiply &&
             (args.count != 1 || args.multiply == nullptr))) {
            return false;
        }
        for (int i = 0; i < args.count; ++i) {
            const bool is_stored = args.output != Output::GatedPair || i == 0;
            if (!isWeight(args.w[i]) || args.w[i].cols != args.w[0].cols ||
                (is_stored && args.y[i] == nullptr)) {
                return false;
            }
        }
        return true;
    }

    static bool hasSamePolicy(const WeightView& a, const WeightView& b) {
        return a.format == b.format &&
               (!hasCodes(a) || (BlockScales<V>::canServe(a) == BlockScales<V>::canServe(b) &&
                                 SmallBlockDot<V>::canServe(a) == SmallBlockDot<V>::canServe(b)));
    }

    /// The row that the weights multiply, made in `room` [2 * in], which begins with the residual
    /// stream where the step has one.
    static const float* prepare(const ProjectArgs& args, float* room) {
        using Input = ProjectArgs::Input;
        const int64_t in = args.w[0].cols;
        const auto bytes = static_cast<size_t>(in) * sizeof(float);
        const float* source = args.x;
        if (hasResidual(args)) {
            const MutF32 sum{room, 1, in, in};
            std::memcpy(room, args.x, bytes);
            const MatF32 t{args.t, 1, in, in};
            if (args.t_norm.data != nullptr) {
                NormRope<V>::rmsNormAdd({}, t, args.t_norm, args.eps, 1.0F, sum);
            } else {
                Elementwise<V>::addScaled({}, t, 1.0F, sum);
            }
            Elementwise<V>::scale({}, sum, args.scalar);
            source = room;
        }
        if (args.input == Input::Norm || args.input == Input::ResidualNorm) {
            NormRope<V>::rmsNorm({}, {source, 1, in, in}, args.norm, args.eps,
                                 {room + in, 1, in, in});
            source = room + in;
        }
        return source;
    }

    /// One thread's part of a step: what it has prepared and opened.
    template <class Policy>
    struct Part {
        using Dot = DotProduct<Policy>;
        const ProjectArgs& args;
        const typename Policy::X* x = nullptr;
        int64_t x_stride = 0;
        float* second = nullptr; ///< [rows], products of a pair's second weight.
        Policy policy[2]{};
        int opened = -1; ///< Weight that policy[0] is open for.

        bool open(int which, int64_t slot) {
            return policy[slot].open(args.w[which],
                                     slot == 0 ? ScratchSlot::Scales : ScratchSlot::PairScales);
        }

        /// Asks for what this thread reads first, so that it arrives while the input is prepared;
        /// the products ask for what follows. `at`: among the rows of all weights.
        void askForFirst(int64_t at, const int64_t (&first)[4], int64_t row_bytes) const {
            const bool is_pair = args.output == ProjectArgs::Output::GatedPair;
            int which = 0;
            while (which + 1 < args.count && !is_pair && at >= first[which + 1]) {
                ++which;
            }
            const int64_t row = at - first[which];
            ask(args.w[which], row, row_bytes);
            if (is_pair) {
                ask(args.w[1], row, row_bytes);
            }
        }

        static void ask(const WeightView& w, int64_t row, int64_t row_bytes) {
            const auto lines = [](const void* data, int64_t from, int64_t bytes) {
                const auto* at = static_cast<const char*>(data) + from;
                for (int64_t i = 0; i < bytes; i += kLineBytes) {
                    _mm_prefetch(at + i, _MM_HINT_T1);
                }
            };
            if (row >= w.rows) {
                return;
            }
            const int64_t bytes = std::min(kFirstBytes, (w.rows - row) * row_bytes);
            lines(w.data, row * row_bytes, bytes);
            if (!hasCodes(w)) {
                return;
            }
            const int64_t block = row * w.cols / w.block_size;
            const int64_t blocks = 2 * bytes / w.block_size;
            if (w.absmax != nullptr) {
                lines(w.absmax, 4 * block, 4 * blocks);
            } else {
                lines(w.absmax_q, block, blocks);
            }
        }

        void products(int which, int64_t slot, int64_t begin, int64_t end, float* y) {
            const WeightView& w = args.w[which];
            Epilogue epilogue;
            epilogue.row_factor = w.format == WeightFormat::Int8Row ? w.row_scale : nullptr;
            Dot::rows(policy[slot], begin, end, x, x_stride, epilogue, {y, 1, w.rows, w.rows});
        }

        /// Rows [begin, end) of weight `which`, with what stands behind them.
        bool rows(int which, int64_t begin, int64_t end) {
            using Output = ProjectArgs::Output;
            const bool is_pair = args.output == Output::GatedPair;
            if (opened != which) {
                if (!open(which, 0) || (is_pair && !open(1, 1))) {
                    return false;
                }
                opened = which;
            }
            products(which, 0, begin, end, args.y[which]);
            if (is_pair) {
                products(1, 1, begin, end, second);
            }
            if (args.output != Output::Store) {
                const float* factor = (is_pair ? second : args.multiply) + begin;
                float* const y = args.y[0] + begin;
                const int64_t n = end - begin;
                Elementwise<V>::gatedMul({}, args.activation, {y, 1, n, n}, {factor, 1, n, n},
                                         {y, 1, n, n});
            }
            return true;
        }
    };

    template <class Policy>
    static Status run(typename Linear<Kit>::template DotTag<Policy> /*tag*/,
                      ThreadPool* pool,
                      const ProjectArgs& args,
                      int64_t row_bytes) {
        using Dot = DotProduct<Policy>;
        const int64_t in = args.w[0].cols;
        const bool is_pair = args.output == ProjectArgs::Output::GatedPair;
        // Rows of all weights as one range; each weight begins at a multiple of the grain.
        int64_t all = 0;
        for (int i = 0; i < args.count; ++i) {
            all += args.w[i].rows;
        }
        const int64_t grain = Dot::grainOf(pool, all, row_bytes);
        int64_t first[4] = {0, 0, 0, 0};
        const int weights = is_pair ? 1 : args.count;
        for (int i = 0; i < weights; ++i) {
            first[i + 1] = first[i] + (args.w[i].rows + grain - 1) / grain * grain;
        }
        std::atomic<bool> is_failed{false};
        parallelShares(pool, first[weights], grain, [&](auto& next) {
            const auto fail = [&] { is_failed.store(true, std::memory_order_relaxed); };
            int64_t begin = 0;
            int64_t end = 0;
            if (!next(begin, end)) {
                return;
            }
            Part<Policy> part{args};
            part.x_stride = Dot::strideOf(in);
            auto* const room =
                threadScratchOf<float>(ScratchSlot::Input, static_cast<size_t>(2 * in));
            auto* const x = threadScratchOf<typename Policy::X>(ScratchSlot::Activations,
                                                                static_cast<size_t>(part.x_stride));
            part.second = is_pair ? threadScratchOf<float>(ScratchSlot::Products,
                                                           static_cast<size_t>(args.w[1].rows))
                                  : nullptr;
            if (room == nullptr || x == nullptr || (is_pair && part.second == nullptr)) {
                return fail();
            }
            part.askForFirst(begin, first, row_bytes);
            Policy::convert(prepare(args, room), in, x);
            part.x = x;
            do {
                if (begin == 0 && hasResidual(args)) {
                    std::memcpy(args.x_out, room, static_cast<size_t>(in) * sizeof(float));
                }
                int which = 0;
                while (begin >= first[which + 1]) {
                    ++which;
                }
                const int64_t from = begin - first[which];
                const int64_t to = std::min(end - first[which], args.w[which].rows);
                if (!part.rows(which, from, to)) {
                    return fail();
                }
            } while (next(begin, end));
        });
        return is_failed.load() ? Status::OutOfMemory : Status::Ok;
    }

    /// Sorts as the values do; what is no number comes last and stands out above all.
    static uint32_t orderOf(float value) {
        const auto bits = std::bit_cast<uint32_t>(value + 0.0F); // one zero
        const uint32_t order = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
        return (bits & 0x7fffffffU) > 0x7f800000U ? 0xffffffffU : order;
    }

    /// At least the largest of kScreened logits: what is no number counts as infinite.
    static float ceilingOf(const float* logits) {
        using I = typename V::I;
        const I magnitude = V::iset1(0x7fffffff);
        const I infinite = V::iset1(0x7f800000);
        const F above = V::set1(std::numeric_limits<float>::infinity());
        F top = V::set1(-std::numeric_limits<float>::infinity());
        for (int64_t i = 0; i < kScreened; i += kWidth) {
            const I bits = V::iload(reinterpret_cast<const int32_t*>(logits + i));
            top = V::max(top, V::select(V::igreater(V::iand(bits, magnitude), infinite), above,
                                        V::load(logits + i)));
        }
        return V::maxOf(top);
    }

    /// The best of [begin, end) in argmax()'s form, or 0 where all are below `floor`.
    static uint64_t bestOf(const float* logits,
                           int64_t begin,
                           int64_t end,
                           const uint32_t* suppressed,
                           uint32_t floor) {
        constexpr uint32_t kInfinite = 0xff800000U; // as orderOf() has it
        const auto isSuppressed = [&](int64_t i) {
            return suppressed != nullptr && (suppressed[i / 32] >> (i % 32) & 1U) != 0;
        };
        uint32_t most = 0;
        int64_t at = begin;
        for (int64_t i = begin; i < end;) {
            // Nearly all are below one that came before: a look at their largest is enough.
            const bool is_screened = i + kScreened <= end;
            const int64_t stop = is_screened ? i + kScreened : end;
            const uint32_t ceiling = is_screened ? orderOf(ceilingOf(logits + i)) : kInfinite;
            if (ceiling >= kInfinite || (ceiling > most && ceiling >= floor)) {
                for (int64_t j = i; j < stop; ++j) {
                    const uint32_t order = orderOf(logits[j]);
                    if (order > most && !isSuppressed(j)) {
                        most = order;
                        at = j;
                    }
                }
            }
            i = stop;
        }
        return most == 0 ? 0 : uint64_t{most} << 32U | (0xffffffffU - static_cast<uint32_t>(at));
    }
};

} // namespace kernels::cpu
