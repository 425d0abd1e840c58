// SPDX-License-Identifier: Apache-2.0
// A device map as text, for a file or for another program.
#pragma once

#include "engine/api/sentence.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// A map as Belfry's own document or as accelerate's dictionary.
struct MapExport {
    enum class Kind : uint8_t { Document = 1, Accelerate };
    std::string text;
    std::vector<Sentence>
        losses; ///< Where the plan does not fit; what that program does differently.
};

} // namespace engine
