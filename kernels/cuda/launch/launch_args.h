// SPDX-License-Identifier: Apache-2.0
// What the launches of a CUDA table share: argument checks, arguments as the kernels take them.
#pragma once

#include "kernels/cuda/device/common/args.h"
#include "kernels/cuda/ops.h"
#include "kernels/cuda/stream.h"

#include <cstdint>

namespace kernels::cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr unsigned kProjectThreads = 512;
/// Up to this many rows, a weight is read once a row; more go through tensor cores.
inline constexpr int64_t kProjectRows = 4;

inline Stream& streamOf(Queue q) {
    return *static_cast<Stream*>(q.context);
}

/// A device address as kernels take it.
inline void* pointerOf(CuPointer address) {
    return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr): the driver's type
}

template <typename T>
T* typedPointerOf(CuPointer address) {
    return static_cast<T*>(pointerOf(address));
}

/// Whether the kernels may read there in pieces of `bytes`.
inline bool isAligned(const void* pointer, uintptr_t bytes = 16) {
    return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

inline bool isThereAligned(const void* pointer) {
    return pointer != nullptr && isAligned(pointer);
}

inline void publish(TokenStep& step, int32_t link) {
    (step.kind == kStepAttend ? step.attend.publish : step.project.publish) = link;
}

inline unsigned tiles(int64_t count, int64_t size) {
    return static_cast<unsigned>((count + size - 1) / size);
}

inline bool isMatrix(const MatF32& m) {
    return m.rows == 0 ||
           (m.rows > 0 && m.cols > 0 && m.data != nullptr && (m.stride >= m.cols || m.rows == 1));
}

inline bool isSameShape(const MatF32& a, const MatF32& b) {
    return isMatrix(a) && isMatrix(b) && a.rows == b.rows && a.cols == b.cols;
}

inline VectorArgs vectorArgs(const MatView& v) {
    return {v.data, static_cast<int32_t>(v.type), 0};
}

inline KvRowArgs kvRowArgs(KvType type, int64_t heads, int64_t head_dim) {
    KvRowArgs args{};
    args.type = static_cast<int32_t>(type);
    args.bytes = static_cast<int32_t>(kvRowBytes(type, heads, head_dim));
    args.scales_at = hasScales(type) ? static_cast<int32_t>(kvScalesAt(type, heads, head_dim)) : 0;
    return args;
}

inline WeightArgs weightArgs(const WeightView& w) {
    WeightArgs args{};
    args.data = w.data;
    args.row_scale = w.row_scale;
    args.absmax = w.absmax;
    args.absmax_q = w.absmax_q;
    args.nested_absmax = w.nested_absmax;
    args.nested_code = w.nested_code;
    args.rows = w.rows;
    args.cols = w.cols;
    args.nested_offset = w.nested_offset;
    args.block_size = rowOf(w.format).layout == WeightLayout::Blocks
                          ? static_cast<int32_t>(valueBytes(w.format, w.cols))
                          : w.block_size;
    args.layout = rowOf(w.format).layout;
    args.code_table = rowOf(w.format).code_table;
    args.format = w.format;
    args.expand_type = static_cast<int32_t>(w.expand_type);
    return args;
}

// project.cpp: steps that read a weight once a row.
/// The projection kernel takes this weight.
bool canProject(const Stream& s, const WeightView& w);
bool takesProjection(Queue q, const ProjectArgs& step);
Status project(Queue q, const ProjectArgs& step);
int projectParts(Queue q, const ProjectArgs& step);

// token_input.cpp: what stands before the layers of a token.
bool takesInputs(Queue q, const TokenInputArgs& args);
Status tokenInputs(Queue q, const TokenInputArgs& args);

// experts.cpp: routed experts, of one token in a few launches.
Status routerScores(Queue q,
                    MatF32 x,
                    WeightView router,
                    const float* scale,
                    float factor,
                    float eps,
                    MutF32 scores);
Status chooseExperts(Queue q, MatF32 scores, int64_t top_k, int32_t* chosen, float* share);
Status orderExperts(Queue q, const ExpertOrderArgs& a);
Status expertProducts(Queue q, const ExpertProductArgs& a);
Status sumExperts(Queue q, const ExpertSumArgs& a);
bool takesExperts(Queue q, const ExpertsStepArgs& args);
Status expertsStep(Queue q, const ExpertsStepArgs& args);
Status routeExperts(Queue q, const ExpertsStepArgs& a);
Status mergeExperts(Queue q, const ExpertsStepArgs& a);
Status placedExperts(Queue q, const ExpertsStepArgs& a);

// top_logits.cpp: what a choice among the most probable tokens can fall on.
/// The longest row: four logits a lane of the largest group.
inline constexpr int64_t kMostTopRow = int64_t{4} * 32 * kMaxLogitGroups;
Status topLogits(Queue q,
                 float* logits,
                 int64_t count,
                 float cap,
                 const uint32_t* suppressed,
                 int32_t wanted,
                 TopLogits* top);

// draft_choice.cpp: the end of a draft.
bool takesDraftChoice(Queue q, const DraftChoiceArgs& args);
Status chooseDraft(Queue q, const DraftChoiceArgs& args);

// products.cpp: linear layers of any number of rows.
Status linear(Queue q, MatF32 x, WeightView w, MutF32 y);

// rows.cpp: fused steps of many rows.
bool takesRows(Queue q, int64_t hidden, int64_t head_dim);
Status product(Queue q, ProductArgs& args);
Status normRows(Queue q, const NormRowsArgs& args);
Status headRows(Queue q, const HeadRowsArgs& args);
Status scaleToHalf(Queue q, MatF32 x, float shift, float scale, void* y);
Status
perLayerRows(Queue q, MutF32 y, MatF32 t, MatView norm, float eps, float before, float after);
Status beginOnceSteps(Queue q);
Status poolRows(Queue q, MatF32 x, int64_t grid_w, int64_t side, float factor, MutF32 y);

} // namespace kernels::cuda
