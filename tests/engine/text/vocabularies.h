// SPDX-License-Identifier: Apache-2.0
// Tokenizers for the tests of engine/text: the tiny golden one, and the real vocabulary with the
// 24 added tokens of Gemma 4 in place of Gemma 3's list (same entries and merges otherwise).
#pragma once

#include "engine/text/tokenizer.h"
#include "tests/support/gemma4_vocabulary.h"
#include "tests/support/golden.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace support {

inline std::string readText(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::string goldenTokenizerJson() {
    return readText(goldenDir() / "e2b/model/tokenizer.json");
}

inline std::string gemma3TokenizerJson() {
    return readText(unpackedDataDir() / "gemma_tokenizer.json");
}

inline std::string gemma4TokenizerJson() {
    return gemma4Vocabulary(gemma3TokenizerJson());
}

/// Ends the test program when the tokenizer does not load.
inline engine::Tokenizer loadOrExit(const std::string& json) {
    auto loaded = engine::Tokenizer::fromJson(json);
    if (!loaded.has_value()) {
        std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
        std::exit(99);
    }
    return std::move(loaded).value();
}

} // namespace support
