// SPDX-License-Identifier: Apache-2.0
// One device: memory with a hard limit and accounting, a kernel table and a queue. cpu and sim:N
// are host memory (kernels/cpu/host_device.h); cuda:N arrives behind the same interface.
// Not thread-safe: a device belongs to the engine thread.
#pragma once

#include "kernels/ops.h"

#include <cstddef>
#include <cstdint>

namespace kernels {

struct MemoryInfo {
    uint64_t capacity = 0; ///< Bytes the device may hold; 0 = unknown or unlimited.
    uint64_t used = 0;     ///< Bytes allocated through this object.
    uint64_t peak = 0;
};

class Device {
public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    /// `bytes` of memory on the device, aligned to 64 bytes, uninitialised (poisoned in debug
    /// builds); nullptr when the limit or the system has no room. `tag` groups the accounting (the
    /// engine's memory part).
    virtual void* allocate(size_t bytes, int tag) = 0;
    /// Frees what allocate() returned; nullptr is ignored.
    virtual void free(void* pointer) = 0;

    [[nodiscard]] virtual MemoryInfo memory() const = 0;
    /// Bytes allocated now under a tag, exactly as asked for (no rounding).
    [[nodiscard]] virtual uint64_t usedBytes(int tag) const = 0;

    /// Host to device, device to host, ordered with the queue; host pointers are plain memory.
    virtual Status copyIn(void* device_dst, const void* host_src, size_t bytes) = 0;
    virtual Status copyOut(void* host_dst, const void* device_src, size_t bytes) = 0;
    /// True when the engine may read and write device pointers directly (cpu, sim).
    [[nodiscard]] virtual bool isHostVisible() const = 0;

    [[nodiscard]] virtual const OpTable& ops() const = 0;
    [[nodiscard]] virtual Queue queue() = 0;
    /// Waits for everything enqueued.
    virtual Status synchronize() = 0;
};

} // namespace kernels
