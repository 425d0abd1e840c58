// SPDX-License-Identifier: Apache-2.0
// From a load request to a plan request: option words, device list, limits, adapter bytes, and the
// memory rules of the model (engine/forward/memory/device_roles.h) handed to the planner.
#pragma once

#include "engine/api/load_request.h"
#include "engine/api/snapshot.h"
#include "engine/base/result.h"
#include "engine/devices/gpu_access.h"
#include "engine/lora/adapter.h"
#include "engine/plan/planner.h"
#include "engine/run/opened_model.h"

#include <string>
#include <vector>

namespace engine {

/// Devices of this machine for a request (cpu, graphics cards, simulated GPUs), or the assumed
/// ones of request.what_if. With simulated GPUs the presets mean those: real cards are then listed
/// only when the map names one.
std::vector<DeviceInfo> machineDevices(const LoadRequest& request, const GpuAccess& gpus);
/// Whether somebody wants to know why a card is not among them: not of another computer, nor beside
/// simulated GPUs unless the map names a card, nor where everything is to be on the CPU.
bool asksForCards(const LoadRequest& request);

/// Errors: InvalidRequest (unknown option words, limits of unknown devices), device-map syntax
/// (DM01, DM11 as details.code).
Result<PlanRequest> planRequest(const LoadRequest& request,
                                const OpenedModel& opened,
                                const std::vector<DeviceInfo>& devices,
                                const std::vector<AdapterFootprint>& adapters);

/// What the model allocates as workspace and cache, as functions of the request that planner and
/// `fit` ask; by config and tensors as they are now.
void setMemoryRules(PlanRequest& plan);

/// Main memory that other programs use, bytes; 0 = not known.
uint64_t otherProgramsRam();
/// Memory of this machine's devices while the engine holds nothing there: size, and what other
/// programs use. Opens no card; a card whose use the system does not tell is left out.
std::vector<DeviceMemory> machineMemory(const GpuAccess& gpus);

/// The map of a plan in its smallest form; a map with errors comes back as it is.
std::string smallMapText(const PlanRequest& request, const std::string& map_text);

/// One problem with its place in the map text and what to do about it.
std::string describe(const PlanIssue& issue);

/// The error of a plan that cannot be loaded: its problems, a line each, and each in details.
Error planError(const PlacementPlan& plan);

} // namespace engine
