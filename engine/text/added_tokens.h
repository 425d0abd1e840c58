// SPDX-License-Identifier: Apache-2.0
// The added tokens of a tokenizer.json, and how a text is cut at them, as added_vocabulary.rs of
// `tokenizers` does: leftmost first, the longest of those that begin at one place; then the rules
// of the token found (single_word, lstrip, rstrip). Private to engine/text.
#pragma once

#include "engine/text/tokenizer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine::text {

struct AddedToken {
    TokenId id = -1;
    std::string content;
    bool is_special = false;
    bool is_single_word = false;          ///< Not beside a letter, digit or underscore.
    bool strips_left = false;             ///< Takes the white space before it.
    bool strips_right = false;            ///< Takes the white space behind it.
    bool matches_normalized_text = false; ///< Where a space is U+2581.
    /// A word that a trainer added to the vocabulary: it matches in every text, also in what
    /// people type. All others are control tokens or words that merges build anyway.
    bool is_plain = false;
};

/// A stretch of a text in which added tokens may lie.
struct MatchRange {
    size_t begin = 0, end = 0;
    bool is_plain_only = false; ///< No others than plain ones.
};

/// A token, or a stretch of ordinary text (id -1). Stretches can overlap where one token takes
/// white space in which the next begins.
struct Cut {
    TokenId id = -1;
    size_t begin = 0, end = 0;
};

/// The tokens of one pass: those that match the text as it stands, or those that match it with
/// U+2581 for every space.
class AddedTokens {
public:
    explicit AddedTokens(bool is_normalized) : is_normalized_(is_normalized) {}

    /// Before makeIndex(). The first of several that are spelled alike counts.
    void insert(AddedToken token) { tokens_.push_back(std::move(token)); }
    void makeIndex();

    /// Cuts text[begin, end); `ranges` are ascending and disjoint. Linear in the length of the
    /// stretch times that of the longest token.
    [[nodiscard]] std::vector<Cut> cut(std::string_view text,
                                       size_t begin,
                                       size_t end,
                                       const std::vector<MatchRange>& ranges) const;

private:
    struct Found {
        const AddedToken* token = nullptr;
        size_t length = 0; ///< In bytes of the text.
    };
    class Cutter;

    [[nodiscard]] Found longestAt(std::string_view text, bool is_plain_only) const;
    /// The byte at `at`, and moves on; in normalized text a space for U+2581.
    [[nodiscard]] unsigned char byteAt(std::string_view text, size_t& at) const;

    bool is_normalized_;
    bool has_plain_ = false;
    std::vector<AddedToken> tokens_;      ///< Sorted by content once there is an index.
    std::array<size_t, 257> begins_ = {}; ///< By first byte: where its tokens begin.
};

} // namespace engine::text
