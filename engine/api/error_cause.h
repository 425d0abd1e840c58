// SPDX-License-Identifier: Apache-2.0
// What an error's message says, as a value: the complaints about a device map, which the window
// words by their places and suggestions.
#pragma once

#include "engine/api/error.h"
#include "engine/api/placement.h"

#include <memory>
#include <utility>
#include <vector>

namespace engine {

/// A device map, or the plan made of it, has these errors; not empty.
struct ErrorCause {
    std::vector<PlanIssue> errors;
};

inline std::shared_ptr<const ErrorCause> causeOf(std::vector<PlanIssue> errors) {
    return std::make_shared<const ErrorCause>(ErrorCause{std::move(errors)});
}

} // namespace engine
