// SPDX-License-Identifier: Apache-2.0
// A device map written for another program.
#pragma once

#include "engine/api/export_loss.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// A map written for another program.
struct MapExport {
    enum class Kind : uint8_t { Document = 1, Accelerate, LlamaCpp, Python };
    Kind kind = Kind::Document;
    std::string text;
    std::vector<ExportLoss> losses; ///< What that program does differently.
};

} // namespace engine
