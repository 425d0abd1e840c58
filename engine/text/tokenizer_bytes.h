// SPDX-License-Identifier: Apache-2.0
// What a byte-level tokenizer does in front of its merges: GPT-2's alphabet, in which every byte is
// a character, and the rules that cut a text into words. Private to engine/text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct pcre2_real_match_context_8;
struct pcre2_real_match_data_8;

namespace engine::text {

/// The character that stands for a byte in a byte-level vocabulary, UTF-8.
std::string_view byteCharacter(uint8_t byte);

/// Appends the bytes that a spelling stands for. One that has a character outside of the alphabet
/// (an added token) stands for itself.
void appendBytes(std::string_view spelling, std::string& out);

/// A step of a pre-tokenizer: what it finds and what lies between are pieces of their own.
enum class WordRule : uint8_t {
    Digit = 1, ///< Each character of the category N.
    Digits,    ///< Runs of them.
    Gpt2,
    Llama3
};

/// The rule that a Split step's regular expression spells.
std::optional<WordRule> wordRuleOf(std::string_view pattern);

/// Cuts texts by rules, one after the other; for one thread.
class WordSplitter {
public:
    explicit WordSplitter(std::span<const WordRule> rules);
    /// Hands over the words of valid UTF-8 in order, none of them empty.
    void split(std::string_view text, const std::function<void(std::string_view)>& take) const;

private:
    std::span<const WordRule> rules_;
    std::shared_ptr<pcre2_real_match_data_8> found_;
    std::shared_ptr<pcre2_real_match_context_8> limits_;
};

} // namespace engine::text
