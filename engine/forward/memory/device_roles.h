// SPDX-License-Identifier: Apache-2.0
// What each device does in a placement, and the bytes that follow from it: where components and
// caches are, and what of scratch and KV the planner shows and the model allocates.
#pragma once

#include "engine/api/placement.h"
#include "engine/forward/memory/workspace.h"
#include "engine/model/model_config.h"
#include "engine/model/tensor_entry.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace engine {

/// Whole components that one device computes, as far as its scratch depends on them.
struct DeviceDuties {
    enum class Tower : uint8_t { None = 0, Resident, Visiting }; ///< Visiting: stored elsewhere.
    int layers = 0;                                              ///< Decoder layers.
    bool has_head = false;
    bool has_ple_projection = false;
    Tower vision = Tower::None; ///< With its projector.
    Tower audio = Tower::None;
    bool has_experts = false; ///< Routed experts of layers that compute elsewhere.
};

/// Scratch of devices that compute whole components, without the rows of a plan: what
/// workspaceBytes() says of a plan that puts them so. Built once per model; answers in
/// microseconds.
class DutyScratch {
public:
    DutyScratch(const ModelConfig& config, const std::vector<ExpectedTensor>& tensors);
    [[nodiscard]] uint64_t
    bytes(const RunShape& shape, DeviceId::Kind kind, const DeviceDuties& duties) const;

private:
    ModelConfig config_;
    int64_t layer_floats_ = 0; ///< Small vectors kept as fp32, of the layer that has most.
    int64_t vision_floats_ = 0, vision_visit_floats_ = 0;
    int64_t audio_floats_ = 0, audio_visit_floats_ = 0;
};

/// Rows of a plan by tensor name (a plan has thousands of rows; the views live as long as it).
class PlanIndex {
public:
    explicit PlanIndex(const PlacementPlan& plan);
    [[nodiscard]] const TensorPlacement* find(std::string_view tensor) const;

private:
    // Open addressing: built for every step of advice, where nodes of a map took longer than all
    // look-ups.
    std::vector<const TensorPlacement*> slots_; ///< A power of two of them, at most half in use.
};

/// Roles of all devices that compute something in this plan (tensor rows must be resolved).
std::map<DeviceId, DeviceRole> deviceRoles(const ModelConfig& config, const PlacementPlan& plan);
/// The same with listTensors(config), for who asks often.
std::map<DeviceId, DeviceRole> deviceRoles(const ModelConfig& config,
                                           const PlacementPlan& plan,
                                           const std::vector<ExpectedTensor>& tensors);

/// Where whole components compute: that of the tensor that reads a component's input (a layer's
/// queries, a tower's patches, ...).
struct ComponentDevices {
    DeviceId vision, audio, head, ple_projection, assistant;
    std::vector<DeviceId> layers;
    /// The device whose kernels read this small vector: its layer's, its tower's, the head's.
    [[nodiscard]] DeviceId consumerOf(const ExpectedTensor& tensor) const;
};
ComponentDevices componentDevices(const ModelConfig& config, const PlacementPlan& plan);
ComponentDevices componentDevices(const ModelConfig& config,
                                  const PlacementPlan& plan,
                                  const std::vector<ExpectedTensor>& tensors);

/// True when the vector needs a copy of its own on the consumer's device (elsewhere, or its bytes
/// come and go).
bool needsMirror(const TensorPlacement& row, const DeviceId& consumer);

/// The row whose device runs the assistant; nullptr where there is none.
const TensorPlacement* assistantRow(const ModelConfig& config, const PlacementPlan& plan);

/// Device that holds the KV of an owner layer, and the devices that need a mirror of it because a
/// KV-shared reader or the assistant computes there.
struct KvHome {
    DeviceId device;
    std::vector<DeviceId> mirrors;
};
std::vector<KvHome> kvHomes(const ModelConfig& config, const PlacementPlan& plan);

/// Predicted workspace and KV bytes per device: what the planner shows and the model allocates.
std::map<DeviceId, uint64_t> workspaceBytes(const ModelConfig& config, const PlacementPlan& plan);
/// The same with listTensors(config), for who asks often.
std::map<DeviceId, uint64_t> workspaceBytes(const ModelConfig& config,
                                            const PlacementPlan& plan,
                                            const std::vector<ExpectedTensor>& tensors);
std::map<DeviceId, uint64_t> kvBytesPerDevice(const ModelConfig& config, const PlacementPlan& plan);
/// Bytes of one token's K and V of a layer.
uint64_t kvTokenBytes(const ModelConfig& config, const PlacementPlan& plan, int layer);
/// The shape that a plan implies.
RunShape runShape(const ModelConfig& config, const PlacementPlan& plan);

} // namespace engine
