// SPDX-License-Identifier: Apache-2.0
// Which families of models are read.
#pragma once

#include <cstdint>

namespace engine {

enum class Families : uint8_t {
    Promised = 1, ///< Those that Belfry promises to run.
    Experimental, ///< Also those that are there to keep the engine's seams honest.
};

} // namespace engine
