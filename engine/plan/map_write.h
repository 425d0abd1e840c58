// SPDX-License-Identifier: Apache-2.0
// Device maps as text: the native version 1 document, and what accelerate understands of a plan.
#pragma once

#include "engine/api/map_export.h"
#include "engine/api/placement.h"
#include "engine/families/tensor_list.h"
#include "engine/plan/device_map.h"
#include "engine/plan/map_resolve.h"

#include <string>
#include <vector>

namespace engine {

/// The native document: two spaces of indentation, one key per line, in the order of the map.
/// A map of the imported form is written in its translation.
std::string writeDeviceMap(const DeviceMap& map);

/// A small native map that resolves like `map` does: places move up to the parent they have in
/// common, runs of equal layers become ranges, keys without effect and aliases go; residency and
/// pin stay with the parts that the map gives them to, so that both maps mean the same when a place
/// changes. Limits, reserve, kv, adapter, model and notes are kept. `map` must resolve without
/// errors (else it comes back in native form, otherwise unchanged).
DeviceMap canonicalMap(const DeviceMap& map, const ResolveInput& input);

/// The devices that the plan needs more of than it may use; every export of such a plan says so. A
/// plan with any other error is not one to export.
std::vector<Sentence> shortages(const PlacementPlan& plan);

/// JSON dictionary in accelerate's form (importable again). Integers for cuda, "cpu", "disk".
MapExport exportAccelerate(const PlacementPlan& plan, const std::vector<ExpectedTensor>& tensors);

} // namespace engine
