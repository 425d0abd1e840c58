// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch/lora.h"

#include "kernels/cuda/device/common/args.h"
#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/stream.h"

namespace kernels::cuda {

namespace {

/// From this many rows on through tensor cores.
constexpr int64_t kTensorRows = 5;

/// Shapes fit together: a term of the batch whose ranks begin at column `first` of the scratch.
bool isTerm(
    const MatF32& x, const LoraTerm& term, int64_t first, const MutF32& scratch, const MutF32& y) {
    return term.a.data != nullptr && term.b.data != nullptr && term.a.rows > 0 &&
           term.a.cols == x.cols && term.b.cols == term.a.rows && term.b.rows == y.cols &&
           term.a.rows <= scratch.cols - first;
}

bool takesTensorCores(
    const Stream& s, const MatF32& x, const LoraTerm* terms, int64_t count, const MutF32& y) {
    bool is_possible = !s.is_reference && s.facts.compute_capability >= 80 &&
                       x.rows >= kTensorRows && count <= kMaxLoraTerms && x.cols % 64 == 0 &&
                       x.stride % 4 == 0 && isAligned(x.data, 16) && y.cols % 2 == 0 &&
                       y.stride % 2 == 0 && isAligned(y.data, 8);
    for (int64_t i = 0; i < count; ++i) {
        is_possible = is_possible && isAligned(terms[i].a.data, 8) && isAligned(terms[i].b.data, 8);
    }
    return is_possible;
}

} // namespace

Status loraAccumulate(Queue q,
                      MatF32 x,
                      MatView a,
                      MatView b,
                      MatView b_bias,
                      float scaling,
                      MutF32 scratch,
                      MutF32 y) {
    Stream& s = *static_cast<Stream*>(q.context);
    if (x.rows < 0 || x.data == nullptr || y.data == nullptr || scratch.data == nullptr ||
        a.data == nullptr || b.data == nullptr || x.rows != y.rows || scratch.rows != x.rows ||
        a.cols != x.cols || a.rows <= 0 || scratch.cols != a.rows || b.cols != a.rows ||
        b.rows != y.cols) {
        return Status::BadShape;
    }
    if (x.rows == 0) {
        return Status::Ok;
    }
    const Status status = s.launch(
        KernelId::lora_down, static_cast<unsigned>(a.rows), static_cast<unsigned>(x.rows), 1, 128,
        0, x.data, x.stride, vectorArgs(a), static_cast<int>(x.cols), scratch.data, scratch.stride);
    if (status != Status::Ok) {
        return status;
    }
    return s.launch(KernelId::lora_up, static_cast<unsigned>(x.rows), tiles(y.cols, kThreads), 1,
                    kThreads, 0, static_cast<const float*>(scratch.data), scratch.stride,
                    vectorArgs(b), vectorArgs(b_bias), static_cast<int>(a.rows), scaling, y.data,
                    y.stride, static_cast<int>(y.cols));
}

Status loraAccumulateAll(
    Queue q, MatF32 x, const LoraTerm* terms, int64_t count, MutF32 scratch, MutF32 y) {
    Stream& s = *static_cast<Stream*>(q.context);
    if (count < 0 || (count > 0 && terms == nullptr) || x.rows != y.rows ||
        scratch.rows != x.rows) {
        return Status::BadShape;
    }
    int64_t ranks = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (!isTerm(x, terms[i], ranks, scratch, y)) {
            return Status::BadShape;
        }
        ranks += terms[i].a.rows;
    }
    if (count == 0 || x.rows == 0) {
        return Status::Ok;
    }
    if (!takesTensorCores(s, x, terms, count, y)) {
        int64_t first = 0;
        auto status = Status::Ok;
        for (int64_t i = 0; i < count && status == Status::Ok; ++i) {
            const LoraTerm& term = terms[i];
            const MutF32 part{scratch.data + first, scratch.rows, term.a.rows, scratch.stride};
            status = loraAccumulate(q, x, term.a, term.b, term.b_bias, term.scaling, part, y);
            first += term.a.rows;
        }
        return status;
    }
    LoraBatchArgs batch{};
    batch.count = static_cast<int32_t>(count);
    batch.cols = static_cast<int32_t>(x.cols);
    int32_t first = 0;
    int32_t tile = 0;
    for (int64_t i = 0; i < count; ++i) {
        const LoraTerm& term = terms[i];
        const auto rank = static_cast<int32_t>(term.a.rows);
        batch.term[i] = {term.a.data,
                         term.b.data,
                         vectorArgs(term.b_bias),
                         term.scaling,
                         rank,
                         first,
                         tile,
                         static_cast<int32_t>(term.a.type),
                         static_cast<int32_t>(term.b.type)};
        first += rank;
        tile += (rank + 15) / 16;
    }
    const Status status =
        s.launch(KernelId::lora_down_tensor, tiles(x.rows, 16), static_cast<unsigned>(tile), 1,
                 kThreads, 0, x.data, x.stride, x.rows, batch, scratch.data, scratch.stride);
    if (status != Status::Ok) {
        return status;
    }
    return s.launch(KernelId::lora_up_tensor, tiles(x.rows, 64), tiles(y.cols, 64), 1, 128, 0,
                    static_cast<const float*>(scratch.data), scratch.stride, batch, y.data,
                    y.stride, y.rows, static_cast<int>(y.cols));
}

} // namespace kernels::cuda
