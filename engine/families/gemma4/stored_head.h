// SPDX-License-Identifier: Apache-2.0
// What the weight files say of the output head. Most checkpoints store none: the head is the token
// table. A stored lm_head.weight with other values counts, whatever config.json says of
// tie_word_embeddings, as transformers 5 does; one with the table's values is the table. A tied
// checkpoint may also store its one table under the head's name. Reads values only where both are
// stored.
#pragma once

#include "engine/base/result.h"
#include "engine/files/tensor_source.h"
#include "engine/model/model_config.h"

#include <stop_token>
#include <string>
#include <string_view>

namespace engine {

/// Sets config.has_own_head and config.is_table_stored_as_head from the files, and warns where the
/// files decide. The two tables are compared piece by piece in a few MiB, up to the first
/// difference, once per state of the files. Sources without data are left as config.json has it.
/// Errors: of reading; Cancelled.
Result<void>
decideHead(ModelConfig& config, const TensorSource& source, const std::stop_token& stop = {});

/// canonicalTensorName() of a tensor of the files of this model, after decideHead().
std::string storedTensorName(const ModelConfig& config, std::string_view file_name);

/// The name of a head of its own in files that store their one table as `table_file_name`.
std::string headFileName(std::string_view table_file_name);
/// The name of the token table in files that so far held it under the head's.
std::string tableFileName(const ModelConfig& config);

/// The error of a model whose head is not tied and is not stored either.
Error missingHead();

} // namespace engine
