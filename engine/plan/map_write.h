// SPDX-License-Identifier: Apache-2.0
// Device maps as text: the native version 1 document, and what other programs understand of a
// plan (accelerate's dictionary, llama.cpp's options, a Python snippet).
#pragma once

#include "engine/api/export_loss.h"
#include "engine/api/placement.h"
#include "engine/families/tensor_list.h"
#include "engine/plan/device_map.h"
#include "engine/plan/map_resolve.h"

#include <string>
#include <string_view>
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

/// A text for another program and what it cannot express.
struct ExportedText {
    std::string text;
    std::vector<ExportLoss> losses; ///< What the other program does differently.
};

/// The devices that the plan needs more of than it may use; every export of such a plan says so. A
/// plan with any other error is not one to export.
std::vector<ExportLoss> shortages(const PlacementPlan& plan);

/// JSON dictionary in accelerate's form (importable again). Integers for cuda, "cpu", "disk".
ExportedText exportAccelerate(const PlacementPlan& plan,
                              const std::vector<ExpectedTensor>& tensors);
/// Command-line options of llama.cpp's programs, one line, with comments on what is not
/// expressible.
ExportedText exportLlamaCpp(const PlacementPlan& plan, const std::vector<ExpectedTensor>& tensors);
/// A Python text that loads the model with transformers and this map.
ExportedText exportPython(const PlacementPlan& plan,
                          const std::vector<ExpectedTensor>& tensors,
                          std::string_view model_path);

} // namespace engine
