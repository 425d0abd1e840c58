// SPDX-License-Identifier: Apache-2.0
// A card whose kernels run in the emulator: the real host side (launches, streams, recordings) over
// the fake driver, whose device memory is host memory here. Operands may lie anywhere in the
// program's memory.
#pragma once

#include "kernels/cuda/cuda_device.h"
#include "tests/support/cuda/fake_driver.h"
#include "tests/support/cuda_emulator/emulator.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace support {

struct EmulatedCardOptions {
    int cards = 1; ///< The first is device(); others are for engines.
    int multiprocessors = 4;
    int capability = 90; ///< 10 * major + minor.
    bool is_reference = false;
    int shared_bytes = 232448;                       ///< Most of a block.
    int reserved_shared = emulator::kReservedShared; ///< What the card says of it.
    kernels::CardOptions card;                       ///< Forms that the first one takes.
    emulator::Options run;
};

/// One at a time, like the fake driver.
class EmulatedCard {
public:
    explicit EmulatedCard(const EmulatedCardOptions& options);
    ~EmulatedCard();
    EmulatedCard(const EmulatedCard&) = delete;
    EmulatedCard& operator=(const EmulatedCard&) = delete;

    [[nodiscard]] kernels::cuda::CudaDevice& device() { return *device_; }
    [[nodiscard]] FakeDriver& fake() { return fake_; }
    /// How the next launches run.
    emulator::Options run;
    /// Runs what was enqueued. What went wrong in any launch so far; empty: nothing.
    std::string finish();
    /// Names of kernels that ran, in order.
    [[nodiscard]] const std::vector<std::string>& ran() const { return ran_; }
    [[nodiscard]] uint64_t switches() const { return switches_; }
    /// Places of the barriers that any of them met.
    [[nodiscard]] const std::set<std::string>& barriers() const { return barriers_; }

private:
    FakeDriver fake_;
    std::vector<std::string> ran_;
    std::string error_;
    uint64_t switches_ = 0;
    std::set<std::string> barriers_;
    std::unique_ptr<kernels::cuda::CudaDevice> device_;
    void* scratch_ = nullptr;
};

} // namespace support
