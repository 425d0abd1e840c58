// SPDX-License-Identifier: Apache-2.0
#include "engine/run/memory_budget.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace engine {

namespace {

/// The loaded placement as a request for the same devices, which nobody has to ask.
LoadRequest
samePlacement(const LoadRequest& request, const PlacementPlan& plan, uint64_t free_ram) {
    LoadRequest same = request;
    same.device_map = plan.map_text;
    same.moves.clear();
    same.sim_gpus.clear();
    same.limits.clear();
    same.what_if.clear();
    same.context = plan.context;
    same.prefill_chunk = plan.prefill_chunk;
    for (const DevicePlan& device : plan.devices) {
        if (device.id == DeviceId::disk()) {
            continue;
        }
        WhatIfDevice& there = same.what_if.emplace_back();
        there.id = device.id;
        there.description = device.description;
        there.capacity = device.capacity;
        there.free = device.id == DeviceId::cpu()
                         ? std::min(device.capacity, free_ram + device.parts.total())
                         : device.capacity;
    }
    return same;
}

/// The problem of the card in a plan; nullptr: it has none.
const PlanIssue* shortage(const PlacementPlan& plan, DeviceId card) {
    for (const PlanIssue& issue : plan.errors) {
        if (issue.excess.has_value() && !issue.excess->is_host && issue.excess->device == card) {
            return &issue;
        }
    }
    return nullptr;
}

/// A step that only moves parts: what the user can do with a hand on the layout.
std::vector<Repair> movesOf(const PlanIssue& issue) {
    std::vector<Repair> steps;
    for (const Suggestion& suggestion : issue.suggestions) {
        const std::optional<Repair>& step = suggestion.repair;
        if (step.has_value() && !step->moves.empty() && !step->moves.back().is_tied_copy) {
            steps.push_back(*step);
        }
    }
    return steps;
}

bool isEnough(LoadRequest request,
              const std::vector<Repair>& steps,
              DeviceId card,
              const PlanFor& plan_for) {
    for (const Repair& step : steps) {
        request.moves.insert(request.moves.end(), step.moves.begin(), step.moves.end());
    }
    const std::optional<PlacementPlan> plan = plan_for(request);
    return plan.has_value() && shortage(*plan, card) == nullptr;
}

} // namespace

void adviseOnBudget(const LoadRequest& request,
                    const PlacementPlan& plan,
                    DeviceId card,
                    uint64_t free_ram,
                    const PlanFor& plan_for,
                    MemoryBudget& budget) {
    LoadRequest same = samePlacement(request, plan, free_ram);
    const std::optional<PlacementPlan> now = plan_for(same);
    if (!now.has_value()) {
        return;
    }
    const auto there = std::find_if(now->devices.begin(), now->devices.end(),
                                    [card](const DevicePlan& d) { return d.id == card; });
    if (there == now->devices.end()) {
        return;
    }
    const uint64_t holds = there->parts.total();
    same.limits.emplace_back(card.toString(), holds - std::min(holds, budget.must_go));
    const std::optional<PlacementPlan> less = plan_for(same);
    const PlanIssue* problem = less.has_value() ? shortage(*less, card) : nullptr;
    if (problem == nullptr) {
        return;
    }
    std::vector<Repair> steps = movesOf(*problem);
    const auto alone =
        std::find_if(steps.begin(), steps.end(), [](const Repair& step) { return step.is_enough; });
    if (alone != steps.end()) {
        budget.advice = {*alone};
        budget.is_advice_enough = true;
        return;
    }
    // Two whose sum may do, the cheapest first; their own plan tells whether it does.
    for (size_t i = 0; i < steps.size(); ++i) {
        for (size_t j = i + 1; j < steps.size(); ++j) {
            if (steps[i].frees + steps[j].frees >= budget.must_go &&
                isEnough(same, {steps[i], steps[j]}, card, plan_for)) {
                budget.advice = {steps[i], steps[j]};
                budget.is_advice_enough = true;
                return;
            }
        }
    }
    // Nothing is: the two that free most.
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Repair& a, const Repair& b) { return a.frees > b.frees; });
    steps.resize(std::min<size_t>(steps.size(), 2));
    budget.advice = std::move(steps);
}

} // namespace engine
