// SPDX-License-Identifier: Apache-2.0
// What the user should know of a reply, in English: for the command line and JSON.
#pragma once

#include "engine/api/reply_note.h"

#include <string>
#include <vector>

namespace engine {

std::string inEnglish(const ReplyNote& note);
std::vector<std::string> inEnglish(const std::vector<ReplyNote>& notes);

} // namespace engine
