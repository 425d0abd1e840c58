// SPDX-License-Identifier: Apache-2.0
// What of a placement has to leave a card whose budget of the system is used up: at most two moves
// that the planner proposes where memory is short.
#pragma once

#include "engine/api/load_request.h"
#include "engine/api/snapshot.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace engine {

/// Makes the plan for a request; nothing where that fails.
using PlanFor = std::function<std::optional<PlacementPlan>(const LoadRequest& request)>;

/// Fills advice and is_advice_enough of `budget`. `request` is what was loaded and `plan` what came
/// of it; plans are made for the same devices, taken to be empty but for main memory, of which
/// `free_ram` bytes are free beside what the plan has there.
void adviseOnBudget(const LoadRequest& request,
                    const PlacementPlan& plan,
                    DeviceId card,
                    uint64_t free_ram,
                    const PlanFor& plan_for,
                    MemoryBudget& budget);

} // namespace engine
