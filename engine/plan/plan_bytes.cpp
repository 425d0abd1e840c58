// SPDX-License-Identifier: Apache-2.0
// The byte rules that planner and loader share: what each device holds of the weights.
#include "engine/plan/map_keys.h"
#include "engine/plan/planner.h"

#include <algorithm>
#include <cstdio>

namespace engine {

namespace {

constexpr std::string_view kPerLayerTable = "model.language_model.embed_tokens_per_layer.weight";
constexpr std::string_view kTable = "model.language_model.embed_tokens.weight";
constexpr std::string_view kHead = "lm_head.weight";

bool isGatherOnlyName(std::string_view tensor, bool has_own_head) {
    return tensor == kPerLayerTable || (tensor == kTable && has_own_head);
}

} // namespace

std::string_view visitGroup(std::string_view tensor) {
    if (isAtOrBelow(tensor, "model.vision_tower") || isAtOrBelow(tensor, "model.embed_vision")) {
        return "vision";
    }
    if (isAtOrBelow(tensor, "model.audio_tower") || isAtOrBelow(tensor, "model.embed_audio")) {
        return "audio";
    }
    return "language";
}

bool isGatherOnly(const PlacementPlan& plan, std::string_view tensor) {
    return isGatherOnlyName(tensor, tensor == kTable && plan.find(std::string(kHead)) != nullptr);
}

std::map<DeviceId, StagingBytes> stagingBytes(const PlacementPlan& plan) {
    // A separate head is the last row, see Resolution; older plans may have it anywhere.
    const bool has_own_head = plan.find(std::string(kHead)) != nullptr;
    std::map<DeviceId, StagingBytes> staging;
    std::map<std::pair<DeviceId, std::string_view>, uint64_t> groups;
    for (const TensorPlacement& row : plan.tensors) {
        if (row.store == row.compute) {
            continue;
        }
        if (row.residency == Residency::Stream && !isGatherOnlyName(row.tensor, has_own_head)) {
            uint64_t& stream = staging[row.compute].stream;
            stream = std::max(stream, 2 * row.bytes);
        } else if (row.residency == Residency::OnUse) {
            groups[{row.compute, visitGroup(row.tensor)}] += row.bytes;
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

std::string formatByteCount(uint64_t bytes) {
    static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    int unit = 0;
    while (value >= 1024.0 && unit < 4) {
        value /= 1024.0;
        ++unit;
    }
    char text[48];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
    return text;
}

} // namespace engine
