// SPDX-License-Identifier: Apache-2.0
// What the library found as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "library/removal.h"
#include "library/scanner.h"

namespace cli {

/// A table: models that can be used with their adapters below them, then what cannot be used and
/// why, then the places that could not be looked at.
std::string modelsText(const library::ScanResult& found);
nlohmann::ordered_json modelsJson(const library::ScanResult& found);

/// What would be deleted, as lines.
std::string removalText(const library::Removal& removal);

} // namespace cli
