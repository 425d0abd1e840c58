// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json as read, before anything is looked up: vocabulary and merges as flat lists,
// every other member as a small tree. Private to engine/text. Checks JSON and limits only; what
// the members mean is checked in tokenizer_load.cpp.
#pragma once

#include "engine/base/json/tree.h"
#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine::text {

/// Longest vocabulary entry or added token, bytes.
inline constexpr size_t kMaxTokenBytes = 1024;
inline constexpr size_t kMaxTokens = size_t{1} << 20;
inline constexpr size_t kMaxMerges = size_t{1} << 22;
/// Values outside vocab and merges (Gemma 3's 6415 added tokens make 51 000).
inline constexpr size_t kMaxNodes = size_t{1} << 18;
inline constexpr size_t kMaxMembers = 256;

struct TokenizerFile {
    struct VocabEntry {
        uint32_t begin = 0; ///< Start of the token in `bytes`.
        uint32_t length = 0;
        int32_t id = 0;
    };
    struct MergeEntry {
        uint32_t begin = 0; ///< Start of left and right together in `bytes`.
        uint16_t left_length = 0, right_length = 0;
    };

    std::string bytes;
    std::vector<VocabEntry> vocab;
    std::vector<MergeEntry> merges; ///< Rank = index.
    bool has_vocab = false, has_merges = false;
    /// Everything else; model.vocab and model.merges stand in it without their contents.
    Json root;

    [[nodiscard]] std::string_view tokenOf(const VocabEntry& entry) const {
        return std::string_view(bytes).substr(entry.begin, entry.length);
    }
};

/// InvalidFile or Unsupported with detail "rule".
Error tokenizerError(ErrorCode code, std::string_view rule, const Sentence& what);

/// A token in an error message: quoted, shortened, control characters as \xNN.
std::string quoteToken(std::string_view token);

/// A token id as written in JSON: plain digits, below kMaxTokens; -1 for anything else.
int32_t parseTokenId(std::string_view literal);

/// Errors: InvalidFile, rules TK01 to TK05, TK16 to TK18 (engine/text/TOKENIZER.md).
Result<TokenizerFile> readTokenizerFile(std::string_view json);

} // namespace engine::text
