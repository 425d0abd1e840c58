// SPDX-License-Identifier: Apache-2.0
// Routed experts beside a dense MLP (26B-A4B). Formula: ARCHITECTURE.md of the family, experts.
#pragma once

#include "engine/forward/bound_model.h"

namespace engine {

/// x [rows, hidden]: what the layer's MLP branch reads, before its norm. `dense` [rows, hidden]
/// holds the dense MLP's output and receives the sum of both, each behind its own norm.
Result<void> addExperts(const BoundModel& model,
                        const DecoderLayer& layer,
                        kernels::MutF32 x,
                        kernels::MutF32 dense);

} // namespace engine
