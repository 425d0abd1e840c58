// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/kernel_times.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace kernels::cuda {

void KernelTimes::before(KernelId id, CuStream stream) {
    Span span;
    span.id = id;
    driver_->eventCreate(&span.start, 0);
    driver_->eventCreate(&span.end, 0);
    driver_->eventRecord(span.start, stream);
    spans_.push_back(span);
}

void KernelTimes::after(CuStream stream) {
    driver_->eventRecord(spans_.back().end, stream);
}

void KernelTimes::print(CuStream stream) {
    driver_->streamSynchronize(stream);
    struct Sum {
        size_t id = 0;
        long launches = 0;
        double milliseconds = 0.0;
    };
    std::array<Sum, kKernelCount> sums{};
    for (size_t i = 0; i < sums.size(); ++i) {
        sums[i].id = i;
    }
    double total = 0.0;
    for (const Span& span : spans_) {
        float milliseconds = 0.0F;
        driver_->eventElapsedTime(&milliseconds, span.start, span.end);
        driver_->eventDestroy(span.start);
        driver_->eventDestroy(span.end);
        Sum& sum = sums[static_cast<size_t>(span.id)];
        ++sum.launches;
        sum.milliseconds += static_cast<double>(milliseconds);
        total += static_cast<double>(milliseconds);
    }
    spans_.clear();
    std::sort(sums.begin(), sums.end(),
              [](const Sum& a, const Sum& b) { return a.milliseconds > b.milliseconds; });
    std::fprintf(stderr, "kernel times, %.2f ms in all\n", total);
    for (const Sum& sum : sums) {
        if (sum.launches > 0) {
            std::fprintf(stderr, "  %-28s %7ld launches %10.2f ms %9.2f us each\n",
                         kernelName(static_cast<KernelId>(sum.id)), sum.launches, sum.milliseconds,
                         sum.milliseconds * 1000.0 / static_cast<double>(sum.launches));
        }
    }
}

} // namespace kernels::cuda
