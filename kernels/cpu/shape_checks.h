// SPDX-License-Identifier: Apache-2.0
// The argument checks that every table makes before it touches memory. Out of line, so that files
// compiled for a newer instruction set share the portable code.
#pragma once

#include "kernels/ops.h"
#include "kernels/weight_formats.h"

namespace kernels::cpu {

bool isMatrix(const MatF32& matrix);
bool isSameShape(const MatF32& a, const MatF32& b);

Status checkLinear(const MatF32& x, const WeightView& w, const MatF32& y);
Status checkLora(const MatF32& x,
                 const MatView& a,
                 const MatView& b,
                 const MatView& b_bias,
                 const MatF32& scratch,
                 const MatF32& y);
/// lora_accumulate_all; `scratch` has room for all ranks side by side.
Status checkLoraTerms(
    const MatF32& x, const LoraTerm* terms, int64_t count, const MatF32& scratch, const MatF32& y);
Status checkNorm(const MatF32& x, const MatView& weight, const MatF32& y);
Status checkRope(const MatF32& x,
                 int64_t head_dim,
                 int64_t offset,
                 int64_t dim,
                 const int32_t* position,
                 const float* inv_freq);
Status checkAttention(const AttentionArgs& args);
Status checkAudioAttention(const AudioAttentionArgs& args);
Status checkSubsampleConv(const SubsampleConvArgs& args);
Status checkGather(const WeightView& table,
                   const int32_t* ids,
                   int64_t count,
                   int64_t col_offset,
                   const MatF32& y);
Status checkStore(
    const MatF32& src, const int32_t* slot, int64_t heads, const void* dst, int64_t capacity);

} // namespace kernels::cpu
