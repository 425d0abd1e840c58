// SPDX-License-Identifier: Apache-2.0
// Time estimates of a plan from machine constants, by the formulas of PLANNER.md: bytes over
// bandwidth for decode, arithmetic over rate for prefill and towers, plus fixed costs per layer
// and per change of device. For display and for choosing between plans; never exact.
#pragma once

#include "engine/plan/planner.h"

#include <map>
#include <vector>

namespace engine {

/// Rates with defaults filled in.
DeviceRates ratesOf(const DeviceInfo* device, DeviceId id);

/// Share of a device's bandwidth that the kernels reach (the rest is in layer_overhead_s).
/// has_blocks: weights are blocks of a GGUF file, which take a processor more arithmetic.
double bandwidthShare(DeviceId device, bool has_blocks = false);

/// Share of the routed experts that one token reads.
double activeExperts(const TextConfig& text);

struct SpeedInput {
    const ModelConfig* config = nullptr;
    const std::vector<ExpectedTensor>* tensors = nullptr;
    const Resolution* resolution = nullptr; ///< Rows of the plan, in the same order.
    const std::vector<DeviceInfo>* devices = nullptr;
};

/// To read a row that is stored on disk once, and to convert it where it has to be.
double diskSeconds(const TensorPlacement& row, const DeviceRates& disk);
SpeedEstimate estimateSpeed(const PlacementPlan& plan, const SpeedInput& input);

/// Arithmetic of one image (2 * multiplications) at a soft-token budget, and of one second of
/// audio (25 soft tokens), without the weights' travel. 0 without the tower.
double imageFlops(const ModelConfig& config, int64_t image_tokens);
double audioFlopsPerSecond(const ModelConfig& config);
/// Share of `flops` that products of prompts reach on a device.
double productShare(DeviceId device);
/// Share of `flops` that towers reach on a device.
double towerShare(DeviceId device);
/// Seconds of an image, or of a recording, beside the tower's arithmetic on that device.
double towerFixedSeconds(DeviceId device, bool is_image);

} // namespace engine
