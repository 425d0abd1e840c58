// SPDX-License-Identifier: Apache-2.0
// Decode steps collected for one launch (kernels/ops.h, begin_steps).
#pragma once

#include "kernels/cuda/device/args.h"
#include "kernels/cuda/stream.h"
#include "kernels/ops.h"

namespace kernels::cuda {

Status beginSteps(Queue q);
Status endSteps(Queue q);

/// Adds a projection; `outputs` as ProjectPlan. Unsupported: launch it by itself, nothing was
/// added.
Status collectProject(Stream& s, ProjectKernelArgs args, int64_t outputs);
/// collectProject() would add it: one part of its outputs a multiprocessor.
bool canCollect(const Stream& s, ProjectKernelArgs args, int64_t outputs);
/// Adds an attention step. Unsupported: as above.
Status collectAttend(Stream& s, AttendStepKernelArgs args);

} // namespace kernels::cuda
