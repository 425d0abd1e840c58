// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch/quantize.h"

#include "kernels/cuda/launch/launch_args.h"
#include "kernels/cuda/stream.h"

#include <cstdint>

namespace kernels::cuda {

namespace {

constexpr int64_t kValuesPerThread = 8;
constexpr int32_t kValuesPerBlock = 64;

unsigned gridOf(int64_t threads) {
    return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

} // namespace

Status quantize(Queue q, const QuantizeArgs& args) {
    constexpr int64_t kMaxValues = int64_t{1} << 40;
    if (args.values == nullptr || args.data == nullptr || args.scales == nullptr ||
        args.rows <= 0 || args.cols <= 0 || args.rows > kMaxValues / args.cols ||
        !isAligned(args.values, 16)) {
        return Status::BadShape;
    }
    Stream& stream = *static_cast<Stream*>(q.context);
    if (const Status flushed = stream.flush(); flushed != Status::Ok) {
        return flushed;
    }
    const auto type = static_cast<int>(args.type);
    if (args.format == WeightFormat::Int8Row) {
        return stream.launch(KernelId::quantize_rows, gridOf(args.rows * 32), 1, 1, kThreads, 0,
                             args.values, type, args.rows, args.cols,
                             static_cast<int8_t*>(args.data), args.scales);
    }
    const bool is_four_bit = args.format == WeightFormat::Nf4 || args.format == WeightFormat::Fp4;
    if (!is_four_bit || args.block_size != kValuesPerBlock || !isAligned(args.data, 4)) {
        return Status::Unsupported;
    }
    const int64_t count = args.rows * args.cols;
    const int is_fp4 = args.format == WeightFormat::Fp4 ? 1 : 0;
    return stream.launch(KernelId::quantize_blocks,
                         gridOf((count + kValuesPerThread - 1) / kValuesPerThread), 1, 1, kThreads,
                         0, args.values, type, is_fp4, count, static_cast<uint8_t*>(args.data),
                         args.scales);
}

} // namespace kernels::cuda
