// SPDX-License-Identifier: Apache-2.0
// Linear layers: one reading of the weight for few rows, tensor cores for many. Tile
// sizes were chosen on an H200 (132 multiprocessors).
#include "kernels/cuda/launch/product_codes.h"
#include "kernels/cuda/launch_sizes.h"

#include <algorithm>
#include <bit>

namespace kernels::cuda {

namespace {

Status linearReference(Stream& s, MatF32 x, const WeightView& w, MutF32 y) {
    return s.launch(KernelId::linear_reference, tiles(w.rows, 32), tiles(x.rows, 32), 1, kThreads,
                    0, x.data, x.stride, weightArgs(w), y.data, y.stride, x.rows);
}

Status expand(Stream& s, const WeightView& w, int64_t first, int64_t rows, CuPointer out) {
    const bool is_fast = hasCodes(w) && w.cols % 16 == 0 && w.block_size % 16 == 0;
    const int64_t count = rows * w.cols / (is_fast || hasBlocks(w) ? 16 : 1);
    return s.launch(hasBlocks(w) ? KernelId::expand_blocks
                    : is_fast    ? KernelId::expand_four_bit
                                 : KernelId::expand_any,
                    tiles(count, kThreads), 1, 1, kThreads, 0, weightArgs(w), first, rows,
                    pointerOf(out));
}

Status gemm(Stream& s,
            CuPointer a,
            CuPointer b,
            float* y,
            int64_t stride,
            int64_t m,
            int64_t n,
            int64_t k) {
    const bool is_large = usesLargeTiles(s.facts.multiprocessors, m, n);
    const int64_t tile = is_large ? 128 : 64;
    return s.launch(is_large ? KernelId::gemm_128 : KernelId::gemm_64, tiles(m, tile),
                    tiles(n, tile), 1, is_large ? 256U : 128U, is_large ? 98304U : 65536U,
                    static_cast<const void*>(pointerOf(a)), static_cast<const void*>(pointerOf(b)),
                    y, stride, m, n, k);
}

/// Tensor cores: the input rounded to bf16, the weight as it is stored or expanded panel by panel.
Status linearTensor(Stream& s, MatF32 x, const WeightView& w, MutF32 y) {
    const size_t input_bytes = (static_cast<size_t>(x.rows * x.cols) * 2U + 255U) / 256U * 256U;
    if (s.scratch_bytes < kWorkOffset + input_bytes) {
        return Status::OutOfMemory;
    }
    const CuPointer input = s.scratch + kWorkOffset;
    const CuPointer panel = input + input_bytes;
    Status status =
        s.launch(KernelId::to_bf16, tiles(x.rows * x.cols / 2, kThreads), 1, 1, kThreads, 0, x.data,
                 x.stride, pointerOf(input), x.rows, static_cast<int>(x.cols));
    if (status != Status::Ok) {
        return status;
    }
    if (takesCodes(s, &w, 1) && y.stride % 2 == 0 && reinterpret_cast<uintptr_t>(y.data) % 8 == 0) {
        CodesProduct product;
        product.x = pointerOf(input);
        product.rows = x.rows;
        product.count = 1;
        product.w[0] = w;
        product.y[0] = y.data;
        product.stride[0] = y.stride;
        return productOfCodes(s, product);
    }
    if (w.format == WeightFormat::BF16) {
        return gemm(s, input, reinterpret_cast<CuPointer>(w.data), y.data, y.stride, x.rows, w.rows,
                    w.cols);
    }
    const int64_t room =
        static_cast<int64_t>(s.scratch_bytes - kWorkOffset - input_bytes) / (w.cols * 2);
    const int64_t step = std::min(w.rows, room / 128 * 128);
    if (step <= 0) {
        return Status::OutOfMemory;
    }
    for (int64_t first = 0; first < w.rows; first += step) {
        const int64_t rows = std::min(step, w.rows - first);
        status = expand(s, w, first, rows, panel);
        if (status == Status::Ok) {
            status = gemm(s, input, panel, y.data + first, y.stride, x.rows, rows, w.cols);
        }
        if (status != Status::Ok) {
            return status;
        }
    }
    return Status::Ok;
}

} // namespace

Status linear(Queue q, MatF32 x, WeightView w, MutF32 y) {
    Stream& s = streamOf(q);
    if (!isMatrix(x) || !isMatrix(y) || !isWeight(w) || x.rows != y.rows || x.cols != w.cols ||
        y.cols != w.rows) {
        return Status::BadShape;
    }
    if (x.rows == 0) {
        return Status::Ok;
    }
    const bool has_tensor_cores = s.facts.compute_capability >= 80;
    if (!s.is_reference && (x.rows <= kProjectRows || !has_tensor_cores) && canProject(s, w)) {
        Status status = Status::Ok;
        for (int64_t t = 0; t < x.rows && status == Status::Ok; ++t) {
            ProjectArgs step;
            step.x = x.data + t * x.stride;
            step.w[0] = w;
            step.y[0] = y.data + t * y.stride;
            step.count = 1;
            status = project(q, step);
        }
        if (status != Status::Unsupported) {
            return status;
        }
        // More shared memory than this card has: the slower kernels below.
    }
    const bool is_aligned =
        w.cols % 8 == 0 && x.stride % 2 == 0 && reinterpret_cast<uintptr_t>(x.data) % 8 == 0 &&
        (w.format != WeightFormat::BF16 || reinterpret_cast<uintptr_t>(w.data) % 16 == 0);
    if (s.is_reference || !has_tensor_cores || !is_aligned) {
        return linearReference(s, x, w, y);
    }
    return linearTensor(s, x, w, y);
}

} // namespace kernels::cuda
