// SPDX-License-Identifier: Apache-2.0
// What a device is told to do with the steps that follow, until a scope ends, whatever ends it
// (memory may run out between two steps): make one launch of them, or note them for replays.
#pragma once

#include "kernels/device.h"

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
    /// The recording, the caller's to free; nullptr where it is not wanted or did not succeed.
    kernels::GraphHandle end(bool is_wanted) {
        kernels::GraphHandle graph = nullptr;
        if (std::exchange(is_open_, false)) {
            const kernels::Status ended = device_->endCapture(&graph);
            if (graph != nullptr && (!is_wanted || ended != kernels::Status::Ok)) {
                device_->freeGraph(std::exchange(graph, nullptr));
            }
        }
        return graph;
    }

private:
    kernels::Device* device_;
    bool is_open_;
};

} // namespace engine
