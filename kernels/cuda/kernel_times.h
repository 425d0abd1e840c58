// SPDX-License-Identifier: Apache-2.0
// Time per kernel, for tuning: events around every launch, summed by kernel and printed when the
// device is closed. On with CardOptions::has_kernel_times; recordings are off
// then, so that decode steps are launched (and seen) one by one.
#pragma once

#include "kernels/cuda/device/common/args.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/kernel_list.h"

#include <map>
#include <string>
#include <vector>

namespace kernels::cuda {

class KernelTimes {
public:
    explicit KernelTimes(const Driver& driver) : driver_(&driver) {}
    void before(KernelId id, CuStream stream);
    void after(CuStream stream);
    /// Waits for the stream and prints a table on stderr: kernel, launches, total and mean time.
    void print(CuStream stream);
    /// Adds the clocks of a launch of decode steps: trace [labels, kTraceMarks] on the device. A
    /// label that ends in " +" is of a launch with low-rank updates, one with " units" of a step
    /// that has some. Builds without kHasTrace have no clocks.
    void addSteps(CuStream stream, CuPointer trace, const std::vector<std::string>& labels);

private:
    struct Span {
        KernelId id = KernelId::fill_f32;
        CuEvent start = nullptr, end = nullptr;
    };
    const Driver* driver_;
    std::vector<Span> spans_;
    struct StepSum {
        long count = 0;
        double whole = 0.0;              ///< Clocks from start to start.
        double after[kStreamMarks] = {}; ///< Clocks from mark to mark.
        double units[kUnitMarks] = {};   ///< From the first mark to those of the updates.
    };
    std::map<std::string, StepSum> steps_;
};

} // namespace kernels::cuda
