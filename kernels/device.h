// SPDX-License-Identifier: Apache-2.0
// One device: memory with a hard limit and accounting, a kernel table and a queue. cpu and sim:N
// are host memory (kernels/cpu/host_device.h); cuda:N arrives behind the same interface.
// Not thread-safe: a device belongs to the engine thread.
#pragma once

#include "kernels/ops.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

namespace kernels {

struct MemoryInfo {
    uint64_t capacity = 0; ///< Bytes the device may hold; 0 = unknown or unlimited.
    uint64_t used = 0;     ///< Bytes allocated through this object.
    uint64_t peak = 0;
    uint64_t held = 0; ///< Taken from the system for allocations, unused rest included; 0 = used.
};

/// A recorded sequence of kernels, replayed with one call. Owned by the device that made it.
using GraphHandle = void*;

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
    /// The same between the device and memory of allocateHost(), without waiting: the bytes must
    /// stay as they are (or are not there yet) until a mark made later has been waited for. What is
    /// enqueued later comes after them. A copy to the device begins when mark `after` has been
    /// reached, beside whatever is enqueued since; kNoMark: after everything enqueued so far.
    virtual Status
    copyInLater(void* device_dst, const void* locked_src, size_t bytes, int /*after*/) {
        return copyIn(device_dst, locked_src, bytes);
    }
    virtual Status copyOutLater(void* locked_dst, const void* device_src, size_t bytes) {
        return copyOut(locked_dst, device_src, bytes);
    }
    static constexpr int kNoMark = -1;
    static constexpr int kMarks = 16;
    /// Mark `number` (0 to kMarks - 1) now stands behind everything enqueued so far.
    virtual Status mark(int /*number*/) { return Status::Ok; }
    /// Waits until the mark has been reached; one never made counts as reached.
    virtual Status waitForMark(int /*number*/) { return Status::Ok; }
    /// Device to the same device, ordered with the queue. The ranges may overlap only when
    /// isHostVisible().
    virtual Status copyWithin(void* dst, const void* src, size_t bytes) = 0;
    /// Zeros, ordered with the queue.
    virtual Status clear(void* dst, size_t bytes) = 0;
    /// From another device's memory to this one's without passing through the host, ordered with
    /// both queues. Unsupported when the two have no such path: then copy out and in.
    virtual Status
    copyFromPeer(Device& /*from*/, void* /*dst*/, const void* /*src*/, size_t /*bytes*/) {
        return Status::Unsupported;
    }
    /// True when the engine may read and write device pointers directly (cpu, sim).
    [[nodiscard]] virtual bool isHostVisible() const = 0;

    [[nodiscard]] virtual const OpTable& ops() const = 0;
    [[nodiscard]] virtual Queue queue() = 0;
    /// Waits for everything enqueued.
    virtual Status synchronize() = 0;

    /// A hint before a series of allocations of about `bytes` in total: few large blocks are then
    /// taken from the system instead of many small ones. Never required. Returns what
    /// allocateFrom() takes; 0: there is no such block.
    virtual uint64_t reserve(uint64_t /*bytes*/) { return 0; }
    /// What is allocated from now on comes out of that block as long as it has room; 0: out of any.
    virtual void allocateFrom(uint64_t /*block*/) {}
    /// Memory of this device, from allocate(), that kernels may use between two calls; nullptr
    /// takes it away again. Ignored by devices whose kernels need none.
    virtual void setScratch(void* /*scratch*/, size_t /*bytes*/) {}
    /// Host memory that this device copies to and from directly (page-locked where that exists),
    /// for blocks that recordings refer to; nullptr when there is none to be had. Freed with
    /// freeHost().
    virtual void* allocateHost(size_t bytes) { return ::operator new(bytes, std::nothrow); }
    virtual void freeHost(void* pointer) { ::operator delete(pointer); }
    /// Page-locks memory of the host that somebody else holds, so that kernels of this device read
    /// it where it lies (kernelAddress()). From any thread. Not Ok: it stays as it was, which is no
    /// failure of the device.
    virtual Status lockHost(void* /*memory*/, size_t /*bytes*/) { return Status::Unsupported; }
    /// From any thread; before the memory is freed, when no kernel reads it any more.
    virtual void unlockHost(void* /*memory*/) {}
    /// Where kernels of this device read and write a block of allocateHost(), so that few bytes
    /// need no copy, and read memory that lockHost() took; nullptr: only copies reach it. What
    /// kernels wrote is there after synchronize().
    [[nodiscard]] virtual void* kernelAddress(void* /*host_block*/) { return nullptr; }
    /// Bytes that came from the host so far. From any thread.
    [[nodiscard]] virtual uint64_t copiedInBytes() const { return 0; }
    /// Bytes that the device's own driver takes for this program beside all allocations.
    [[nodiscard]] virtual uint64_t contextBytes() const { return 0; }
    /// Bytes that other programs hold now; 0 where the system does not tell.
    [[nodiscard]] virtual uint64_t otherProgramsBytes() { return 0; }
    /// The driver has given the device up: every call answers DeviceLost until all objects of this
    /// program on it are destroyed and it is opened again.
    [[nodiscard]] virtual bool isLost() const { return false; }
    /// What failed last, for people: the call and the driver's name for the failure. May be empty.
    [[nodiscard]] virtual std::string lastFailure() const { return {}; }

    /// Recording: between beginCapture() and endCapture() kernels and copies are noted, not run,
    /// and nothing may be allocated, freed or waited for. A failed recording leaves the device as
    /// it was before beginCapture(); Unsupported = run the steps one by one instead.
    [[nodiscard]] virtual bool canCapture() const { return false; }
    virtual Status beginCapture() { return Status::Unsupported; }
    virtual Status endCapture(GraphHandle* /*graph*/) { return Status::Unsupported; }
    /// Enqueues a recording. Addresses in it are those of the recording.
    virtual Status replay(GraphHandle /*graph*/) { return Status::Unsupported; }
    virtual void freeGraph(GraphHandle /*graph*/) {}
};

} // namespace kernels
