// SPDX-License-Identifier: Apache-2.0
// Whether an embedding table saved inside an adapter file is the base's own.
#pragma once

#include "engine/files/tensor_source.h"
#include "engine/model/model_config.h"

#include <stop_token>
#include <string>
#include <string_view>

namespace engine {

/// Compares values piece by piece; true when every value is equal. `tensor` is the canonical name
/// of the base tensor; a head that is no tensor of its own compares with the token table. False
/// when the base has no such dense tensor of this shape. Errors: of reading, Cancelled.
Result<bool> equalsBaseTable(const TensorSource& adapter,
                             const TensorInfo& saved,
                             const TensorSource& base,
                             const ModelConfig& model,
                             std::string_view tensor,
                             const std::stop_token& stop);

} // namespace engine
