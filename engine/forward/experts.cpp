// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/experts.h"

#include "engine/base/float_types.h"
#include "engine/forward/activation.h"
#include "engine/forward/matrix_views.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace engine {

using kernels::MatF32;
using kernels::MatView;
using kernels::MutF32;
using kernels::Status;

namespace {

constexpr MatView kNoWeight{};

/// A row that an expert was chosen for.
struct Choice {
    int64_t row;
    float weight;
};

/// Scores of rows in one launch, where the table has that and the router is here and by itself.
/// Unsupported: else.
Status
routerScoresOfX(const BoundModel& model, const DecoderLayer& layer, MutF32 x, MutF32 scores) {
    const DeviceScratch& home = *layer.home;
    const Linear& router = layer.experts.router;
    const bool is_here = router.device == home.id() && router.is_resident &&
                         router.adapter == AdapterHook::kNone && !router.has_input_clip &&
                         !router.has_output_clip;
    if (home.ops().router_scores == nullptr || !is_here) {
        return Status::Unsupported;
    }
    WeightSource& weights = model.context->weights();
    const Result<kernels::WeightView> view = weights.acquire(router.weight);
    if (!view.has_value()) {
        return Status::Unsupported;
    }
    weights.release(router.weight); // resident: the view stays valid
    const TextConfig& text = model.config.text;
    return home.ops().router_scores(home.queue(), x, *view, layer.experts.router_scale.data,
                                    1.0F / std::sqrt(static_cast<float>(text.hidden_size)),
                                    static_cast<float>(text.rms_norm_eps), scores);
}

/// The same by single functions. z: scratch, may be overwritten.
Result<void>
routerScores(const BoundModel& model, const DecoderLayer& layer, MutF32 z, MutF32 scores) {
    DeviceScratch& home = *layer.home;
    ComputeContext& context = *model.context;
    const Linear& router = layer.experts.router;
    if (model.is_reference) {
        return context.linear(router, home, z, scores);
    }
    // A rounded score can choose another expert, and fast kernels round their input to bf16. The
    // input as a sum of two bf16 numbers keeps 16 bits of its mantissa for twice a tiny product.
    const auto count = static_cast<size_t>(z.rows * z.cols);
    std::vector<float> high(count);
    std::vector<float> low(count);
    ENGINE_KERNEL(home.device().copyOut(high.data(), z.data, count * sizeof(float)), "copy out",
                  router.name);
    for (size_t i = 0; i < count; ++i) {
        const float value = high[i];
        high[i] = roundToBf16(value);
        low[i] = value - high[i];
    }
    const MutF32 part = home.matrix(Buffer::MoeRows, z.rows, z.cols);
    const MutF32 rest = home.matrix(Buffer::MoeRouterLow, scores.rows, scores.cols);
    ENGINE_KERNEL(home.device().copyIn(part.data, low.data(), count * sizeof(float)), "copy in",
                  router.name);
    ENGINE_TRY(context.linear(router, home, part, rest));
    ENGINE_KERNEL(home.device().copyIn(part.data, high.data(), count * sizeof(float)), "copy in",
                  router.name);
    ENGINE_TRY(context.linear(router, home, part, scores));
    return checkStatus(home.ops().add_scaled(home.queue(), rest, 1.0F, scores), "add", router.name);
}

/// Top-k experts of every row, by expert. scores [rows, experts], overwritten. Ties go to the lower
/// index, as in the reference's top-k.
std::vector<std::vector<Choice>> chooseExperts(const TextConfig& text,
                                               std::span<const float> expert_scale,
                                               std::vector<float>& scores) {
    const int64_t experts = text.num_experts;
    const int64_t rows = static_cast<int64_t>(scores.size()) / experts;
    std::vector<std::vector<Choice>> chosen(static_cast<size_t>(experts));
    std::vector<int64_t> order(static_cast<size_t>(experts));
    for (int64_t r = 0; r < rows; ++r) {
        float* s = scores.data() + r * experts;
        const float largest = *std::max_element(s, s + experts);
        double sum = 0;
        for (int64_t e = 0; e < experts; ++e) {
            s[e] = std::exp(s[e] - largest);
            sum += s[e];
        }
        for (int64_t e = 0; e < experts; ++e) {
            order[static_cast<size_t>(e)] = e;
        }
        std::partial_sort(order.begin(), order.begin() + text.top_k_experts, order.end(),
                          [s](int64_t a, int64_t b) { return s[a] != s[b] ? s[a] > s[b] : a < b; });
        double top = 0;
        for (int64_t j = 0; j < text.top_k_experts; ++j) {
            top += s[order[static_cast<size_t>(j)]] / sum;
        }
        for (int64_t j = 0; j < text.top_k_experts; ++j) {
            const int64_t e = order[static_cast<size_t>(j)];
            const double w = s[e] / sum / top;
            chosen[static_cast<size_t>(e)].push_back(
                {r, static_cast<float>(w) * expert_scale[static_cast<size_t>(e)]});
        }
    }
    return chosen;
}

/// Rows by expert and their weights on a card, so that an expert takes and gives its rows in one
/// launch each.
struct OrderOnCard {
    const int32_t* rows = nullptr; ///< nullptr: row by row
    const float* weights = nullptr;
};

Result<OrderOnCard> sendOrder(const DeviceScratch& home,
                              const std::vector<std::vector<Choice>>& chosen,
                              const std::string& name) {
    if (home.ops().scatter_add == nullptr || !home.has(Buffer::MoeOrder)) {
        return OrderOnCard();
    }
    std::vector<int32_t> order;
    std::vector<float> weights;
    for (const std::vector<Choice>& of_expert : chosen) {
        for (const Choice& c : of_expert) {
            order.push_back(static_cast<int32_t>(c.row));
            weights.push_back(c.weight);
        }
    }
    const size_t count = order.size();
    order.resize(2 * count);
    std::memcpy(order.data() + count, weights.data(), count * sizeof(float));
    int32_t* const there = home.ints(Buffer::MoeOrder);
    ENGINE_KERNEL(home.device().copyIn(there, order.data(), order.size() * sizeof(int32_t)),
                  "copy in", name);
    return OrderOnCard{there, home.buffer(Buffer::MoeOrder) + count};
}

/// total += weight * expert(z) for the rows that chose it. first: how many are in front of them in
/// the order on a card.
Result<void> runExpert(const BoundModel& model,
                       const DecoderLayer& layer,
                       int64_t expert,
                       const std::vector<Choice>& chosen,
                       const OrderOnCard& order,
                       int64_t first,
                       MutF32 z,
                       MutF32 total) {
    ComputeContext& context = *model.context;
    DeviceScratch& home = *layer.home;
    const int64_t hidden = model.config.text.hidden_size;
    const int64_t inner = model.config.text.moe_intermediate_size;
    const auto count = static_cast<int64_t>(chosen.size());
    const MutF32 in = home.matrix(Buffer::MoeRows, count, hidden);
    if (order.rows != nullptr) {
        const kernels::WeightView rows{z.data, kernels::WeightFormat::F32, z.rows, z.cols};
        ENGINE_KERNEL(
            home.ops().gather_rows(home.queue(), rows, order.rows + first, count, 0, 1.0F, in),
            "gather rows", layer.experts.router.name);
    }
    for (int64_t i = 0; order.rows == nullptr && i < count; ++i) {
        ENGINE_TRY(context.move(home, z.data + chosen[static_cast<size_t>(i)].row * z.stride, home,
                                in.data + i * in.stride,
                                static_cast<size_t>(hidden) * sizeof(float)));
    }
    const MutF32 gate_up = home.matrix(Buffer::MoeGateUp, count, 2 * inner);
    ENGINE_TRY(context.expert(layer.experts.gate_up, home, expert, in, gate_up));
    const MutF32 act = home.matrix(Buffer::MoeAct, count, inner);
    const MatF32 gate{gate_up.data, count, inner, gate_up.stride};
    const MatF32 up{gate_up.data + inner, count, inner, gate_up.stride};
    ENGINE_TRY(activatePair(home, model.config.text.recipe.activation, gate, up, act,
                            layer.experts.gate_up.name));
    const MutF32 down = home.matrix(Buffer::MoeDown, count, hidden);
    ENGINE_TRY(context.expert(layer.experts.down, home, expert, act, down));
    if (order.rows != nullptr) {
        return checkStatus(home.ops().scatter_add(home.queue(), down, order.rows + first,
                                                  order.weights + first, total),
                           "sum experts", layer.experts.router.name);
    }
    for (int64_t i = 0; i < count; ++i) {
        const Choice& c = chosen[static_cast<size_t>(i)];
        ENGINE_KERNEL(home.ops().add_scaled(home.queue(), rowsOf(down, i, 1), c.weight,
                                            rowsOf(total, c.row, 1)),
                      "sum experts", layer.experts.router.name);
    }
    return {};
}

} // namespace

Result<void>
addExperts(const BoundModel& model, const DecoderLayer& layer, MutF32 x, MutF32 dense) {
    const TextConfig& text = model.config.text;
    const ExpertWeights& weights = layer.experts;
    DeviceScratch& home = *layer.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const auto eps = static_cast<float>(text.rms_norm_eps);
    const int64_t rows = x.rows;
    const std::string& name = weights.router.name;

    ENGINE_KERNEL(ops.rms_norm(queue, dense, weights.dense_norm, eps, dense), "norm", name);
    const MutF32 z = home.matrix(Buffer::MoeIn, rows, text.hidden_size);
    const MutF32 scores = home.matrix(Buffer::MoeProbs, rows, text.num_experts);
    if (const Status status = routerScoresOfX(model, layer, x, scores);
        status != Status::Unsupported) {
        ENGINE_KERNEL(status, "router", name);
    } else {
        ENGINE_KERNEL(ops.rms_norm(queue, x, kNoWeight, eps, z), "norm", name);
        ENGINE_KERNEL(ops.scale_columns(queue, z, weights.router_scale.data), "router scale", name);
        ENGINE_KERNEL(ops.scale(queue, z, 1.0F / std::sqrt(static_cast<float>(text.hidden_size))),
                      "scale", name);
        ENGINE_TRY(routerScores(model, layer, z, scores));
    }
    std::vector<float> host_scores(static_cast<size_t>(rows * text.num_experts));
    ENGINE_KERNEL(home.device().copyOut(host_scores.data(), scores.data, host_scores.size() * 4),
                  "copy out", name);
    const std::vector<std::vector<Choice>> chosen =
        chooseExperts(text, weights.per_expert_scale, host_scores);

    ENGINE_KERNEL(ops.rms_norm(queue, x, weights.pre_norm, eps, z), "norm", name);
    const MutF32 total = home.matrix(Buffer::MoeSum, rows, text.hidden_size);
    const std::vector<float> zeros(static_cast<size_t>(rows * text.hidden_size), 0.0F);
    ENGINE_KERNEL(home.device().copyIn(total.data, zeros.data(), zeros.size() * 4), "clear", name);
    ENGINE_ASSIGN(const OrderOnCard order, sendOrder(home, chosen, name));
    int64_t first = 0;
    for (int64_t e = 0; e < text.num_experts; ++e) {
        const std::vector<Choice>& of_expert = chosen[static_cast<size_t>(e)];
        if (!of_expert.empty()) {
            ENGINE_TRY(runExpert(model, layer, e, of_expert, order, first, z, total));
            first += static_cast<int64_t>(of_expert.size());
        }
    }
    ENGINE_KERNEL(ops.rms_norm(queue, total, weights.post_norm, eps, total), "norm", name);
    return checkStatus(ops.add_scaled(queue, total, 1.0F, dense), "add", name);
}

} // namespace engine
