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

void KernelTimes::addSteps(CuStream stream,
                           CuPointer trace,
                           const std::vector<std::string>& labels) {
    constexpr size_t kMarks = kTraceMarks;
    std::vector<long long> clocks(kMarks * labels.size());
    if (driver_->memcpyDtoHAsync(clocks.data(), trace, clocks.size() * sizeof(long long), stream) !=
            kCuSuccess ||
        driver_->streamSynchronize(stream) != kCuSuccess) {
        return;
    }
    for (size_t i = 0; i < labels.size(); ++i) {
        StepSum& sum = steps_[labels[i]];
        const long long* const at = clocks.data() + kMarks * i;
        ++sum.count;
        for (size_t m = 0; m + 1 < kStreamMarks; ++m) {
            sum.after[m] += static_cast<double>(at[m + 1] - at[m]);
        }
        for (size_t m = 0; m < kUnitMarks; ++m) {
            sum.units[m] += static_cast<double>(at[kStreamMarks + m] - at[0]);
        }
        if (i + 1 < labels.size()) {
            sum.whole += static_cast<double>(at[kMarks] - at[0]);
        }
    }
}

void KernelTimes::print(CuStream stream) {
    driver_->streamSynchronize(stream);
    for (const auto& [label, sum] : steps_) {
        const auto count = static_cast<double>(sum.count);
        std::fprintf(stderr,
                     "  step %-52s %6ld times, clocks: %6.0f whole, %5.0f wait, %5.0f input, "
                     "%6.0f products, %5.0f results",
                     label.c_str(), sum.count, sum.whole / count, sum.after[0] / count,
                     sum.after[1] / count, sum.after[2] / count, sum.after[3] / count);
        if (label.find(" units") != std::string::npos) {
            std::fprintf(stderr, "; updates: ready at %5.0f, sum %5.0f, all sums %5.0f, done %5.0f",
                         sum.units[0] / count, sum.units[1] / count, sum.units[2] / count,
                         sum.units[3] / count);
        }
        std::fprintf(stderr, "\n");
    }
    if (!kHasTrace) {
        std::fprintf(stderr, "clocks of decode steps: this build has none (cmake "
                             "-DBELFRY_TRACE=ON makes one that has)\n");
    }
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
