// SPDX-License-Identifier: Apache-2.0
// What Queue::context points to for a CUDA table: one compute stream of one device with its kernels
// and its scratch memory, and the launch call. Launching never allocates and never waits.
#pragma once

#include "kernels/cuda/driver.h"
#include "kernels/cuda/kernel_list.h"
#include "kernels/cuda/kernel_times.h"
#include "kernels/cuda/token_steps.h"
#include "kernels/views.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernels::cuda {

/// Read from the device, never assumed; what CardOptions takes from them is taken.
struct DeviceFacts {
    int multiprocessors = 0;
    int compute_capability = 0; ///< 10 * major + minor.
    int shared_bytes = 0;       ///< Largest dynamic shared memory of a block (opt-in).
    int shared_base = 0;        ///< Its first address: what the system keeps lies below.
    int64_t l2_bytes = 0;
};

/// OutOfMemory, Unsupported (not in this driver, image or capture), BadShape (an argument that the
/// driver refuses: our mistake); everything else has cost us the context: DeviceLost.
Status statusOf(CuResult result);

struct Stream {
    const Driver* driver = nullptr;
    CuContext context = nullptr;
    CuStream handle = nullptr;
    DeviceFacts facts;
    std::array<CuFunction, kKernelCount> functions{};
    int async_shared = 0; ///< Most dynamic shared memory of a block of stream_async.cu.
    /// Reference precision: fp32 products of exactly rounded weights, no tensor cores.
    bool is_reference = false;
    /// Memory for expanded weight panels, rounded activations and partial results. Sized by
    /// scratchBytes() (launch_sizes.h); a kernel that needs more refuses.
    CuPointer scratch = 0;
    size_t scratch_bytes = 0;
    CuResult last_error = kCuSuccess;
    const char* last_call = ""; ///< Driver entry point or kernel that failed last.
    bool is_lost = false;       ///< The context is beyond repair: every call answers DeviceLost.
    /// Whether the context became this thread's for what is enqueued now; else launches answer it.
    Status entered = Status::Ok;

    /// Enqueues one kernel. Arguments must have exactly the kernel's parameter types.
    template <typename... Args>
    Status launch(KernelId id,
                  unsigned grid_x,
                  unsigned grid_y,
                  unsigned grid_z,
                  unsigned block,
                  unsigned shared,
                  Args... args) {
        void* parameters[] = {static_cast<void*>(&args)...};
        return launchRaw(id, grid_x, grid_y, grid_z, block, shared, parameters);
    }
    Status launchRaw(KernelId id,
                     unsigned grid_x,
                     unsigned grid_y,
                     unsigned grid_z,
                     unsigned block,
                     unsigned shared,
                     void** parameters);
    /// In front of a launch: what was collected is launched, and the kernel is there.
    Status prepare(KernelId id);
    Status launchTimed(KernelId id, const CuLaunchConfig& config, void** parameters);
    /// Maps a driver result to a status and remembers the failure.
    Status check(CuResult result, const char* call);
    /// As launchRaw(), all blocks resident at the same time (cooperative launch).
    Status
    launchResident(KernelId id, unsigned grid, unsigned block, unsigned shared, void** parameters);
    /// While true, launches may start before their predecessor has finished (programmatic dependent
    /// launch): only kernels that wait for it themselves. Needs compute capability 9.0.
    bool is_overlapping = false;
    /// Rows of a tile of product_wide.cu, outputs of one of product_wide_half.cu; 0: as wideSizes()
    /// and halfSizes() say; negative: other kernels (CardOptions).
    int wide_rows = 0;
    KernelTimes* times = nullptr; ///< Not owned; nullptr: launches are not timed.
    /// Decode steps that are being collected for one launch. Whatever else is enqueued comes after
    /// them: flush() first.
    TokenSteps steps;
    CuStream upload = nullptr; ///< A stream of its own for the steps, also while one is captured.
    /// Launches the steps collected so far.
    Status flush();
};

} // namespace kernels::cuda
