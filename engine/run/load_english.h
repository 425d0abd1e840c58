// SPDX-License-Identifier: Apache-2.0
// What is worth knowing of a load, in English: for the command line and JSON.
#pragma once

#include "engine/api/load_note.h"

#include <string>
#include <vector>

namespace engine {

std::string inEnglish(const LoadNote& note);
std::vector<std::string> inEnglish(const std::vector<LoadNote>& notes);

} // namespace engine
