// SPDX-License-Identifier: Apache-2.0
// The graphics cards that a driver shows, without opening any of them: for lists of devices and
// plans. A card that cannot be used stays in the list with the reason.
#pragma once

#include "kernels/cuda/driver.h"
#include "kernels/cuda/driver_trouble.h"
#include "kernels/cuda/video_memory.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernels::cuda {

/// Oldest compute capability that we build for (a T4).
inline constexpr int kOldestCapability = 75;

struct Card {
    int ordinal = 0;
    std::string name;         ///< "NVIDIA H200"
    std::string uuid;         ///< "GPU-..."; empty when the driver does not tell.
    std::optional<Luid> luid; ///< Windows.
    uint64_t total_bytes = 0;
    int compute_capability = 0; ///< 10 * major + minor.
    /// As the driver tells them; 0: it does not.
    int multiprocessors = 0, clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
    Trouble unusable; ///< None: usable.
};

std::vector<Card> listCards(const Driver& driver);

/// Free on the card now, over all programs. From the management library, else from the driver,
/// which needs a context for a moment. Nothing
/// when neither answers.
std::optional<uint64_t> freeBytes(const Driver& driver, const Card& card);

/// What the driver takes on this card for this program beside all allocations (its context and the
/// loaded kernels): as measured when the card was opened last, else a usual figure.
uint64_t contextBytes(const Driver& driver, const Card& card);
/// Whether that is the usual figure: never opened, or nothing there could measure it (without the
/// management library).
bool isContextAssumed(const Driver& driver, int ordinal);

/// Bookkeeping of opened cards: contexts are shared within a process, so that only the first
/// opening shows what a context takes.
class ContextRecord {
public:
    /// `measured`: bytes that this opening took.
    ContextRecord(const Driver& driver, int ordinal, uint64_t measured);
    ~ContextRecord();
    ContextRecord(const ContextRecord&) = delete;
    ContextRecord& operator=(const ContextRecord&) = delete;
    [[nodiscard]] uint64_t bytes() const { return bytes_; }

private:
    const Driver* driver_;
    int ordinal_;
    uint64_t bytes_ = 0;
};

} // namespace kernels::cuda
