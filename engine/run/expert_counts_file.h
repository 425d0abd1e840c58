// SPDX-License-Identifier: Apache-2.0
// How often a model's routed experts were asked for, kept in a small file for each model, so that
// the next load brings those to the card that the last chats used most.
#pragma once

#include "engine/forward/memory/expert_counts.h"

#include <filesystem>
#include <string>

namespace engine {

/// Where counts of the model of that name are kept, in `folder`.
std::filesystem::path expertCountsFile(const std::filesystem::path& folder,
                                       const std::string& model);
/// Leaves the counts alone where the file has none of as many experts.
void readExpertCounts(const std::filesystem::path& file, ExpertCounts& counts);
/// What cannot be written is counted anew next time and is no error. Only the user can read it.
void keepExpertCounts(const std::filesystem::path& file, const ExpertCounts& counts);

} // namespace engine
