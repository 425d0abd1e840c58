// SPDX-License-Identifier: Apache-2.0
// The graphics cards that a driver shows, without opening any of them: for lists of devices and
// plans. A card that cannot be used stays in the list with the reason.
#pragma once

#include "kernels/card_costs.h"
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

/// As measured when the card was opened last or as recalled, else usual figures.
CardCosts cardCosts(const Driver& driver, int ordinal);
/// Whether the context's is a usual figure: never opened, or nothing there could measure it
/// (without the management library).
bool isContextAssumed(const Driver& driver, int ordinal);
/// Figures of an earlier program; kept where nothing was measured since.
void recallCosts(const Driver& driver, int ordinal, const CardCosts& costs);
/// All figures of a driver that goes away (a test's).
void forgetCosts(const Driver& driver);

/// Bookkeeping of opened cards: contexts are shared within a process, so that only the first
/// opening shows what a context takes.
class ContextRecord {
public:
    /// `measured`: bytes that this opening took; 0: nothing could measure them.
    ContextRecord(const Driver& driver, int ordinal, uint64_t measured);
    ~ContextRecord();
    ContextRecord(const ContextRecord&) = delete;
    ContextRecord& operator=(const ContextRecord&) = delete;
    [[nodiscard]] uint64_t bytes() const { return bytes_; }
    /// Notes what the open card was seen to round allocations up to.
    void setGranularity(uint64_t bytes);

private:
    const Driver* driver_;
    int ordinal_;
    uint64_t bytes_ = 0;
};

} // namespace kernels::cuda
