// SPDX-License-Identifier: Apache-2.0
// Token ids to text one at a time. Gives out only complete UTF-8 characters: a character split
// over byte tokens is held back until its last byte has come.
#pragma once

#include "engine/text/tokenizer.h"

#include <array>
#include <string>

namespace engine {

struct DetokenizerOptions {
    bool skips_special = true;   ///< Give nothing for added tokens flagged special.
    bool continues_text = false; ///< A space at the beginning is no prefix (hasSpacePrefix()).
};

/// The concatenation of all push() results and flush() is always valid UTF-8. It equals
/// Tokenizer::decode() of the same ids whenever every run of byte tokens is valid UTF-8. In other
/// runs each byte that cannot become part of a character is replaced by one U+FFFD at once,
/// because a stream cannot know where the run ends. For byte-level tokens it always equals
/// decode().
class StreamingDetokenizer {
public:
    explicit StreamingDetokenizer(Tokenizer tokenizer, DetokenizerOptions options = {});

    /// Text that became certain with this token; may be empty. Unknown ids give nothing.
    std::string push(TokenId id);
    /// What is still held back, as U+FFFD; the object is as new afterwards.
    std::string flush();

private:
    void pushByte(uint8_t byte, std::string& out);
    void replacePending(std::string& out);

    Tokenizer tokenizer_;
    DetokenizerOptions options_;
    bool is_prefix_due_ = false;
    std::array<uint8_t, 4> pending_{}; ///< Start of an incomplete UTF-8 sequence.
    int pending_size_ = 0;
};

} // namespace engine
