// SPDX-License-Identifier: Apache-2.0
// What the names in a weight file look like when they are not those that the config implies. A
// tensor that is not found is rarely one that was not downloaded: it has another name, another
// format, or its tower was left out on purpose. Looks at names and element types only.
#pragma once

#include "engine/base/result.h"
#include "engine/families/tensor_list.h"
#include "engine/files/tensor_source.h"
#include "engine/model/model_config.h"

#include <optional>
#include <string>
#include <vector>

namespace engine {

/// Why `tensor` (canonical) is not in the files, and what to do. InvalidFile, rule "missing".
Error missingTensor(const std::string& tensor,
                    const ModelConfig& config,
                    const std::vector<ExpectedTensor>& expected,
                    const TensorSource& source);

/// Names that leave open which weights are meant: two spellings of one tensor, or the base layers
/// of a PEFT model beside its low-rank factors. Errors: InvalidFile, Unsupported.
Result<void> checkStoredNames(const ModelConfig& config,
                              const std::vector<ExpectedTensor>& expected,
                              const TensorSource& source);

/// The program whose quantized format a weight's companions show ("MLX", "GPTQ or AWQ", ...); empty
/// when there are none. `weight`: the stored name of the weight, also when only companions exist.
std::optional<Phrase> foreignQuantization(const TensorSource& source, std::string_view weight);

} // namespace engine
