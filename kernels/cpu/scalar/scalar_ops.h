// SPDX-License-Identifier: Apache-2.0
// The functions of the reference table; what each computes stands in kernels/ops.h. Sums are kept
// in double and rounded once, so that the reference's own error is negligible. Work is spread over
// independent outputs only: the result does not depend on the number of threads.
#pragma once

#include "kernels/cpu/thread_pool.h"
#include "kernels/ops.h"

namespace kernels::cpu::scalar {

Status linear(Queue q, MatF32 x, WeightView w, MutF32 y);
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
Status rmsNorm(Queue q, MatF32 x, MatView weight, float eps, MutF32 y);
Status rmsNormAdd(Queue q, MatF32 x, MatView weight, float eps, float alpha, MutF32 residual);
Status rope(Queue q,
            MutF32 x,
            int64_t head_dim,
            int64_t offset,
            int64_t dim,
            const int32_t* position,
            const float* inv_freq);
Status attention(Queue q, const AttentionArgs& args);
Status audioAttention(Queue q, const AudioAttentionArgs& args);
Status subsampleConv(Queue q, const SubsampleConvArgs& args);
Status gatedMul(Queue q, Activation activation, MatF32 gate, MatF32 up, MutF32 y);
Status sigmoidMul(Queue q, MatF32 x, MatF32 gate, MutF32 y);
Status causalConv1d(Queue q, MatF32 x, const float* w, int64_t taps, MutF32 y);
Status clamp(Queue q, MatF32 x, float lo, float hi, MutF32 y);
Status addScaled(Queue q, MatF32 x, float alpha, MutF32 y);
Status scale(Queue q, MutF32 x, float s);
Status scaleColumns(Queue q, MutF32 x, const float* s);
Status addColumns(Queue q, MutF32 x, const float* b);
Status softCap(Queue q, MutF32 x, float cap);
Status gatherRows(Queue q,
                  WeightView table,
                  const int32_t* ids,
                  int64_t count,
                  int64_t col_offset,
                  float scale_factor,
                  MutF32 y);
Status storeRows(Queue q,
                 MatF32 src,
                 const int32_t* slot,
                 KvType type,
                 int64_t heads,
                 void* dst,
                 int64_t capacity);

} // namespace kernels::cpu::scalar
