// SPDX-License-Identifier: Apache-2.0
#include "engine/gemma4/row_steps.h"

#include <algorithm>
#include <span>

namespace engine {

bool isFusible(const Linear& linear, const DeviceScratch& home) {
    return linear.weight != WeightSource::kAbsent && linear.adapter == AdapterHook::kNone &&
           linear.device == home.id();
}

bool areFusible(std::initializer_list<const Linear*> linears, const DeviceScratch& home) {
    return std::all_of(linears.begin(), linears.end(),
                       [&home](const Linear* linear) { return isFusible(*linear, home); });
}

namespace {

Result<int> runParts(ComputeContext& context,
                     DeviceScratch& home,
                     const RowProduct& product,
                     std::span<const RowProduct::Part> parts) {
    kernels::ProductArgs args;
    args.output = product.output;
    args.x = product.x;
    args.rows = product.rows;
    args.multiply = product.multiply;
    args.parts = product.parts;
    args.count = static_cast<int>(parts.size());
    WeightSource& weights = context.weights();
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
