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

/// A number as Python writes it (float.__repr__), which is what templates print: the fewest
/// digits that read as the same number; from 1e16 and below 1e-4 with an exponent.
std::string fractionText(double value);

} // namespace engine
