// SPDX-License-Identifier: Apache-2.0
// What compare found, in a small JSON file of the configuration folder beside that of the user's
// folders: belfry-cli adds to it, the window reads it.
#pragma once

#include "engine/api/comparison.h"
#include "engine/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace models {

/// Most that are kept: the oldest makes room.
inline constexpr size_t kMostComparisons = 500;

/// In the order in which they were kept, the newest last. No file: none. Errors: InvalidFile
/// (cannot be read, is too large or no such JSON).
engine::Result<std::vector<engine::Comparison>> readComparisons(const std::filesystem::path& file);

/// Adds one in the place of an earlier one of the same model, precisions and text. Replaces the
/// file as a whole, a damaged one too, and makes its folder. Errors: InvalidFile (cannot be
/// written).
engine::Result<void> keepComparison(const std::filesystem::path& file,
                                    const engine::Comparison& found);

/// Fills `model` and `bytes`: its path without links, the size of its weights on the disk (0: there
/// are none).
void nameCompared(const std::filesystem::path& model, engine::Comparison& one);

/// Those of a model as it lies there now.
std::vector<engine::Comparison> comparisonsOf(const std::filesystem::path& model,
                                              const std::vector<engine::Comparison>& all);

} // namespace models
