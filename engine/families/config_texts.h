// SPDX-License-Identifier: Apache-2.0
// What the families' readers of a model folder's JSON files have in common.
#pragma once

#include "engine/base/json/section.h"
#include "engine/base/result.h"
#include "engine/model/model_config.h"
#include "engine/model/tensor_entry.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A JSON text that must be an object; "{}" when the text is empty.
Result<Json> parseConfigObject(std::string_view text, const std::string& file);

/// The quantization block of config.json; nullopt when there is none or when it names no method, as
/// in unquantized models that were trained to be quantized.
std::optional<QuantizationHint> readQuantization(const JsonSection& section);

/// Every tensor is bounded by the ranges of its sizes; their sum, the head's too, is bounded here.
Result<void> checkTotalSize(std::vector<ExpectedTensor> tensors, const ModelConfig& config);

} // namespace engine
