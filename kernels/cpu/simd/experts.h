// SPDX-License-Identifier: Apache-2.0
// Routed experts of a few rows as two jobs for all threads, gate and up of all chosen experts and
// then down of them. A product of one expert is a matter of ten microseconds, less than it takes to
// begin and end sixteen of them one by one. The rows of an expert's weights are one stretch of
// memory, which one or two threads read from end to end.
#pragma once

#include "kernels/cpu/simd/elementwise.h"
#include "kernels/cpu/simd/linear.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace kernels::cpu {

template <class Kit>
struct Experts {
    using V = typename Kit::V;

    static Status rows(Queue q, const ExpertRowsArgs& a) {
        const int64_t places = a.x.rows * a.top_k;
        if (!isComplete(a)) {
            return Status::BadShape;
        }
        if (places > kMostPlaces) {
            return Status::Unsupported;
        }
        const int64_t hidden = a.gate_up.cols;
        const int64_t inner = a.down.cols;
        auto* const room = threadScratchOf<float>(ScratchSlot::Experts,
                                                  static_cast<size_t>(places * (hidden + inner)));
        if (room == nullptr) {
            return Status::OutOfMemory;
        }
        const Routes routes(a);
        const MutF32 act{room, places, inner, inner};
        const MutF32 down{room + places * inner, places, hidden, hidden};
        Status status = product(poolOf(q), routes, {a.x, a.gate_up, true, a.activation, act});
        if (status == Status::Ok) {
            status = product(poolOf(q), routes, {act, a.down, false, a.activation, down});
        }
        if (status != Status::Ok) {
            return status;
        }
        for (int64_t row = 0; row < a.x.rows; ++row) {
            std::memset(a.sum.data + row * a.sum.stride, 0,
                        static_cast<size_t>(hidden) * sizeof(float));
        }
        // In the order of the experts, as where they are asked one by one.
        for (int64_t i = 0; i < places; ++i) {
            const auto at = static_cast<size_t>(i);
            Elementwise<V>::addScaled(
                {}, {down.data + i * hidden, 1, hidden, hidden}, a.weight[routes.place[at]],
                {a.sum.data + routes.row[at] * a.sum.stride, 1, hidden, hidden});
        }
        return Status::Ok;
    }

private:
    static constexpr int64_t kMostPlaces = ExpertRowsArgs::kMostPlaces;

    static bool isComplete(const ExpertRowsArgs& a) {
        const int64_t hidden = a.gate_up.cols;
        bool is_ok = isMatrix(a.x) && isWeight(a.gate_up) && isWeight(a.down) &&
                     isSameShape(a.x, a.sum) && a.x.cols == hidden && a.experts > 0 &&
                     a.top_k > 0 && a.gate_up.rows == a.experts * 2 * a.down.cols &&
                     a.down.rows == a.experts * hidden && a.chosen != nullptr &&
                     a.weight != nullptr;
        for (int64_t i = 0; is_ok && i < a.x.rows * a.top_k; ++i) {
            is_ok = a.chosen[i] >= 0 && a.chosen[i] < a.experts;
        }
        return is_ok;
    }

    /// Places of rows, [rows, top_k], in the order of their experts.
    struct Routes {
        struct Group {
            int64_t expert = 0;
            int64_t first = 0; ///< An index into `row`.
            int64_t count = 0;
        };
        std::array<Group, kMostPlaces> group;
        int64_t groups = 0;
        int64_t most = 0;                       ///< Rows of the largest group.
        std::array<int32_t, kMostPlaces> place; ///< Places of the choice in that order,
        std::array<int32_t, kMostPlaces> row;   ///< and their rows.

        explicit Routes(const ExpertRowsArgs& a) {
            const auto places = static_cast<int32_t>(a.x.rows * a.top_k);
            for (int32_t i = 0; i < places; ++i) {
                place[static_cast<size_t>(i)] = i;
            }
            std::sort(place.begin(), place.begin() + places, [&a](int32_t i, int32_t j) {
                return a.chosen[i] != a.chosen[j] ? a.chosen[i] < a.chosen[j] : i < j;
            });
            for (int32_t i = 0; i < places; ++i) {
                const int32_t at = place[static_cast<size_t>(i)];
                if (i == 0 || group[static_cast<size_t>(groups - 1)].expert != a.chosen[at]) {
                    group[static_cast<size_t>(groups++)] = {a.chosen[at], i, 0};
                }
                most = std::max(most, ++group[static_cast<size_t>(groups - 1)].count);
                row[static_cast<size_t>(i)] = at / static_cast<int32_t>(a.top_k);
            }
        }
    };

    /// Each place's product with its expert's weights: W x, or act(G x) * (U x).
    struct Product {
        MatF32 x; ///< Gated: by row; else by place.
        const WeightView& w;
        bool is_gated = false;
        Activation activation = kDefaultActivation;
        MutF32 y; ///< By place.
    };

    /// One thread's part of a product.
    template <class Policy>
    struct Part {
        using Dot = DotProduct<Policy>;
        using X = typename Policy::X;
        const Product& product;
        const Routes& routes;
        const int64_t stride = Dot::strideOf(product.w.cols);
        X* x = nullptr;          ///< [rows of a group, stride]
        float* second = nullptr; ///< [rows of a group, y.cols], products with U.
        Policy policy[2]{};
        int64_t prepared = -1; ///< Group whose rows `x` holds.

        bool open() {
            const auto most = static_cast<size_t>(routes.most);
            x = threadScratchOf<X>(ScratchSlot::Activations, most * static_cast<size_t>(stride));
            second = threadScratchOf<float>(ScratchSlot::Products,
                                            most * static_cast<size_t>(product.y.cols));
            return x != nullptr && second != nullptr &&
                   policy[0].open(product.w, ScratchSlot::Scales) &&
                   (!product.is_gated || policy[1].open(product.w, ScratchSlot::PairScales));
        }

        void prepare(int64_t index, const typename Routes::Group& group) {
            const bool is_same = product.is_gated && product.x.rows == 1; // one row for all
            if (prepared == index || (prepared >= 0 && is_same)) {
                return;
            }
            for (int64_t i = 0; i < group.count; ++i) {
                const int64_t place = group.first + i;
                const int64_t row =
                    product.is_gated ? routes.row[static_cast<size_t>(place)] : place;
                Policy::convert(product.x.data + row * product.x.stride, product.w.cols,
                                x + i * stride);
            }
            prepared = index;
        }

        /// Outputs [begin, end) of the group's places.
        void outputs(int64_t index, int64_t begin, int64_t end) {
            const auto& group = routes.group[static_cast<size_t>(index)];
            const int64_t count = product.y.cols;
            const int64_t first = group.expert * count * (product.is_gated ? 2 : 1);
            prepare(index, group);
            float* const y = product.y.data + group.first * count;
            const auto multiply = [&](int64_t slot, int64_t row, float* to) {
                Epilogue epilogue;
                epilogue.row_factor =
                    product.w.format == WeightFormat::Int8Row ? product.w.row_scale : nullptr;
                // Results are stored by the weight's row.
                Dot::rows(policy[slot], row + begin, row + end, x, stride, epilogue,
                          {to - row, group.count, product.w.rows, count});
            };
            multiply(0, first, y);
            if (!product.is_gated) {
                return;
            }
            multiply(1, first + count, second);
            const MutF32 gate{y + begin, group.count, end - begin, count};
            Elementwise<V>::gatedMul({}, product.activation, gate,
                                     {second + begin, group.count, end - begin, count}, gate);
        }
    };

    static Status product(ThreadPool* pool, const Routes& routes, const Product& product) {
        return Linear<Kit>::withDot(
            product.w, routes.most,
            [&]<class Policy>(typename Linear<Kit>::template DotTag<Policy> /*tag*/,
                              int64_t row_bytes) {
                const int64_t outputs = product.y.cols;
                const int64_t grain = DotProduct<Policy>::grainOf(
                    pool, routes.groups * outputs, row_bytes * (product.is_gated ? 2 : 1));
                const int64_t room = (outputs + grain - 1) / grain * grain;
                std::atomic<bool> is_failed{false};
                parallelShares(pool, routes.groups * room, grain, [&](auto& next) {
                    int64_t begin = 0;
                    int64_t end = 0;
                    if (!next(begin, end)) {
                        return;
                    }
                    Part<Policy> part{product, routes};
                    if (!part.open()) {
                        is_failed.store(true, std::memory_order_relaxed);
                        return;
                    }
                    do {
                        const int64_t index = begin / room;
                        part.outputs(index, begin - index * room,
                                     std::min(end - index * room, outputs));
                    } while (next(begin, end));
                });
                return is_failed.load() ? Status::OutOfMemory : Status::Ok;
            });
    }
};

} // namespace kernels::cpu
