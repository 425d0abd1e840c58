// SPDX-License-Identifier: Apache-2.0
// What is odd about a model's files, in English: for the command line and JSON.
#pragma once

#include "engine/api/model_oddity.h"

#include <cstddef>
#include <string>
#include <vector>

namespace engine {

/// "a, b and 3 more".
std::string listed(const std::vector<std::string>& names, size_t count);

std::string inEnglish(const ModelOddity& oddity);
std::vector<std::string> inEnglish(const std::vector<ModelOddity>& oddities);

} // namespace engine
