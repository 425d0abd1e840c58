// SPDX-License-Identifier: Apache-2.0
// What a lost graphics card leaves: some losses end with the next load, others with the process.
#pragma once

#include "engine/api/error.h"

#include <algorithm>
#include <string_view>

namespace engine {

/// A detail of DeviceLost: the driver refuses every card to this process from now on, so that only
/// a new process (or the CPU) helps; loading again cannot.
inline constexpr std::string_view kNeedsNewProcess = "needs_new_process";

inline bool needsNewProcess(const Error& error) {
    return std::any_of(error.details.begin(), error.details.end(),
                       [](const auto& detail) { return detail.first == kNeedsNewProcess; });
}

/// A detail of an error: the engine's process ended in the middle of what was asked, and another
/// one loads what was loaded. Nobody has to do anything but ask again.
inline constexpr std::string_view kStartedAgain = "started_again";

inline bool wasStartedAgain(const Error& error) {
    return std::any_of(error.details.begin(), error.details.end(),
                       [](const auto& detail) { return detail.first == kStartedAgain; });
}

} // namespace engine
