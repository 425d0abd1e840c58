// SPDX-License-Identifier: Apache-2.0
// How errors about quantized weights of a checkpoint look: layer, rule, expected, found, next
// step. Private to engine/quant.
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>

namespace engine {

/// Text from a file for a message: quoted, cut, control characters replaced.
std::string quotedForMessage(std::string_view text);

/// InvalidFile with details layer, rule, expected, found.
Error quantStateError(std::string_view layer,
                      std::string_view rule,
                      const Argument& expected,
                      const Argument& found);

} // namespace engine
