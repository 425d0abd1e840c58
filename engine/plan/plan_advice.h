// SPDX-License-Identifier: Apache-2.0
// The answer to "it does not fit" (DM09): who takes how much, and what to do about it, each step
// with the bytes it frees and what it costs.
#pragma once

#include "engine/plan/plan_transfers.h"
#include "engine/plan/planner.h"

#include <string>
#include <vector>

namespace engine {

/// What one device holds, largest first; decoder layers as one item.
/// A part with the bytes it takes.
struct PartShare {
    PlanPart part;
    uint64_t bytes = 0;
    std::optional<DeviceId> device = {}; ///< For a list over several devices.
};

std::vector<PartShare>
contributors(const PlacementPlan& plan, const DevicePlan& device, const PlanParts& parts);

/// device needs more than `bound`, which is its limit.
PlanIssue overLimit(const PlacementPlan& plan,
                    const DevicePlan& device,
                    const MemoryBound& bound,
                    const PlanParts& parts,
                    Format quant,
                    Format head);

/// Bytes of cpu and simulated GPUs together: what the host's memory holds.
uint64_t hostNeed(const PlacementPlan& plan);
/// hostNeed() is more than `bound`.
PlanIssue overHost(const PlacementPlan& plan,
                   const MemoryBound& bound,
                   const PlanParts& parts,
                   Format quant,
                   Format head);

/// makePlan() up to the bytes per device: no transfers, estimates, modules, limits or text.
/// For who asks often: names of the request's tensors, may be nullptr; rows of a former plan, whose
/// memory is used again.
PlacementPlan planBytes(const PlanRequest& request,
                        const KnownNames* names = nullptr,
                        std::vector<TensorPlacement> rows = {});

} // namespace engine
