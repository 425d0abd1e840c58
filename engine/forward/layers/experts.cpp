// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layers/experts.h"

#include "engine/base/float_types.h"
#include "engine/forward/matrix_views.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

namespace engine {

using kernels::MatF32;
using kernels::MatView;
using kernels::MutF32;
using kernels::Status;

namespace {

constexpr MatView kNoWeight{};
/// Rows that go through all their experts in one call on the host.
constexpr int64_t kMostHostRows = 8;

/// What a router says of rows: [rows, top_k].
struct Chosen {
    std::vector<int32_t> experts;
    std::vector<float> shares;
};

/// The same by expert: rows of expert e, ascending, from first[e] to first[e + 1].
struct Routing {
    std::vector<int64_t> first; ///< [experts + 1]
    std::vector<int32_t> rows;
    std::vector<float> weights; ///< Share times the expert's own scale.
};

/// Scores of rows in one launch, where the table has that and the router is here and by itself.
/// Unsupported: else.
Status
routerScoresOfX(const BoundModel& model, const DecoderLayer& layer, MutF32 x, MutF32 scores) {
    const DeviceScratch& home = *layer.home;
    const Linear& router = layer.experts.router;
    const bool is_here = router.device == home.id() && router.is_resident && router.isPlain();
    if (home.ops().router_scores == nullptr || !is_here) {
        return Status::Unsupported;
    }
    const Result<kernels::WeightView> view = model.context->resident(router);
    if (!view.has_value()) {
        return Status::Unsupported;
    }
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

/// Top-k experts of every row. scores [rows, experts], overwritten. Ties go to the lower index, as
/// in the reference's top-k.
Chosen chosenOf(const TextConfig& text, std::vector<float>& scores) {
    const int64_t experts = text.num_experts;
    const int64_t rows = static_cast<int64_t>(scores.size()) / experts;
    Chosen chosen;
    std::vector<int32_t> order(static_cast<size_t>(experts));
    for (int64_t r = 0; r < rows; ++r) {
        float* s = scores.data() + r * experts;
        const float largest = *std::max_element(s, s + experts);
        double sum = 0;
        for (int64_t e = 0; e < experts; ++e) {
            s[e] = std::exp(s[e] - largest);
            sum += s[e];
        }
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + text.top_k_experts, order.end(),
                          [s](int32_t a, int32_t b) { return s[a] != s[b] ? s[a] > s[b] : a < b; });
        double top = 0;
        for (int64_t j = 0; j < text.top_k_experts; ++j) {
            top += s[order[static_cast<size_t>(j)]] / sum;
        }
        for (int64_t j = 0; j < text.top_k_experts; ++j) {
            const int32_t e = order[static_cast<size_t>(j)];
            chosen.experts.push_back(e);
            chosen.shares.push_back(static_cast<float>(s[e] / sum / top));
        }
    }
    return chosen;
}

/// The choice where the scores are, so that no more than it comes to the host; by the host where
/// the table has no such function.
Result<Chosen> choose(const BoundModel& model, const DecoderLayer& layer, MutF32 scores) {
    const DeviceScratch& home = *layer.home;
    const TextConfig& text = model.config.text;
    const std::string& name = layer.experts.router.name;
    const auto count = static_cast<size_t>(scores.rows * text.top_k_experts);
    if (home.ops().choose_experts != nullptr && home.has(Buffer::MoeOrder)) {
        int32_t* const experts = home.ints(Buffer::MoeOrder);
        float* const shares = home.buffer(Buffer::MoeOrder) + count;
        const Status status =
            home.ops().choose_experts(home.queue(), scores, text.top_k_experts, experts, shares);
        if (status != Status::Unsupported) {
            ENGINE_KERNEL(status, "choose experts", name);
            std::vector<int32_t> both(2 * count); // one copy, because each is waited for
            ENGINE_KERNEL(home.device().copyOut(both.data(), experts, both.size() * 4), "copy out",
                          name);
            Chosen chosen{
                std::vector<int32_t>(both.begin(), both.begin() + text.top_k_experts * scores.rows),
                std::vector<float>(count)};
            std::memcpy(chosen.shares.data(), both.data() + count, count * sizeof(float));
            return chosen;
        }
    }
    std::vector<float> host_scores(static_cast<size_t>(scores.rows * text.num_experts));
    ENGINE_KERNEL(home.device().copyOut(host_scores.data(), scores.data, host_scores.size() * 4),
                  "copy out", name);
    return chosenOf(text, host_scores);
}

Routing
byExpert(const TextConfig& text, std::span<const float> expert_scale, const Chosen& chosen) {
    Routing routing;
    routing.first.assign(static_cast<size_t>(text.num_experts) + 1, 0);
    for (const int32_t e : chosen.experts) {
        ++routing.first[static_cast<size_t>(e) + 1];
    }
    std::partial_sum(routing.first.begin(), routing.first.end(), routing.first.begin());
    std::vector<int64_t> next(routing.first.begin(), routing.first.end() - 1);
    routing.rows.resize(chosen.experts.size());
    routing.weights.resize(chosen.experts.size());
    for (size_t i = 0; i < chosen.experts.size(); ++i) {
        const auto e = static_cast<size_t>(chosen.experts[i]);
        const auto at = static_cast<size_t>(next[e]++);
        routing.rows[at] = static_cast<int32_t>(static_cast<int64_t>(i) / text.top_k_experts);
        routing.weights[at] = chosen.shares[i] * expert_scale[e];
    }
    return routing;
}

/// The routing on a card, so that rows are taken and given in one launch each.
struct OrderOnCard {
    const int32_t* rows = nullptr;   ///< By place; nullptr: row by row
    const float* weights = nullptr;  ///< [rows, top_k], as places
    const int32_t* places = nullptr; ///< [rows, top_k]
};

Result<OrderOnCard> sendOrder(const DeviceScratch& home,
                              const Routing& routing,
                              int64_t top_k,
                              const std::string& name) {
    if (home.ops().sum_experts == nullptr || !home.has(Buffer::MoeOrder)) {
        return OrderOnCard();
    }
    const size_t count = routing.rows.size();
    std::vector<int32_t> order(3 * count);
    std::copy(routing.rows.begin(), routing.rows.end(), order.begin());
    std::vector<int32_t> taken(count / static_cast<size_t>(top_k), 0); // of a row's places
    for (size_t place = 0; place < count; ++place) {
        const auto row = static_cast<size_t>(routing.rows[place]);
        const size_t at = row * static_cast<size_t>(top_k) + static_cast<size_t>(taken[row]++);
        std::memcpy(&order[count + at], &routing.weights[place], sizeof(float));
        order[2 * count + at] = static_cast<int32_t>(place);
    }
    int32_t* const there = home.ints(Buffer::MoeOrder);
    ENGINE_KERNEL(home.device().copyIn(there, order.data(), order.size() * sizeof(int32_t)),
                  "copy in", name);
    return OrderOnCard{there, home.buffer(Buffer::MoeOrder) + count, there + 2 * count};
}

/// Experts of one layer and what they are asked for.
struct ExpertRun {
    const BoundModel& model;
    const DecoderLayer& layer;
    const Routing& routing;
    OrderOnCard order;
    MutF32 z;
    MutF32 total;

    [[nodiscard]] int64_t hidden() const { return model.config.text.hidden_size; }
    [[nodiscard]] int64_t inner() const { return model.config.text.moe_intermediate_size; }
    /// Rows that the buffers of experts have room for.
    [[nodiscard]] int64_t room() const {
        const DeviceScratch& home = *layer.home;
        return std::min(
            {home.size(Buffer::MoeRows) / hidden(), home.size(Buffer::MoeDown) / hidden(),
             home.size(Buffer::MoeGateUp) / (2 * inner()), home.size(Buffer::MoeAct) / inner()});
    }
    [[nodiscard]] int64_t firstOf(int64_t expert) const {
        return routing.first[static_cast<size_t>(expert)];
    }
    [[nodiscard]] int64_t countOf(int64_t expert) const {
        return firstOf(expert + 1) - firstOf(expert);
    }
    [[nodiscard]] Result<void> take(int64_t first, MutF32 in) const;
    [[nodiscard]] Result<void> give(int64_t first, MutF32 down) const;
    [[nodiscard]] Result<void> oneByOne(int64_t begin, int64_t end) const;
    [[nodiscard]] Result<void> all() const;
};

/// Rows of z from place `first` of the order on.
Result<void> ExpertRun::take(int64_t first, MutF32 in) const {
    DeviceScratch& home = *layer.home;
    if (order.rows != nullptr) {
        const kernels::WeightView rows{z.data, kernels::WeightFormat::F32, z.rows, z.cols};
        return checkStatus(
            home.ops().gather_rows(home.queue(), rows, order.rows + first, in.rows, 0, 1.0F, in),
            "gather rows", layer.experts.router.name);
    }
    for (int64_t i = 0; i < in.rows; ++i) {
        const int64_t row = routing.rows[static_cast<size_t>(first + i)];
        ENGINE_TRY(model.context->move(home, z.data + row * z.stride, home, in.data + i * in.stride,
                                       static_cast<size_t>(hidden()) * sizeof(float)));
    }
    return {};
}

/// total += weight * down, of the experts that the rows of `down` come from.
Result<void> ExpertRun::give(int64_t first, MutF32 down) const {
    DeviceScratch& home = *layer.home;
    const std::string& name = layer.experts.router.name;
    if (order.rows != nullptr) {
        kernels::ExpertSumArgs args;
        args.x = down;
        args.place = first;
        args.places = order.places;
        args.weights = order.weights;
        args.top_k = model.config.text.top_k_experts;
        args.total = total;
        return checkStatus(home.ops().sum_experts(home.queue(), args), "sum experts", name);
    }
    for (int64_t i = 0; i < down.rows; ++i) {
        const auto at = static_cast<size_t>(first + i);
        ENGINE_KERNEL(home.ops().add_scaled(home.queue(), rowsOf(down, i, 1), routing.weights[at],
                                            rowsOf(total, routing.rows[at], 1)),
                      "sum experts", name);
    }
    return {};
}

/// Experts `begin` to `end` - 1, one by one: what no expert's weights are needed for is one launch
/// for all.
Result<void> ExpertRun::oneByOne(int64_t begin, int64_t end) const {
    ComputeContext& context = *model.context;
    DeviceScratch& home = *layer.home;
    const int64_t first = firstOf(begin);
    const int64_t count = firstOf(end) - first;
    const MutF32 in = home.matrix(Buffer::MoeRows, count, hidden());
    ENGINE_TRY(take(first, in));
    const MutF32 gate_up = home.matrix(Buffer::MoeGateUp, count, 2 * inner());
    const auto ofExpert = [&](MutF32 rows, int64_t e) {
        return rowsOf(rows, firstOf(e) - first, countOf(e));
    };
    for (int64_t e = begin; e < end; ++e) {
        if (countOf(e) > 0) {
            ENGINE_TRY(context.expert(layer.experts.gate_up, home, e, ofExpert(in, e),
                                      ofExpert(gate_up, e)));
        }
    }
    const MutF32 act = home.matrix(Buffer::MoeAct, count, inner());
    const MatF32 gate{gate_up.data, count, inner(), gate_up.stride};
    const MatF32 up{gate_up.data + inner(), count, inner(), gate_up.stride};
    ENGINE_KERNEL(
        home.ops().gated_mul(home.queue(), model.config.text.recipe.activation, gate, up, act),
        "activation", layer.experts.gate_up.name);
    const MutF32 down = home.matrix(Buffer::MoeDown, count, hidden());
    for (int64_t e = begin; e < end; ++e) {
        if (countOf(e) > 0) {
            ENGINE_TRY(
                context.expert(layer.experts.down, home, e, ofExpert(act, e), ofExpert(down, e)));
        }
    }
    return give(first, down);
}

Result<void> ExpertRun::all() const {
    const int64_t experts = model.config.text.num_experts;
    const int64_t most = room();
    for (int64_t begin = 0; begin < experts;) {
        int64_t end = begin + 1; // one expert has room: it has no row twice
        while (end < experts && firstOf(end + 1) - firstOf(begin) <= most) {
            ++end;
        }
        if (firstOf(end) > firstOf(begin)) {
            ENGINE_TRY(oneByOne(begin, end));
        }
        begin = end;
    }
    return {};
}

/// total = what the experts say of z [rows, hidden], in one call where both weights lie by
/// themselves in the host's memory. False: they do not, or there are too many rows.
Result<bool> fewRows(const BoundModel& model,
                     const DecoderLayer& layer,
                     const Chosen& chosen,
                     MutF32 z,
                     MutF32 total) {
    const Linear& gate_up = layer.experts.gate_up;
    const Linear& down = layer.experts.down;
    DeviceScratch& home = *layer.home;
    DeviceScratch* const there =
        gate_up.device == home.id() ? &home : model.context->scratch(gate_up.device);
    if (there == nullptr || there->ops().expert_rows == nullptr || z.rows > kMostHostRows ||
        z.rows * model.config.text.top_k_experts > kernels::ExpertRowsArgs::kMostPlaces ||
        gate_up.device != down.device || !gate_up.isPlain() || !down.isPlain() ||
        !gate_up.is_resident || !down.is_resident) {
        return false;
    }
    kernels::ExpertRowsArgs args;
    const MutF32 in = there == &home ? z : there->matrix(Buffer::ForeignIn, z.rows, z.cols);
    args.x = in;
    args.sum = there == &home ? total : there->matrix(Buffer::ForeignOut, z.rows, z.cols);
    ENGINE_ASSIGN(args.gate_up, model.context->resident(gate_up));
    ENGINE_ASSIGN(args.down, model.context->resident(down));
    args.experts = model.config.text.num_experts;
    args.top_k = model.config.text.top_k_experts;
    args.activation = model.config.text.recipe.activation;
    args.chosen = chosen.experts.data();
    std::vector<float> weights(chosen.shares);
    for (size_t i = 0; i < weights.size(); ++i) {
        weights[i] *= layer.experts.per_expert_scale[static_cast<size_t>(chosen.experts[i])];
    }
    args.weight = weights.data();
    ENGINE_TRY(model.context->move(home, z.data, *there, in.data, sizeBytes(z)));
    ENGINE_KERNEL(there->ops().expert_rows(there->queue(), args), "experts", gate_up.name);
    ENGINE_TRY(model.context->move(*there, args.sum.data, home, total.data, sizeBytes(total)));
    return true;
}

/// The matrix of all experts for a card: it lies there, or is lent to it in parts.
struct CardWeight {
    kernels::WeightView view;    ///< All experts' weights, where they lie.
    LentWeights* lent = nullptr; ///< nullptr: on the card
    int64_t at_once = 0;         ///< Experts that a launch has.

    /// Sets what of `product` belongs to experts `begin` on.
    [[nodiscard]] Status take(const kernels::ExpertOrderArgs& order,
                              int64_t begin,
                              kernels::ExpertProductArgs& product) {
        product.experts = std::min(at_once, order.experts - begin);
        product.first = order.first + begin;
        if (lent == nullptr) {
            product.w = view;
            return Status::Ok;
        }
        kernels::WeightView part = view;
        const int64_t rows = view.rows / order.experts;
        return takeRows(part, begin * rows, product.experts * rows) ? lent->lend(part, product.w)
                                                                    : Status::Unsupported;
    }
};

/// nullopt: it has updates, or is elsewhere and not lent for so few rows.
std::optional<CardWeight>
cardWeight(const BoundModel& model, const DecoderLayer& layer, const Linear& linear, int64_t rows) {
    const DeviceScratch& home = *layer.home;
    const int64_t experts = model.config.text.num_experts;
    if (!linear.is_resident || !linear.isPlain()) {
        return std::nullopt;
    }
    const Result<kernels::WeightView> view = model.context->resident(linear);
    if (!view.has_value()) {
        return std::nullopt;
    }
    CardWeight weight{*view, nullptr, experts};
    if (linear.device == home.id()) {
        return weight;
    }
    // Where the second expert may begin, every one may.
    kernels::WeightView one = *view;
    const int64_t outputs = one.rows / experts;
    weight.lent = model.context->lent(home);
    if (rows < model.decode.least_lent_rows || linear.device != DeviceId::cpu() ||
        weight.lent == nullptr || !takeRows(one, experts > 1 ? outputs : 0, outputs)) {
        return std::nullopt;
    }
    weight.lent->lendIn(home.buffer(Buffer::MoeLent),
                        static_cast<size_t>(home.size(Buffer::MoeLent)) * sizeof(float));
    weight.at_once = std::min({experts, weight.lent->mostOf(one), model.decode.most_lent_experts});
    return weight.at_once > 0 ? std::optional(weight) : std::nullopt;
}

/// All experts of all rows in launches that depend on nothing the host would have to read. x,
/// total: as addExperts() has them. False: the card or the weights do not allow it, and nothing was
/// added.
Result<bool> addOnCard(
    const BoundModel& model, const DecoderLayer& layer, MutF32 x, MatF32 scores, MutF32 total) {
    DeviceScratch& home = *layer.home;
    const auto queue = home.queue();
    const auto& ops = home.ops();
    const TextConfig& text = model.config.text;
    const std::string& name = layer.experts.router.name;
    const int64_t count = x.rows * text.top_k_experts;
    const int64_t inner = text.moe_intermediate_size;
    if (ops.choose_experts == nullptr || ops.order_experts == nullptr ||
        ops.expert_products == nullptr || ops.norm_rows == nullptr || !home.has(Buffer::MoeOrder) ||
        home.size(Buffer::MoeRows) * 2 < count * inner) {
        return false;
    }
    auto gate_up = cardWeight(model, layer, layer.experts.gate_up, x.rows);
    auto down = cardWeight(model, layer, layer.experts.down, x.rows);
    if (!gate_up.has_value() || !down.has_value()) {
        return false;
    }
    // Columns of down that there is room for, in whole tiles.
    const int64_t room = home.size(Buffer::MoeDown) / count;
    const int64_t step = room >= text.hidden_size ? text.hidden_size : room / 128 * 128;
    if (step == 0) {
        return false;
    }
    kernels::ExpertOrderArgs order;
    int32_t* const chosen = home.ints(Buffer::MoeOrder);
    order.chosen = chosen;
    order.rows = x.rows;
    order.top_k = text.top_k_experts;
    order.experts = text.num_experts;
    order.scale = layer.experts.expert_scale.data;
    order.share = home.buffer(Buffer::MoeOrder) + count;
    order.row = chosen + 2 * count;
    order.place = chosen + 3 * count;
    order.first = chosen + 4 * count;
    kernels::NormRowsArgs norm;
    norm.x = x.data;
    norm.norm = layer.experts.pre_norm;
    norm.h = home.buffer(Buffer::MoeIn); // bf16 in room for fp32, as act
    norm.rows = x.rows;
    norm.cols = x.cols;
    norm.eps = static_cast<float>(text.rms_norm_eps);
    kernels::ExpertProductArgs product;
    product.x = norm.h;
    product.rows = order.row;
    product.is_gated = true;
    product.activation = text.recipe.activation;
    product.y = home.buffer(Buffer::MoeRows);
    product.end = inner;
    product.places = count;
    Status status = ops.choose_experts(queue, scores, text.top_k_experts, chosen, order.share);
    if (status == Status::Ok) {
        status = ops.order_experts(queue, order);
    }
    if (status == Status::Ok) {
        status = ops.norm_rows(queue, norm);
    }
    for (int64_t e = 0; e < order.experts && status == Status::Ok; e += gate_up->at_once) {
        status = gate_up->take(order, e, product);
        if (status == Status::Ok) {
            status = ops.expert_products(queue, product);
        }
    }
    product.x = product.y;
    product.rows = nullptr;
    product.is_gated = false;
    product.y = home.buffer(Buffer::MoeDown);
    kernels::ExpertSumArgs sum;
    sum.places = order.place;
    sum.weights = order.share;
    sum.top_k = order.top_k;
    for (int64_t e = 0; e < order.experts && status == Status::Ok; e += down->at_once) {
        status = down->take(order, e, product);
        sum.first = product.first;
        sum.experts = product.experts;
        for (int64_t begin = 0; begin < text.hidden_size && status == Status::Ok; begin += step) {
            product.begin = begin;
            product.end = std::min(begin + step, text.hidden_size);
            status = ops.expert_products(queue, product);
            if (status == Status::Ok) {
                const int64_t columns = product.end - begin;
                sum.x = {home.buffer(Buffer::MoeDown), count, columns, columns};
                sum.total = {total.data + begin, total.rows, columns, total.stride};
                ENGINE_KERNEL(ops.sum_experts(queue, sum), "sum experts", name);
            }
        }
    }
    if (status == Status::Unsupported) {
        return false; // by one of the first calls, or by the first part of down
    }
    ENGINE_KERNEL(status, "experts", name);
    return true;
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
    const MutF32 total = home.matrix(Buffer::MoeSum, rows, text.hidden_size);
    ENGINE_KERNEL(home.device().clear(total.data, sizeBytes(total)), "clear", name);
    ENGINE_ASSIGN(bool is_done, addOnCard(model, layer, x, scores, total));
    if (!is_done) {
        ENGINE_ASSIGN(const Chosen chosen, choose(model, layer, scores));
        ENGINE_KERNEL(ops.rms_norm(queue, x, weights.pre_norm, eps, z), "norm", name);
        ENGINE_ASSIGN(is_done, fewRows(model, layer, chosen, z, total));
        if (!is_done) {
            const Routing routing = byExpert(text, weights.per_expert_scale, chosen);
            ENGINE_ASSIGN(const OrderOnCard order,
                          sendOrder(home, routing, text.top_k_experts, name));
            ENGINE_TRY((ExpertRun{model, layer, routing, order, z, total}.all()));
        }
    }
    ENGINE_KERNEL(ops.rms_norm(queue, total, weights.post_norm, eps, total), "norm", name);
    return checkStatus(ops.add_scaled(queue, total, 1.0F, dense), "add", name);
}

} // namespace engine
