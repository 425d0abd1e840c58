// SPDX-License-Identifier: Apache-2.0
// What a card can be expected to reach, from what its driver tells of it. For the estimates that
// are shown before anything has run; nothing is measured here.
#pragma once

#include "engine/plan/planner.h"
#include "kernels/cuda/cards.h"

namespace engine {

/// Rates that cannot be told stay 0 (the planner's defaults then count).
DeviceRates estimatedRates(const kernels::cuda::Card& card);

} // namespace engine
