// SPDX-License-Identifier: Apache-2.0
// Gemma 4 12B ("unified"): the decoder of the others, and embedders in place of towers. Files and
// formulas: ARCHITECTURE.md.
#pragma once

#include "engine/families/family.h"

namespace engine {

const Family& gemma4UnifiedFamily();

} // namespace engine
