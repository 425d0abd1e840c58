// SPDX-License-Identifier: Apache-2.0
// The kernel tables of a CUDA device. Queue::context is a cuda::Stream.
#pragma once

#include "kernels/ops.h"

namespace kernels::cuda {

/// "cuda", or "cuda-f32" for reference precision: fp32 products of exactly expanded weights, no
/// tensor cores. Which one runs is decided by Stream::is_reference; the tables differ in name.
const OpTable& cudaOps(bool is_reference);

} // namespace kernels::cuda
