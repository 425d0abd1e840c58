// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/card_rates.h"

#include "kernels/cuda/cuda_device.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace kernels::cuda {

namespace {

constexpr int kRuns = 5;      ///< The median counts; the first also warms up.
constexpr int kAtOnce = 8;    ///< Launches between two looks at the clock.
constexpr int kRounds = 4000; ///< Products of a warp, in groups of eight.

/// Median seconds of one launch; 0 when one fails.
double secondsOf(CudaDevice& device, const std::function<Status()>& launch) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int run = 0; run < kRuns; ++run) {
        if (device.synchronize() != Status::Ok) {
            return 0.0;
        }
        const auto start = Clock::now();
        for (int i = 0; i < kAtOnce; ++i) {
            if (launch() != Status::Ok) {
                return 0.0;
            }
        }
        if (device.synchronize() != Status::Ok) {
            return 0.0;
        }
        times.push_back(std::chrono::duration<double>(Clock::now() - start).count() / kAtOnce);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

} // namespace

CardRates measureCard(CudaDevice& device) {
    CardRates rates;
    Stream& s = device.stream();
    if (device.makeCurrent() != Status::Ok) {
        return rates;
    }
    const unsigned blocks = 4U * static_cast<unsigned>(std::max(1, s.facts.multiprocessors));
    const size_t out_bytes = size_t{blocks} * 512 * sizeof(uint32_t);
    CuPointer data = 0;
    size_t bytes = size_t{1} << 30U;
    // A quarter of it is still several times what the largest second-level cache holds.
    while (bytes >= size_t{1} << 28U &&
           s.driver->memAlloc(&data, bytes + out_bytes) != kCuSuccess) {
        data = 0;
        bytes /= 2;
    }
    if (data == 0) {
        return rates;
    }
    const CuPointer out = data + bytes;
    if (s.driver->memsetD8Async(data, 0x5a, bytes, s.handle) == kCuSuccess) {
        const double read = secondsOf(device, [&] {
            return s.launch(KernelId::probe_read, blocks, 1, 1, 512, 0, data,
                            static_cast<int64_t>(bytes / 16), out);
        });
        rates.read_bytes_per_s = read > 0.0 ? static_cast<double>(bytes) / read : 0.0;
    }
    if (s.facts.compute_capability >= 80) {
        const double product = secondsOf(device, [&] {
            return s.launch(KernelId::probe_multiply, blocks, 1, 1, 256, 0, int32_t{kRounds}, out);
        });
        const double operations = 2.0 * 16 * 8 * 16 * 8 * kRounds * (256.0 / 32.0) * blocks;
        rates.bf16_flops = product > 0.0 ? operations / product : 0.0;
    }
    device.synchronize();
    s.driver->memFree(data);
    return rates;
}

} // namespace kernels::cuda
