// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding from a Hugging Face tokenizer.json. The file's members and the refusals are
// described in engine/text/TOKENIZER.md. Two pipelines are accepted. SentencePiece-like: space
// becomes U+2581, no word split, BPE by merge rank, byte tokens for characters that the vocabulary
// lacks. Byte-level: words by the rules of GPT-2 or Llama 3, then BPE of their bytes. Other
// normalizers, splits and decoders are refused by name.
#pragma once

#include "engine/api/sentence.h"
#include "engine/base/result.h"
#include "engine/files/checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

using TokenId = int32_t;

/// A piece of a prompt. Control tokens (the file's added tokens) are recognised only where
/// `matches_added_tokens` is set: text typed by people never becomes a control token. Words that a
/// trainer added behind the vocabulary and did not flag "special" are recognised everywhere, but
/// not in byte-level files, where chat formats have markers without that flag.
struct Segment {
    std::string text;
    bool matches_added_tokens = false;

    friend bool operator==(const Segment&, const Segment&) = default;
};

struct EncodeOptions {
    /// Recognise added tokens in the text, as the reference's plain encode does; else only those
    /// that match in typed text, too (see Segment).
    bool matches_added_tokens = true;
    /// Put the tokens of the file's post_processor around the text (Gemma: `<bos>` before it).
    /// For raw text only: a rendered chat prompt already starts with `<bos>`.
    bool adds_special_tokens = false;
};

/// Immutable; copies share one vocabulary. All const functions may be called from any thread.
class Tokenizer {
public:
    /// From the text of a tokenizer.json. Errors: InvalidFile (broken JSON, contradictions: each
    /// its own message), Unsupported (a valid file of another kind, named). details "rule" names
    /// the rule, see TOKENIZER.md.
    static Result<Tokenizer> fromJson(std::string_view json);

    /// The tokenizer of a model. Errors as fromJson(), and InvalidFile when its text is missing,
    /// unreadable or larger than maxTextBytes().
    static Result<Tokenizer> fromCheckpoint(const Checkpoint& checkpoint);

    /// Token ids of `text` (UTF-8; a byte that is not part of valid UTF-8 becomes its own token).
    /// Empty text gives no token.
    [[nodiscard]] std::vector<TokenId> encode(std::string_view text,
                                              const EncodeOptions& options = {}) const;

    /// Token ids of a prompt in pieces. An added token must lie inside one segment; ordinary text
    /// continues across borders as if it stood in one string (a BPE word reaches from one matched
    /// added token to the next). Adds nothing at the ends.
    [[nodiscard]] std::vector<TokenId> encodeSegments(std::span<const Segment> segments) const;

    /// The text of `ids` with the reference's rules: U+2581 becomes a space; a maximal run of byte
    /// tokens that is not valid UTF-8 as a whole becomes one U+FFFD per byte token; of byte-level
    /// tokens, each longest beginning of a character one. Ids outside the vocabulary give nothing.
    /// Always valid UTF-8.
    [[nodiscard]] std::string decode(std::span<const TokenId> ids,
                                     bool skips_special = false) const;

    /// Id of a vocabulary entry or added token spelled exactly so.
    [[nodiscard]] std::optional<TokenId> idOf(std::string_view token) const;
    /// Spelling of a token as in the file ("▁the", "<0x0A>", "<|turn>"); empty for unknown ids.
    /// Valid while any copy of this tokenizer lives.
    [[nodiscard]] std::string_view tokenText(TokenId id) const;
    /// True for added tokens flagged "special".
    [[nodiscard]] bool isSpecial(TokenId id) const;
    /// True for every entry of the file's added_tokens, special or not.
    [[nodiscard]] bool isAdded(TokenId id) const;
    /// True for tokens that ordinary text can become even where added tokens do not match (a merge
    /// builds them). Never true for special tokens: such files are refused.
    [[nodiscard]] bool isBuiltByMerge(TokenId id) const;
    /// What a token writes: the byte of a byte token ("<0x0A>"), those of a byte-level token, else
    /// its spelling with spaces for U+2581. Not always UTF-8. Empty for unknown ids.
    [[nodiscard]] std::string bytesOf(TokenId id) const;
    [[nodiscard]] bool isByteLevel() const;
    /// Text begins with a space of the tokenizer's own, which decode() takes away again.
    [[nodiscard]] bool hasSpacePrefix() const;
    /// Number of ids: vocabulary entries and added tokens outside it. Ids are 0 .. vocabSize() - 1.
    [[nodiscard]] int64_t vocabSize() const;
    /// The tokens that `adds_special_tokens` puts before and after the text.
    [[nodiscard]] std::span<const TokenId> prefixTokens() const;
    [[nodiscard]] std::span<const TokenId> suffixTokens() const;
    /// Accepted peculiarities of the file, for the load report.
    [[nodiscard]] const std::vector<Sentence>& warnings() const;

    struct Data; ///< Private to engine/text.

private:
    explicit Tokenizer(std::shared_ptr<const Data> data);
    std::shared_ptr<const Data> data_; ///< Never null.
};

} // namespace engine
