// SPDX-License-Identifier: Apache-2.0
// What is worth knowing of a load, in English: for the command line and JSON.
#pragma once

#include "engine/api/reply_note.h"

#include <string>

namespace engine {

std::string inEnglish(const reply_note::CacheLost& note);

} // namespace engine
