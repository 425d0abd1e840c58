// SPDX-License-Identifier: Apache-2.0
#include "engine/forward/layers/row_steps.h"

#include <algorithm>
#include <span>
#include <vector>

namespace engine {

using kernels::ProductArgs;

namespace {

/// What is active at a layer. False: only single functions do it.
bool updatesOf(const Linear& linear,
               const ComputeContext& context,
               std::vector<kernels::ProjectLora>& updates) {
    updates.clear();
    const AdapterHook* const adapters = context.adapters();
    if (linear.adapter == AdapterHook::kNone || adapters == nullptr) {
        return true;
    }
    if (!adapters->stepUpdates(linear.adapter, updates) ||
        updates.size() > static_cast<size_t>(ProductArgs::kMaxUpdates)) {
        return false;
    }
    int64_t ranks = 0;
    for (const kernels::ProjectLora& update : updates) {
        ranks += (update.a.rows + 7) / 8 * 8;
        if (reinterpret_cast<uintptr_t>(update.a.data) % 16 != 0) {
            return false;
        }
    }
    return ranks <= ProductArgs::kMaxUpdateRanks;
}

} // namespace

bool isFusible(const LayerRecipe& recipe, bool has_experts) {
    const auto is_known = [has_experts](const Branch& branch) {
        switch (branch.body) {
        case BranchBody::Attention:
        case BranchBody::Mlp:
        case BranchBody::PerLayerInput:
            return branch.weight == 1.0;
        case BranchBody::MlpWithExperts:
            return has_experts && branch.weight == 1.0;
        case BranchBody::FeedForward:
        case BranchBody::RelativeAttention:
        case BranchBody::Convolution:
            return false;
        }
        return false;
    };
    return std::all_of(recipe.branches.begin(), recipe.branches.end(), is_known);
}

bool isFusible(const Linear& linear, const DeviceScratch& home, const ComputeContext& context) {
    std::vector<kernels::ProjectLora> updates;
    return linear.weight != WeightSource::kAbsent && linear.device == home.id() &&
           updatesOf(linear, context, updates);
}

bool areFusible(std::initializer_list<const Linear*> linears,
                const DeviceScratch& home,
                const ComputeContext& context) {
    return std::all_of(linears.begin(), linears.end(),
                       [&](const Linear* linear) { return isFusible(*linear, home, context); });
}

namespace {

Result<int> runParts(ComputeContext& context,
                     DeviceScratch& home,
                     const RowProduct& product,
                     std::span<const RowProduct::Part> parts) {
    ProductArgs args;
    args.output = product.output;
    args.activation = product.activation;
    args.x = product.x;
    args.rows = product.rows;
    args.multiply = product.multiply;
    args.parts = product.parts;
    args.count = static_cast<int>(parts.size());
    WeightSource& weights = context.weights();
    std::vector<kernels::ProjectLora> updates;
    for (size_t i = 0; i < parts.size(); ++i) {
        const Linear& linear = *parts[i].linear;
        if (!updatesOf(linear, context, updates)) {
            return Error{ErrorCode::Internal,
                         linear.name + ": its adapters do not run inside a product"};
        }
        for (kernels::ProjectLora& update : updates) {
            update.weight = static_cast<int>(i);
            args.updates[args.update_count++] = update;
        }
    }
    for (size_t i = 0; i < parts.size(); ++i) {
        const Linear& linear = *parts[i].linear;
        args.y[i] = parts[i].y;
        if (linear.has_input_clip) {
            args.bounds[i].in_low = linear.input_min;
            args.bounds[i].in_high = linear.input_max;
        }
        if (linear.has_output_clip) {
            args.bounds[i].out_low = linear.output_min;
            args.bounds[i].out_high = linear.output_max;
        }
        ENGINE_ASSIGN(args.w[i], weights.acquire(linear.weight));
    }
    const kernels::Status status = home.ops().product(home.queue(), args);
    for (const RowProduct::Part& part : parts) {
        weights.release(part.linear->weight);
    }
    ENGINE_TRY(checkStatus(status, "linear", parts.front().linear->name));
    return args.parts;
}

} // namespace

Result<int> runProducts(ComputeContext& context,
                        DeviceScratch& home,
                        const RowProduct& product,
                        std::span<const RowProduct::Part> all) {
    const bool is_resident = std::all_of(all.begin(), all.end(), [&](const RowProduct::Part& part) {
        return context.weights().residentOn(part.linear->weight, home.id()).has_value();
    });
    if (is_resident || all.size() < 3) {
        return runParts(context, home, product, all);
    }
    // Weights that come and go: only two at a time are sure to be there. One part of k each, so
    // that one reader takes all results alike.
    RowProduct one = product;
    one.parts = 1;
    ENGINE_TRY(runParts(context, home, one, all.first(2)));
    return runParts(context, home, one, all.subspan(2));
}

} // namespace engine
