// SPDX-License-Identifier: Apache-2.0
// Decode steps collected for one launch (kernels/ops.h, begin_steps).
#pragma once

#include "kernels/cuda/device/common/args.h"
#include "kernels/cuda/launch_sizes.h"
#include "kernels/cuda/stream.h"
#include "kernels/ops.h"

namespace kernels::cuda {

Status beginSteps(Queue q);
Status continueSteps(Queue q);
Status beginSideSteps(Queue q);
Status endSteps(Queue q);

/// Steps that the list being collected may have, those launched already included.
size_t mostSteps(const TokenSteps& steps);

/// The list is for stream_async.cu and its forms, not for stream.cu and its own.
bool isAsync(const Stream& s);
/// Steps of one token (stream_steps.cpp). Unsupported: nothing was added or launched.
Status streamProject(Stream& s, ProjectKernelArgs args, int64_t outputs);
Status streamAttend(Stream& s, AttendStepKernelArgs args);
/// Before the collected steps go to the device: where in shared memory each has the operands of its
/// updates, and when they are asked for.
void placeStreamUnits(Stream& s);
/// Once the steps are on the device: makes plans of their updates for every block, on s.upload.
Status streamUnitSizes(Stream& s, CuPointer list, size_t count);
/// Launches the steps, which are on the device.
Status launchStream(Stream& s, CuPointer list, int count, CuPointer trace);

// Steps of a few rows (stream_rows.cpp). Unsupported: nothing was added, and no other form does it.
Status beginRows(Queue q, const int32_t* count);
void dropRows(Queue q);
Status rowsProject(Stream& s, ProjectKernelArgs args, int64_t outputs);
Status rowsAttend(Stream& s, AttendStepKernelArgs args);
Status launchRows(Stream& s, CuPointer list, int count, CuPointer trace);

/// Adds a projection; `outputs` as ProjectSizes. Unsupported: launch it by itself, nothing was
/// added.
Status collectProject(Stream& s, ProjectKernelArgs args, int64_t outputs);
/// collectProject() would add it; nothing is added or launched.
bool wouldCollect(Stream& s, const ProjectKernelArgs& args, int64_t outputs);
/// Adds an attention step. Unsupported: as above.
Status collectAttend(Stream& s, AttendStepKernelArgs args);

} // namespace kernels::cuda
