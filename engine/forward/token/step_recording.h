// SPDX-License-Identifier: Apache-2.0
// What a device is told to do with the steps that follow, until a scope ends, whatever ends it
// (memory may run out between two steps): make one launch of them, or note them for replays. And
// what is kept of a recording: itself, and the memory that it refers to.
#pragma once

#include "engine/base/result.h"
#include "kernels/device.h"

#include <cstddef>
#include <memory>
#include <utility>

namespace engine {

/// Steps as one launch, where the device takes them so (OpTable::begin_steps and its kin).
class CollectedSteps {
public:
    using Begin = kernels::Status (*)(kernels::Queue);
    /// begin: nullptr where they are not to be collected.
    CollectedSteps(kernels::Device& device, Begin begin)
        : device_(&device),
          is_open_(begin != nullptr && begin(device.queue()) == kernels::Status::Ok) {}
    ~CollectedSteps() { (void)end(); }
    CollectedSteps(const CollectedSteps&) = delete;
    CollectedSteps& operator=(const CollectedSteps&) = delete;

    [[nodiscard]] bool isOpen() const { return is_open_; }
    /// Enqueues what was collected. Ok where nothing was.
    kernels::Status end() {
        return std::exchange(is_open_, false) ? device_->ops().end_steps(device_->queue())
                                              : kernels::Status::Ok;
    }

private:
    kernels::Device* device_;
    bool is_open_;
};

/// What was recorded, for Device::replay(); freed with this.
struct FreeGraph {
    kernels::Device* device = nullptr;
    void operator()(kernels::GraphHandle graph) const { device->freeGraph(graph); }
};
using Recording = std::unique_ptr<void, FreeGraph>;

/// A recording of what is enqueued.
class StepRecording {
public:
    explicit StepRecording(kernels::Device& device)
        : device_(&device),
          is_open_(device.canCapture() && device.beginCapture() == kernels::Status::Ok) {}
    ~StepRecording() { (void)end(false); }
    StepRecording(const StepRecording&) = delete;
    StepRecording& operator=(const StepRecording&) = delete;

    [[nodiscard]] bool isOpen() const { return is_open_; }
    /// nullptr where it is not wanted or did not succeed.
    Recording end(bool is_wanted) {
        kernels::GraphHandle graph = nullptr;
        const bool is_done = std::exchange(is_open_, false) &&
                             device_->endCapture(&graph) == kernels::Status::Ok && is_wanted;
        Recording recording(graph, {device_});
        if (!is_done) {
            recording.reset();
        }
        return recording;
    }

private:
    kernels::Device* device_;
    bool is_open_;
};

/// Records what `enqueue` enqueues; nothing where the device takes no recordings. Errors: those of
/// `enqueue`.
template <typename Enqueue>
Result<void> record(kernels::Device& device, Recording& recording, const Enqueue& enqueue) {
    StepRecording open(device);
    if (!open.isOpen()) {
        return {};
    }
    Result<void> outcome = enqueue();
    recording = open.end(outcome.has_value());
    return outcome;
}

/// Memory that recordings refer to (Device::allocateHost), freed with its last owner; nullptr when
/// there is none to be had.
inline std::shared_ptr<std::byte> pageLocked(kernels::Device& device, size_t bytes) {
    auto* const memory = static_cast<std::byte*>(device.allocateHost(bytes));
    return memory == nullptr ? nullptr
                             : std::shared_ptr<std::byte>(
                                   memory, [&device](std::byte* p) { device.freeHost(p); });
}

} // namespace engine
