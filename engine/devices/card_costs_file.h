// SPDX-License-Identifier: Apache-2.0
// What cards were seen to take for their driver and to round to, kept in a small file, so that the
// next program plans with it before it opens any: per kind of card, driver and kernels of this
// build.
#pragma once

#include "kernels/card_costs.h"

#include <filesystem>
#include <string>

namespace engine {

/// Zeros where `file` has nothing of this key. A file that cannot be read has nothing.
kernels::CardCosts keptCardCosts(const std::filesystem::path& file, const std::string& key);

/// Adds the figures, or replaces those of the key. What cannot be written is measured again by the
/// next program and is no error. Only the user can read the file.
void keepCardCosts(const std::filesystem::path& file,
                   const std::string& key,
                   const kernels::CardCosts& costs);

} // namespace engine
