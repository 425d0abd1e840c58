// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8

#include "engine/text/tokenizer_bytes.h"

#include "engine/base/utf8.h"
#include "engine/text/tokenizer_data.h"

#include <pcre2.h>

#include <array>
#include <new>

namespace engine::text {

namespace {

/// By WordRule: the expression as files spell it.
constexpr std::string_view kPatterns[] = {
    R"(\p{N})", R"(\p{N}+)",
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr size_t kNumRules = std::size(kPatterns);

/// Bytes that are printable in Latin-1 are themselves; the others stand at U+0100 and up.
constexpr uint32_t kEndOfAlphabet = 0x144;
struct Alphabet {
    std::array<std::string, 256> characters;
    std::array<int, kEndOfAlphabet> bytes{}; ///< -1: no character of the alphabet.

    Alphabet() {
        bytes.fill(-1);
        uint32_t next = 0x100;
        for (uint32_t byte = 0; byte < 256; ++byte) {
            const bool is_itself =
                (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
            const uint32_t character = is_itself ? byte : next++;
            appendUtf8(characters[byte], character);
            bytes[character] = static_cast<int>(byte);
        }
    }
};

const Alphabet& alphabet() {
    static const Alphabet kAlphabet;
    return kAlphabet;
}

/// White space is Unicode's White_Space as in Oniguruma, which `tokenizers` uses; PCRE2's \s has
/// U+180E as well.
const pcre2_code* compiled(WordRule rule) {
    static const auto kCompiled = [] {
        std::array<std::shared_ptr<pcre2_code>, kNumRules> all;
        for (size_t i = 0; i < kNumRules; ++i) {
            std::string pattern(kPatterns[i]);
            for (size_t at = pattern.find('\\'); at != std::string::npos;
                 at = pattern.find('\\', at + 1)) {
                if (pattern[at + 1] == 's' || pattern[at + 1] == 'S') {
                    pattern.replace(at, 2,
                                    pattern[at + 1] == 's' ? R"(\p{WSpace})" : R"(\P{WSpace})");
                }
            }
            int problem = 0;
            size_t offset = 0;
            all[i].reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                       PCRE2_UTF, &problem, &offset, nullptr),
                         pcre2_code_free);
            if (all[i] == nullptr) {
                throw std::bad_alloc();
            }
        }
        return all;
    }();
    return kCompiled[static_cast<size_t>(rule) - 1].get();
}

} // namespace

std::string_view byteCharacter(uint8_t byte) {
    return alphabet().characters[byte];
}

void appendBytes(std::string_view spelling, std::string& out) {
    const size_t size = out.size();
    for (std::string_view rest = spelling; !rest.empty();) {
        const Character next = firstCharacter(rest);
        const int byte = next.code_point < kEndOfAlphabet ? alphabet().bytes[next.code_point] : -1;
        if (byte < 0) {
            out.replace(size, std::string::npos, spelling);
            return;
        }
        out += static_cast<char>(byte);
        rest.remove_prefix(next.size);
    }
}

std::optional<WordRule> wordRuleOf(std::string_view pattern) {
    for (const WordRule rule : {WordRule::Gpt2, WordRule::Llama3}) {
        if (pattern == kPatterns[static_cast<size_t>(rule) - 1]) {
            return rule;
        }
    }
    return std::nullopt;
}

WordSplitter::WordSplitter(std::span<const WordRule> rules)
    : rules_(rules), found_(pcre2_match_data_create(1, nullptr), pcre2_match_data_free),
      limits_(pcre2_match_context_create(nullptr), pcre2_match_context_free) {
    if (found_ == nullptr || limits_ == nullptr) {
        throw std::bad_alloc();
    }
    pcre2_set_match_limit(limits_.get(), UINT32_MAX);
    pcre2_set_depth_limit(limits_.get(), UINT32_MAX);
    pcre2_set_heap_limit(limits_.get(), UINT32_MAX);
}

void WordSplitter::split(std::string_view text,
                         const std::function<void(std::string_view)>& take) const {
    const auto next = [&](size_t rule, std::string_view piece, const auto& self) -> void {
        if (piece.empty()) {
            return;
        }
        if (rule == rules_.size()) {
            take(piece);
            return;
        }
        const pcre2_code* const code = compiled(rules_[rule]);
        size_t done = 0;
        while (done < piece.size()) {
            const int result =
                pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(piece.data()), piece.size(), done,
                            PCRE2_NO_UTF_CHECK, found_.get(), limits_.get());
            if (result == PCRE2_ERROR_NOMATCH) {
                break;
            }
            if (result < 0) { // memory: the expressions are linear and have no other limit
                throw std::bad_alloc();
            }
            const size_t* const place = pcre2_get_ovector_pointer(found_.get());
            const size_t begin = place[0];
            const size_t end = place[1];
            self(rule + 1, piece.substr(done, begin - done), self);
            self(rule + 1, piece.substr(begin, end - begin), self);
            done = end;
        }
        self(rule + 1, piece.substr(done), self);
    };
    next(0, text, next);
}

} // namespace engine::text
