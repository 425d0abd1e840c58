// SPDX-License-Identifier: Apache-2.0
// A graphics card whose kernels, those of kernels/cuda/device, run on the CPU: for work on kernels
// and on these checks without a card. Slow: minutes for what a card does in a second.
#pragma once

#include "engine/devices/gpu_access.h"
#include "tests/support/cuda/fake_driver.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpu {

class EmulatedCards {
public:
    explicit EmulatedCards(int count);
    EmulatedCards(const EmulatedCards&) = delete;
    EmulatedCards& operator=(const EmulatedCards&) = delete;

    /// For EngineOptions::gpus. *this must outlive the engine.
    [[nodiscard]] std::shared_ptr<const engine::GpuAccess> access() const;

    std::map<std::string, int> launches; ///< By kernel; may be cleared between steps.
    std::string error;                   ///< From the first kernel that did something wrong.

private:
    support::FakeDriver fake_;
};

} // namespace gpu
