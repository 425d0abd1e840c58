// SPDX-License-Identifier: Apache-2.0
// Windows' account of a card's memory (DXGI) that is not there: what the program has on the card of
// a fake driver, against a budget that the test sets. What is beyond the budget lies in main
// memory, beside what is page-locked there. Read on the thread that uses the fake driver.
#pragma once

#include "engine/devices/gpu_access.h"
#include "tests/support/cuda/fake_driver.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

namespace support {

struct FakeVideoMemory {
    std::atomic<uint64_t> budget{uint64_t{4} << 30}; ///< Bytes; from any thread.
    /// Memory of the driver's own in main memory, there from the beginning.
    static constexpr uint64_t kUsual = uint64_t{20} << 20;

    [[nodiscard]] kernels::cuda::VideoMemory look(const FakeDriver& fake, int card) const {
        const uint64_t held = fake.deviceBytes(card);
        const uint64_t may = budget;
        const uint64_t local = std::min(held, may);
        return {local, may, kUsual + fake.hostBytes() + (held - local)};
    }
};

/// Cards of the fake driver as Windows shares them out.
inline std::shared_ptr<engine::GpuAccess> sharedCards(const FakeDriver& fake,
                                                      const FakeVideoMemory& memory) {
    auto cards = std::make_shared<engine::GpuAccess>(
        engine::cudaAccess(&fake.driver(), {}, FakeDriver::images()));
    cards->video_memory = [&fake, &memory](int index) {
        return std::optional(memory.look(fake, index));
    };
    return cards;
}

} // namespace support
