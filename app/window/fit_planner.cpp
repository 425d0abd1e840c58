// SPDX-License-Identifier: Apache-2.0
#include "app/window/fit_planner.h"

#include <algorithm>
#include <utility>

namespace app {

namespace {

bool isMemory(const engine::PlacementPlan& plan, engine::DeviceId id) {
    const bool has_gpu = std::any_of(plan.devices.begin(), plan.devices.end(),
                                     [](const engine::DevicePlan& one) { return one.id.isGpu(); });
    return has_gpu ? id.isGpu() : id == engine::DeviceId::cpu();
}

/// Weights that lie elsewhere than on the cards, or in the memory of a computer without one.
uint64_t bytesElsewhere(const engine::PlacementPlan& plan) {
    uint64_t bytes = 0;
    for (const engine::TensorPlacement& tensor : plan.tensors) {
        bytes += isMemory(plan, tensor.store) ? 0 : tensor.bytes;
    }
    return bytes;
}

void fillMemory(const engine::PlacementPlan& plan, ui::FitPoint& point) {
    point.parts = {};
    point.limit = 0;
    for (const engine::DevicePlan& device : plan.devices) {
        if (!isMemory(plan, device.id)) {
            continue;
        }
        point.has_gpu = device.id.isGpu();
        point.limit += device.limit;
        for (const engine::MemoryPart part : engine::kMemoryParts) {
            point.parts[part] += device.parts[part];
        }
    }
}

} // namespace

engine::Result<ui::FitPoint> fitPoint(engine::Engine& engine,
                                      engine::LoadRequest request,
                                      const std::map<engine::DeviceId, uint64_t>& held) {
    ui::FitPoint point;
    request.device_map.clear();
    ENGINE_ASSIGN(const engine::PlacementPlan whole, engine.plan(request, held));
    for (const engine::PlanIssue& issue : whole.errors) {
        if (issue.code != "DM09") { // not the lack of memory
            engine::Error error;
            error.code = engine::ErrorCode::InvalidRequest;
            error.say(issue.words);
            return error;
        }
    }
    point.context = whole.context;
    fillMemory(whole, point);
    if (whole.fits) {
        point.state = ui::FitPoint::State::Fits;
        point.tokens_per_s = whole.estimate.decode_tokens_per_s;
        return point;
    }
    request.device_map = "fit";
    ENGINE_ASSIGN(const engine::PlacementPlan fitted, engine.plan(request, held));
    if (fitted.fits) {
        point.elsewhere = bytesElsewhere(fitted);
        point.state =
            point.elsewhere == 0 ? ui::FitPoint::State::Fits : ui::FitPoint::State::Partly;
        point.tokens_per_s = fitted.estimate.decode_tokens_per_s;
        if (point.elsewhere == 0) {
            fillMemory(fitted, point); // divided among several cards
        }
    }
    return point;
}

} // namespace app
