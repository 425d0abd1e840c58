// SPDX-License-Identifier: Apache-2.0
// A JSON tree as text again: without white space, numbers as they were written.
#pragma once

#include "engine/base/json/tree.h"

#include <string>
#include <string_view>

namespace engine {

/// The value as JSON; reads as the same tree.
std::string jsonText(const Json& value);

/// `text`, which is UTF-8, as a JSON string, quotes included.
std::string jsonString(std::string_view text);

} // namespace engine
