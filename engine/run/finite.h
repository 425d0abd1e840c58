// SPDX-License-Identifier: Apache-2.0
// Results that are NaN or infinite, and the error that says so before its cause is known
// (engine/run/nonfinite_cause.h finds it).
#pragma once

#include "engine/api/error.h"

#include <span>
#include <string>
#include <string_view>

namespace engine {

/// An error whose cause explainNotFinite() looks for. part: "vision", "audio" or "language".
Error notFiniteError(std::string message, std::string_view part);
[[nodiscard]] bool isNotFiniteError(const Error& error);

/// False where one is NaN or infinite.
[[nodiscard]] bool areFinite(std::span<const float> values);

} // namespace engine
