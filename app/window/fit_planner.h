// SPDX-License-Identifier: Apache-2.0
// One point of the page "What fits", by the planner that everything else asks: with everything on
// the cards, and where that has no room, what the placement `fit` makes of it.
#pragma once

#include "engine/base/result.h"
#include "engine/run/engine.h"
#include "ui/explore/fit_values.h"

#include <map>

namespace app {

/// `request` says all but the placement. Errors: those of Engine::plan(), and of a request that
/// breaks a rule, whatever the memory.
engine::Result<ui::FitPoint> fitPoint(engine::Engine& engine,
                                      engine::LoadRequest request,
                                      const std::map<engine::DeviceId, uint64_t>& held);

} // namespace app
