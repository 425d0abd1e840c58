// SPDX-License-Identifier: Apache-2.0
// A step that the planner suggests where a plan does not fit, made in the request: what the
// sentence beside a button says is what the button does.
#pragma once

#include "engine/api/load_request.h"

namespace ui {

engine::LoadRequest repaired(engine::LoadRequest request, const engine::Repair& repair);

} // namespace ui
