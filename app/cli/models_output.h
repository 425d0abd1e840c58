// SPDX-License-Identifier: Apache-2.0
// What the library found as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "models/removal.h"
#include "models/scanner.h"

namespace cli {

/// A table: models that can be used with their adapters below them, then what cannot be used and
/// why, then the places that could not be looked at.
std::string modelsText(const models::ScanResult& found);
nlohmann::ordered_json modelsJson(const models::ScanResult& found);

/// What would be deleted, as lines.
std::string removalText(const models::Removal& removal);

} // namespace cli
