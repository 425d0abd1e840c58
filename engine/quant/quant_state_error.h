// SPDX-License-Identifier: Apache-2.0
// How errors about quantized weights of a checkpoint look: layer, rule, expected, found, next
// step. Private to engine/quant.
#pragma once

#include "engine/base/result.h"
#include "engine/files/tensor_source.h"

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Text from a file for a message: quoted, cut, control characters replaced.
std::string quotedForMessage(std::string_view text);

/// "[2, 3]".
std::string shownShape(const std::vector<int64_t>& shape);
/// "BF16 [2, 3]": a tensor as it is, or as it should be.
std::string described(TensorType type, const std::vector<int64_t>& shape);
std::string described(const TensorInfo& info);

/// InvalidFile with details layer, rule, expected, found.
Error quantStateError(std::string_view layer,
                      std::string_view rule,
                      const Argument& expected,
                      const Argument& found);

} // namespace engine
