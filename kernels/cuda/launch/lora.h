// SPDX-License-Identifier: Apache-2.0
// Low-rank updates as launches of their own (kernels/ops.h, lora_accumulate and the same for all).
#pragma once

#include "kernels/ops.h"

namespace kernels::cuda {

Status loraAccumulate(Queue q,
                      MatF32 x,
                      MatView a,
                      MatView b,
                      MatView b_bias,
                      float scaling,
                      MutF32 scratch,
                      MutF32 y);
Status loraAccumulateAll(
    Queue q, MatF32 x, const LoraTerm* terms, int64_t count, MutF32 scratch, MutF32 y);

} // namespace kernels::cuda
