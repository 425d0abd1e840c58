// SPDX-License-Identifier: Apache-2.0
// How much slower than estimated a device was when replies were measured on it, by device and
// format of the weights: estimates of all placements are corrected by it. The first reply of some
// length calibrates.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/load_request.h"
#include "engine/plan/planner.h"
#include "engine/run/opened_model.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// Measured seconds by estimated ones.
struct SpeedFactors {
    double decode = 1.0, prefill = 1.0;
    friend bool operator==(const SpeedFactors&, const SpeedFactors&) = default;
};

/// The share of an estimate that one device has, and what the whole was measured to be.
struct SpeedMeasured {
    double here = 0, all = 0; ///< Estimated seconds, by a factor of `used`.
    double used = 1.0;
    double measured = 0; ///< Seconds of the whole.
};
/// The device's factor from that; nothing where too little of the time is the device's to tell.
std::optional<double> learnedFactor(const SpeedMeasured& of);

class SpeedBook {
public:
    /// folder: where the factors are kept; empty: nowhere, and none are known.
    explicit SpeedBook(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

    /// Corrects the rates of devices for a load, and remembers by which factors.
    void correct(const LoadRequest& request,
                 const OpenedModel& opened,
                 std::vector<DeviceInfo>& devices);
    /// What the plan, made with these rates, said of a reply that was measured.
    void learn(const PlacementPlan& plan, const GenerateTiming& timing) const;

private:
    struct Used {
        std::string key;
        SpeedFactors factors;
    };
    std::filesystem::path folder_;
    std::map<DeviceId, Used> used_;
};

} // namespace engine
