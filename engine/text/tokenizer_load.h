// SPDX-License-Identifier: Apache-2.0
// From the raw members of a tokenizer.json to checked lookup tables. Private to engine/text.
#pragma once

#include "engine/text/tokenizer_data.h"
#include "engine/text/tokenizer_file.h"

#include <memory>

namespace engine::text {

/// Checks every rule of engine/text/TOKENIZER.md that readTokenizerFile() does not.
/// Errors: InvalidFile, Unsupported; detail "rule".
Result<std::shared_ptr<const Tokenizer::Data>> loadTokenizer(const TokenizerFile& file);

} // namespace engine::text
