// SPDX-License-Identifier: Apache-2.0
#include "engine/run/finite.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine {

namespace {

constexpr std::string_view kRule = "not-finite";

} // namespace

Error notFiniteError(std::string message, std::string_view part) {
    return Error{ErrorCode::Internal,
                 std::move(message),
                 {{"rule", std::string(kRule)}, {"part", std::string(part)}}};
}

bool isNotFiniteError(const Error& error) {
    return std::any_of(error.details.begin(), error.details.end(), [](const auto& detail) {
        return detail.first == "rule" && detail.second == kRule;
    });
}

bool areFinite(std::span<const float> values) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    bool is_finite = true;
    for (const float value : values) {
        is_finite = is_finite & (std::fabs(value) <= kLargest); // false for NaN
    }
    return is_finite;
}

} // namespace engine
