// SPDX-License-Identifier: Apache-2.0
// Fills the weights of a BoundModel.
#pragma once

#include "engine/forward/bound_model.h"

namespace engine {

/// Binds every module to its weights and adapters, as model.plan places them; config, plan, devices
/// and context must be there. Again after any change of the adapter set's members.
/// Errors: InvalidFile (missing tensor, another size, not finite), device errors.
Result<void> bindModel(BoundModel& model);

} // namespace engine
