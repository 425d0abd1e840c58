// SPDX-License-Identifier: Apache-2.0
// Tokenizers for the tests of engine/text: the tiny golden one, and the real vocabulary with the
// 24 added tokens of Gemma 4 in place of Gemma 3's list (same entries and merges otherwise).
#pragma once

#include "engine/text/tokenizer.h"
#include "tests/support/files.h"
#include "tests/support/gemma4_vocabulary.h"
#include "tests/support/golden.h"
#include "tests/support/results.h"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace support {

inline std::string goldenTokenizerJson() {
    return textOf(goldenDir() / "e2b/model/tokenizer.json");
}

inline std::string gemma3TokenizerJson() {
    return textOf(unpackedDataDir() / "gemma_tokenizer.json");
}

inline std::string gemma4TokenizerJson() {
    return gemma4Vocabulary(gemma3TokenizerJson());
}

/// Ends the test program when the tokenizer does not load.
inline engine::Tokenizer loadOrExit(const std::string& json) {
    return must(engine::Tokenizer::fromJson(json), "tokenizer");
}

} // namespace support
