// SPDX-License-Identifier: Apache-2.0
// Routed experts of one token with their operands, and a sum in double over exactly expanded
// weights: what the kernels of a card must equal.
#pragma once

#include "tests/kernels/step_cases.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace support {

using kernels::ExpertsStepArgs;

struct ExpertsShape {
    int64_t hidden = 256, inner = 64, experts = 12, top_k = 3;
};

/// A weight whose products are of the size of their input's.
inline TestWeight
weightOf(WeightFormat format, int64_t rows, int64_t cols, bool is_nested, uint64_t seed) {
    const int32_t block = format == WeightFormat::Int4 ? 32 : 64;
    return makeWeight(format, rows, cols, block, is_nested, DType::BF16, seed);
}

inline std::vector<float> expanded(const kernels::WeightView& w) {
    std::vector<float> values(sizeOf(w.rows * w.cols));
    std::vector<int32_t> ids(sizeOf(w.rows));
    std::iota(ids.begin(), ids.end(), 0);
    kernels::cpuScalarOps().gather_rows({}, w, ids.data(), w.rows, 0, 1.0F,
                                        {values.data(), w.rows, w.cols, w.cols});
    return values;
}

/// The operands of one step.
struct ExpertsCase {
    ExpertsShape shape;
    TestWeight router, gate_up, down;
    Guarded<float> x, t, router_scale, expert_scale, scores, chosen, act, sum;
    Guarded<uint8_t> t_norm, norm, out_norm;
    ExpertsStepArgs args;

    ExpertsCase(const ExpertsShape& s,
                WeightFormat format,
                WeightFormat of_router,
                bool is_nested,
                uint64_t seed)
        : shape(s), router(weightOf(of_router, s.experts, s.hidden, false, seed)),
          gate_up(weightOf(format, s.experts * 2 * s.inner, s.hidden, is_nested, seed + 1)),
          down(weightOf(format, s.experts * s.hidden, s.inner, is_nested, seed + 2)),
          x(randomFloats(s.hidden, seed + 3, 2.0F)), t(randomFloats(s.hidden, seed + 4)),
          router_scale(randomFloats(s.hidden, seed + 5, 0.5F)),
          expert_scale(randomFloats(s.experts, seed + 6)), scores(sizeOf(s.experts)),
          chosen(sizeOf(ExpertsStepArgs::chosenFloats(s.top_k))), act(sizeOf(s.top_k * s.inner)),
          sum(sizeOf(s.hidden)), t_norm(stored(randomFloats(s.hidden, seed + 7), DType::BF16)),
          norm(stored(randomFloats(s.hidden, seed + 8), DType::F32)),
          out_norm(stored(randomFloats(s.hidden, seed + 9), DType::F16)) {
        args.x = x.data();
        args.t = t.data();
        args.router = router.view;
        args.router_scale = router_scale.data();
        args.expert_scale = expert_scale.data();
        args.input_scale = 1.0F / std::sqrt(static_cast<float>(s.hidden));
        args.gate_up = gate_up.view;
        args.down = down.view;
        args.t_norm = {t_norm.data(), DType::BF16, 1, s.hidden};
        args.norm = {norm.data(), DType::F32, 1, s.hidden};
        args.out_norm = {out_norm.data(), DType::F16, 1, s.hidden};
        args.experts = s.experts;
        args.top_k = s.top_k;
        args.scores = scores.data();
        args.chosen = chosen.data();
        args.act = act.data();
        args.sum = sum.data();
    }
    template <typename Take>
    void eachOperand(const Take& take) const {
        takeAll(take, router);
        takeAll(take, gate_up);
        takeAll(take, down);
        takeAll(take, x, t, router_scale, expert_scale, scores, chosen, act, sum);
        takeAll(take, t_norm, norm, out_norm);
    }
    [[nodiscard]] int32_t expertAt(int64_t j) const {
        int32_t expert = 0;
        std::memcpy(&expert, chosen.data() + 2 + 2 * j, sizeof expert);
        return expert;
    }
};

inline double valueOf(const kernels::MatView& vector, int64_t i) {
    return static_cast<double>(kernels::cpu::loadElement(vector.data, vector.type, i));
}

inline double inverseRms(const std::vector<double>& row) {
    double squares = 0;
    for (const double v : row) {
        squares += v * v;
    }
    return 1.0 / std::sqrt(squares / static_cast<double>(row.size()) + 1e-6);
}

struct Answer {
    std::vector<int32_t> experts;
    std::vector<double> t;
};

/// From the formula (engine/families/gemma4/ARCHITECTURE.md, experts), in double. Experts with a
/// place, [experts], have the weights of that one of `bank` instead of their own.
inline Answer answerOf(const ExpertsCase& c,
                       const ExpertsCase* bank = nullptr,
                       const std::vector<int32_t>& place_of = {}) {
    const ExpertsShape& s = c.shape;
    const ExpertsStepArgs& a = c.args;
    std::vector<double> x(c.x.data(), c.x.data() + s.hidden);
    std::vector<double> dense(c.t.data(), c.t.data() + s.hidden);
    const double inverse = inverseRms(x);
    const std::vector<float> router = expanded(a.router);
    const ExpertsStepArgs& placed = (bank != nullptr ? bank : &c)->args;
    const std::vector<float> gate_ups[] = {expanded(a.gate_up), expanded(placed.gate_up)};
    const std::vector<float> downs[] = {expanded(a.down), expanded(placed.down)};
    std::vector<double> p(sizeOf(s.experts));
    for (int64_t e = 0; e < s.experts; ++e) {
        for (int64_t i = 0; i < s.hidden; ++i) {
            p[sizeOf(e)] += x[sizeOf(i)] * inverse *
                            static_cast<double>(c.router_scale[sizeOf(i)]) *
                            static_cast<double>(a.input_scale) *
                            static_cast<double>(router[sizeOf(e * s.hidden + i)]);
        }
    }
    Answer answer;
    std::vector<int32_t> order(sizeOf(s.experts));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&p](int32_t i, int32_t j) { return p[sizeOf(i)] > p[sizeOf(j)]; });
    answer.experts.assign(order.begin(), order.begin() + s.top_k);
    double top = 0;
    for (const int32_t e : answer.experts) {
        top += std::exp(p[sizeOf(e)] - p[sizeOf(order[0])]);
    }
    std::vector<double> sum(sizeOf(s.hidden));
    for (const int32_t e : answer.experts) {
        const double w = std::exp(p[sizeOf(e)] - p[sizeOf(order[0])]) / top *
                         static_cast<double>(c.expert_scale[sizeOf(e)]);
        const bool is_placed = bank != nullptr && place_of[sizeOf(e)] >= 0;
        const int64_t at = is_placed ? place_of[sizeOf(e)] : e;
        const std::vector<float>& gate_up = gate_ups[is_placed ? 1 : 0];
        const std::vector<float>& down = downs[is_placed ? 1 : 0];
        std::vector<double> act(sizeOf(s.inner));
        for (int64_t r = 0; r < s.inner; ++r) {
            double pair[2] = {};
            for (int64_t half = 0; half < 2; ++half) {
                const int64_t row = (at * 2 + half) * s.inner + r;
                for (int64_t i = 0; i < s.hidden; ++i) {
                    pair[half] += x[sizeOf(i)] * inverse * valueOf(a.norm, i) *
                                  static_cast<double>(gate_up[sizeOf(row * s.hidden + i)]);
                }
            }
            const double g = pair[0];
            act[sizeOf(r)] = 0.5 * g *
                             (1 + std::tanh(0.7978845608028654 * (g + 0.044715 * g * g * g))) *
                             pair[1];
        }
        for (int64_t i = 0; i < s.hidden; ++i) {
            for (int64_t r = 0; r < s.inner; ++r) {
                sum[sizeOf(i)] +=
                    w * act[sizeOf(r)] *
                    static_cast<double>(down[sizeOf((at * s.hidden + i) * s.inner + r)]);
            }
        }
    }
    const double dense_inverse = inverseRms(dense);
    const double sum_inverse = inverseRms(sum);
    answer.t.resize(sizeOf(s.hidden));
    for (int64_t i = 0; i < s.hidden; ++i) {
        answer.t[sizeOf(i)] = dense[sizeOf(i)] * dense_inverse * valueOf(a.t_norm, i) +
                              sum[sizeOf(i)] * sum_inverse * valueOf(a.out_norm, i);
    }
    return answer;
}

inline double relativeErrorOf(const Guarded<float>& got, const std::vector<double>& want) {
    double error = 0;
    double norm = 0;
    for (size_t i = 0; i < want.size(); ++i) {
        const double d = static_cast<double>(got[i]) - want[i];
        error += d * d;
        norm += want[i] * want[i];
    }
    return std::isfinite(error) ? std::sqrt(error / norm) : INFINITY;
}

} // namespace support
