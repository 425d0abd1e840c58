// SPDX-License-Identifier: Apache-2.0
// What a plan moves between devices for every generated token, and the warnings about it (DM20,
// DM21). Rules: engine/plan/PLANNER.md, "Transfers".
#pragma once

#include "engine/plan/planner.h"

#include <cstdint>
#include <vector>

namespace engine {

/// What the parts of the planner work on together.
struct PlanParts {
    const PlanRequest* request = nullptr;
    const std::vector<ExpectedTensor>* tensors = nullptr;
    const Resolution* resolution = nullptr; ///< Rows in the order of plan.tensors.
    const DeviceMap* map = nullptr;
    std::vector<DeviceId> layer_device; ///< Per decoder layer: where its q_proj computes.
    const KnownNames* names = nullptr;  ///< Names of `tensors`.
};

/// Tensor of row `i`; nullptr for a separate head.
const ExpectedTensor* tensorOfRow(const PlanParts& parts, size_t i);

/// One more thing that travels for every token; nothing where `from` is `to`.
void addTransfer(PlacementPlan& plan, DeviceId from, DeviceId to, uint64_t bytes, Travel what);
/// Adds to plan.transfers_per_token what weights and layers need, and DM20 and DM21 to
/// plan.warnings. plan.tensors and plan.kv_device must be there.
void addTransfers(PlacementPlan& plan, const PlanParts& parts);

/// Owner layers whose KV a KV-shared reader on another device needs, with those devices.
struct KvMirror {
    int owner = 0;
    DeviceId device;
    std::vector<int> readers;
};
std::vector<KvMirror> kvMirrors(const ModelConfig& config, const PlacementPlan& plan);

/// Bytes of K and V of one owner layer on one device: the request's function, else the default.
uint64_t layerKvBytes(const PlanRequest& request, const PlacementPlan& plan, int layer);
/// Scratch per device: the request's function, else the default.
std::map<DeviceId, uint64_t> scratchBytes(const PlanRequest& request,
                                          const PlacementPlan& plan,
                                          const std::vector<DeviceId>& layer_device);
/// Bound of a device: free bytes or a lower limit, less the reserve.
MemoryBound boundOf(const PlanRequest& request, const DeviceMap& map, DeviceId id);
/// Bound of cpu and simulated GPUs together, since a simulated GPU's memory is main memory: the
/// free bytes of cpu less its reserve. By::Nothing when the size is not known.
MemoryBound hostBound(const PlanRequest& request, const DeviceMap& map);
/// Bytes of one resolved row in memory.
uint64_t
rowBytes(const PlanRequest& request, const ResolvedTensor& row, const ExpectedTensor& tensor);
/// The same where it is known how the files hold the tensor.
uint64_t rowBytes(const PlanRequest& request,
                  const ResolvedTensor& row,
                  const ExpectedTensor& tensor,
                  const StoredTensor& stored);
/// The context that a request and a map ask for, within what the model has positions for.
int64_t planContext(const PlanRequest& request, const DeviceMap& map);

} // namespace engine
