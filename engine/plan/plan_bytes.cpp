// SPDX-License-Identifier: Apache-2.0
// The byte rules that planner and loader share: what each device holds of the weights.
#include "engine/plan/planner.h"

#include <algorithm>
#include <cstdio>

namespace engine {

namespace {

bool isGatherOnlyPart(Part part, bool has_own_head) {
    return part.role == PartRole::PerLayerTable ||
           (part.role == PartRole::Embedding && has_own_head);
}

} // namespace

std::string_view visitGroup(Part part) {
    return isVision(part) ? "vision" : isAudio(part) ? "audio" : "language";
}

bool isGatherOnly(const PlacementPlan& plan, Part part) {
    return isGatherOnlyPart(part, part.role == PartRole::Embedding &&
                                      plan.find(Part{PartRole::Head}) != nullptr);
}

std::map<DeviceId, StagingBytes> stagingBytes(const PlacementPlan& plan) {
    // A separate head is the last row, see Resolution; older plans may have it anywhere.
    const bool has_own_head = plan.find(Part{PartRole::Head}) != nullptr;
    std::map<DeviceId, StagingBytes> staging;
    std::map<std::pair<DeviceId, std::string_view>, uint64_t> groups;
    for (const TensorPlacement& row : plan.tensors) {
        if (row.store == row.compute) {
            continue;
        }
        if (row.residency == Residency::Stream && !isGatherOnlyPart(row.part, has_own_head)) {
            uint64_t& stream = staging[row.compute].stream;
            stream = std::max(stream, 2 * row.bytes);
        } else if (row.residency == Residency::OnUse) {
            groups[{row.compute, visitGroup(row.part)}] += row.bytes;
        }
    }
    for (const auto& [key, bytes] : groups) {
        uint64_t& visit = staging[key.first].visit;
        visit = std::max(visit, bytes);
    }
    return staging;
}

std::map<DeviceId, uint64_t> weightBytes(const PlacementPlan& plan) {
    std::map<DeviceId, uint64_t> bytes;
    for (const TensorPlacement& row : plan.tensors) {
        if (row.store != DeviceId::disk()) {
            bytes[row.store] += row.bytes;
        }
        if (row.store != row.compute && row.residency == Residency::Always) {
            bytes[row.compute] += row.bytes;
        }
    }
    for (const auto& [device, staging] : stagingBytes(plan)) {
        bytes[device] += staging.total();
    }
    return bytes;
}

} // namespace engine
