// SPDX-License-Identifier: Apache-2.0
// The names of tokens in a tokenizer.json, whatever pipeline it has: to tell whether an adapter was
// trained with tokens that a model's tokenizer lacks.
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The added tokens of a tokenizer.json, in its order. Errors: InvalidFile (not such a file).
Result<std::vector<std::string>> addedTokenNames(std::string_view json);

/// Those of `names`, quoted for messages, that a tokenizer.json has neither in its vocabulary nor
/// among its added tokens. Errors: InvalidFile (not such a file).
Result<std::vector<std::string>> tokensLacking(const std::vector<std::string>& names,
                                               std::string_view json);

} // namespace engine
