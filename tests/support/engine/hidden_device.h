// SPDX-License-Identifier: Apache-2.0
// A device in host memory that behaves like a graphics card towards the engine: its addresses are
// not readable by the host (a read or write ends the program), memory is reached through copies
// only, fresh memory reads as NaN, steps can be recorded and replayed, and the fused decode steps
// exist (composed from the CPU table). Every pointer that a kernel gets must be one of the
// device's; a host pointer is refused and counted.
#pragma once

#include "engine/devices/gpu_access.h"
#include "kernels/cpu/host_device.h"
#include "kernels/device.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace support {

/// What all devices of one access saw.
struct HiddenCounts {
    int host_pointers = 0; ///< Host pointers given to kernels: must stay 0.
    int open = 0;          ///< Devices now.
    int recorded = 0;      ///< Recordings made.
    int replays = 0;
    int reads = 0;     ///< Copies to the host asked for.
    size_t leaked = 0; ///< Allocations alive when their device was closed.
    int locked = 0;    ///< Pieces of the host's memory, now.
    int locks = 0;     ///< Asked for.
    /// What a test sets: replays run when somebody waits for them, not at once. A card may do
    /// either.
    bool is_late = false;
    /// What a test sets: every so many-th row's candidates are not told (0: all are).
    int untold_rows = 0;
    bool has_copies_only = false; ///< Kernels reach no memory of the host.
    int tops = 0;                 ///< Rows whose candidates were looked for.
    int too_early = 0; ///< Memory or recordings freed under replays that had not run: must stay 0.
};

class HiddenDevice final : public kernels::Device {
public:
    HiddenDevice(uint64_t capacity, bool is_reference, HiddenCounts& counts);
    ~HiddenDevice() override;

    void* allocate(size_t bytes, int tag) override;
    void free(void* pointer) override;
    [[nodiscard]] kernels::MemoryInfo memory() const override { return memory_.memory(); }
    [[nodiscard]] uint64_t usedBytes(int tag) const override { return memory_.usedBytes(tag); }
    kernels::Status copyIn(void* device_dst, const void* host_src, size_t bytes) override;
    kernels::Status
    copyInLater(void* device_dst, const void* locked_src, size_t bytes, int after) override;
    kernels::Status mark(int number) override;
    kernels::Status waitForMark(int number) override;
    kernels::Status copyOut(void* host_dst, const void* device_src, size_t bytes) override;
    kernels::Status copyWithin(void* dst, const void* src, size_t bytes) override;
    kernels::Status clear(void* dst, size_t bytes) override;
    [[nodiscard]] bool isHostVisible() const override { return false; }
    [[nodiscard]] const kernels::OpTable& ops() const override;
    [[nodiscard]] kernels::Queue queue() override { return {this}; }
    kernels::Status synchronize() override;
    void setScratch(void* scratch, size_t bytes) override;
    kernels::Status lockHost(void* memory, size_t bytes) override;
    void unlockHost(void* memory) override;
    [[nodiscard]] void* kernelAddress(void* host_block) override;
    [[nodiscard]] bool canCapture() const override { return true; }
    kernels::Status beginCapture() override;
    kernels::Status endCapture(kernels::GraphHandle* graph) override;
    kernels::Status replay(kernels::GraphHandle graph) override;
    void freeGraph(kernels::GraphHandle graph) override;

    /// The kernels behind this device.
    [[nodiscard]] const kernels::OpTable& base() const { return *base_; }
    [[nodiscard]] kernels::Queue hostQueue() { return {&pool_}; }
    /// Host address of one of the device's; nullptr stays nullptr. Others are counted and become
    /// nullptr with *is_ok = false.
    const void* reveal(const void* pointer, bool* is_ok);
    [[nodiscard]] HiddenCounts& counts() { return *counts_; }
    /// Runs a step now, behind all that is pending, or notes it while recording.
    kernels::Status submit(std::function<kernels::Status()> step);

private:
    using Recording = std::vector<std::function<kernels::Status()>>;
    kernels::cpu::ThreadPool pool_;
    kernels::cpu::HostDevice memory_;
    const kernels::OpTable* base_;
    HiddenCounts* counts_;
    kernels::Status runPending(uint64_t until);
    kernels::Status later(std::function<kernels::Status()> step);

    std::unique_ptr<Recording> recording_;
    int graphs_ = 0;
    std::deque<std::function<kernels::Status()>> pending_;
    uint64_t done_ = 0; ///< Steps of pending_ that were run.
    std::array<uint64_t, kMarks> marks_{};
};

/// cuda:0 ... cuda:(count - 1) as hidden devices of `capacity` bytes each. `counts` must outlive
/// every engine that uses the access.
std::shared_ptr<const engine::GpuAccess>
hiddenAccess(int count, uint64_t capacity, HiddenCounts& counts);

} // namespace support
