// SPDX-License-Identifier: Apache-2.0
// What is worth knowing of an adapter, in English: for the command line and JSON.
#pragma once

#include "engine/api/adapter_note.h"

#include <string>
#include <vector>

namespace engine {

std::string inEnglish(const AdapterNote& note);
std::vector<std::string> inEnglish(const std::vector<AdapterNote>& notes);

} // namespace engine
