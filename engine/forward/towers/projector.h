// SPDX-License-Identifier: Apache-2.0
// From a tower's rows to the decoder's: the norm in front of a projector and the projector itself,
// wherever its weight computes. What passes between the two halves goes through the host, so that
// a tower may run on a thread of its own.
#pragma once

#include "engine/forward/bound_model.h"

#include <span>
#include <vector>

namespace engine {

/// rms(rows), in place, and its result in host memory.
Result<std::vector<float>>
normedOnHost(DeviceScratch& home, kernels::MutF32 rows, double eps, const std::string& name);

/// W in, both on `where`: features [in.rows, projector.out] in host memory.
Result<std::vector<float>> projected(const BoundModel& model,
                                     const Linear& projector,
                                     DeviceScratch& where,
                                     kernels::MutF32 in,
                                     Buffer out_buffer);

/// W tower for rows [*, projector.in] in host memory.
Result<std::vector<float>> projectedFromHost(const BoundModel& model,
                                             const Linear& projector,
                                             std::span<const float> tower,
                                             Buffer in_buffer,
                                             Buffer out_buffer);

} // namespace engine
