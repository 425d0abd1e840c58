// SPDX-License-Identifier: Apache-2.0
// Quantization of loaded values (kernels/ops.h, QuantizeArgs).
#pragma once

#include "kernels/ops.h"

namespace kernels::cuda {

Status quantize(Queue q, const QuantizeArgs& args);

} // namespace kernels::cuda
