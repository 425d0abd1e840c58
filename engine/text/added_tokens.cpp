// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8

#include "engine/text/added_tokens.h"

#include "engine/text/tokenizer_data.h"

#include <pcre2.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace engine::text {

namespace {

constexpr std::string_view kSign = "\xe2\x96\x81"; // kSpaceSign

/// Unicode's White_Space, as \s in Rust's regular expressions.
bool isWhiteSpace(uint32_t c) {
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

struct FreePattern {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

/// \w of Rust's regular expressions: Alphabetic, marks, decimal digits, connectors, joiners.
bool isWordCharacter(std::string_view character) {
    static const std::unique_ptr<pcre2_code, FreePattern> word([] {
        constexpr std::string_view kWord = R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}])";
        int problem = 0;
        size_t offset = 0;
        return pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kWord.data()), kWord.size(), PCRE2_UTF,
                             &problem, &offset, nullptr);
    }());
    const std::unique_ptr<pcre2_match_data, FreePattern> found(pcre2_match_data_create(1, nullptr));
    if (word == nullptr || found == nullptr) {
        throw std::bad_alloc();
    }
    return pcre2_match(word.get(), reinterpret_cast<PCRE2_SPTR>(character.data()), character.size(),
                       0, 0, found.get(), nullptr) > 0;
}

bool startsWithWord(std::string_view text) {
    const Character first = firstCharacter(text);
    return first.is_valid && isWordCharacter(text.substr(0, first.size));
}

/// The last character of a text that is not empty; one byte that is not valid where it is none.
std::string_view lastCharacterOf(std::string_view text) {
    for (size_t size = 1; size <= std::min<size_t>(4, text.size()); ++size) {
        const std::string_view end = text.substr(text.size() - size);
        const Character character = firstCharacter(end);
        if (character.is_valid && character.size == size) {
            return end;
        }
    }
    return text.substr(text.size() - 1);
}

bool endsWithWord(std::string_view text) {
    const std::string_view last = lastCharacterOf(text);
    return firstCharacter(last).is_valid && isWordCharacter(last);
}

} // namespace

void AddedTokens::makeIndex() {
    if (is_normalized_) {
        for (AddedToken& token : tokens_) {
            std::string folded;
            appendSpelling(token.content, folded); // a space for U+2581, as byteAt() gives it
            token.content = std::move(folded);
        }
    }
    // Where two are spelled alike now, `tokenizers` takes sometimes one, sometimes the other.
    std::stable_sort(tokens_.begin(), tokens_.end(), [](const AddedToken& a, const AddedToken& b) {
        return a.content < b.content;
    });
    tokens_.erase(std::unique(tokens_.begin(), tokens_.end(),
                              [](const AddedToken& a, const AddedToken& b) {
                                  return a.content == b.content;
                              }),
                  tokens_.end());
    begins_ = {};
    for (const AddedToken& token : tokens_) {
        ++begins_[size_t{static_cast<unsigned char>(token.content[0])} + 1];
        has_plain_ = has_plain_ || token.is_plain;
    }
    for (size_t byte = 0; byte < 256; ++byte) {
        begins_[byte + 1] += begins_[byte];
    }
}

unsigned char AddedTokens::byteAt(std::string_view text, size_t& at) const {
    if (is_normalized_ && text.substr(at, kSign.size()) == kSign) {
        at += kSign.size();
        return ' ';
    }
    return static_cast<unsigned char>(text[at++]);
}

AddedTokens::Found AddedTokens::longestAt(std::string_view text, bool is_plain_only) const {
    size_t used = 0;
    const unsigned char first = byteAt(text, used);
    size_t low = begins_[first];
    size_t high = begins_[size_t{first} + 1];
    Found found;
    // tokens_[low, high) begin with the `depth` bytes read so far.
    for (size_t depth = 1; low < high; ++depth) {
        if (tokens_[low].content.size() == depth) {
            if (tokens_[low].is_plain || !is_plain_only) {
                found = {&tokens_[low], used};
            }
            ++low;
        }
        if (low == high || used == text.size()) {
            break;
        }
        // One token is left: its rest is compared as a whole, unless a sign may stand for a space.
        const std::string_view rest = std::string_view(tokens_[low].content).substr(depth);
        if (high - low == 1 && (!is_normalized_ || rest.find(' ') == std::string_view::npos)) {
            if ((tokens_[low].is_plain || !is_plain_only) && text.substr(used).starts_with(rest)) {
                found = {&tokens_[low], used + rest.size()};
            }
            break;
        }
        const unsigned char next = byteAt(text, used);
        const auto byteOf = [&](const AddedToken& token) {
            return static_cast<unsigned char>(token.content[depth]);
        };
        const auto begin = tokens_.begin();
        const auto from = std::partition_point(
            begin + static_cast<std::ptrdiff_t>(low), begin + static_cast<std::ptrdiff_t>(high),
            [&](const AddedToken& token) { return byteOf(token) < next; });
        const auto to =
            std::partition_point(from, begin + static_cast<std::ptrdiff_t>(high),
                                 [&](const AddedToken& token) { return byteOf(token) == next; });
        low = static_cast<size_t>(from - begin);
        high = static_cast<size_t>(to - begin);
    }
    return found;
}

/// One call of cut().
class AddedTokens::Cutter {
public:
    Cutter(const AddedTokens& tokens, std::string_view text, size_t begin, size_t end)
        : tokens_(tokens), text_(text), begin_(begin), end_(end), done_(begin) {}

    void cutWithin(const MatchRange& range) {
        if (range.is_plain_only && !tokens_.has_plain_) {
            return;
        }
        const size_t end = std::min(range.end, end_);
        size_t at = std::max(range.begin, begin_);
        while (at < end) {
            const Found found = tokens_.longestAt(text_.substr(at, end - at), range.is_plain_only);
            if (found.token == nullptr) {
                ++at;
                continue;
            }
            take(*found.token, at, at + found.length);
            at += found.length; // also where it was no single word
        }
    }

    std::vector<Cut> finish() {
        if (done_ < end_) {
            cuts_.push_back({-1, done_, end_});
        }
        return std::move(cuts_);
    }

private:
    void take(const AddedToken& token, size_t start, size_t stop) {
        if (token.is_single_word && (endsWithWord(start) || startsWithWord(stop))) {
            return;
        }
        if (token.strips_left) {
            start = std::max(done_, whiteSpaceBegin(start));
        }
        if (token.strips_right) {
            stop = whiteSpaceEnd(stop);
        }
        if (done_ < start) {
            cuts_.push_back({-1, done_, start});
        }
        if (start < stop) { // not in white space that the token before has taken
            cuts_.push_back({token.id, start, stop});
        }
        done_ = stop;
    }

    [[nodiscard]] bool endsWithWord(size_t at) const {
        return at > begin_ && text::endsWithWord(text_.substr(begin_, at - begin_));
    }

    [[nodiscard]] bool startsWithWord(size_t at) const {
        return at < end_ && text::startsWithWord(text_.substr(at, end_ - at));
    }

    /// Normalized text has U+2581 for a space, which is no white space.
    [[nodiscard]] bool isWhite(std::string_view character) const {
        const Character c = firstCharacter(character);
        return c.is_valid && isWhiteSpace(c.code_point) &&
               !(tokens_.is_normalized_ && c.code_point == ' ');
    }

    [[nodiscard]] size_t whiteSpaceBegin(size_t at) const {
        while (at > done_) {
            const std::string_view last = lastCharacterOf(text_.substr(done_, at - done_));
            if (!isWhite(last)) {
                break;
            }
            at -= last.size();
        }
        return at;
    }

    /// Tokens within white space ask again and again: the end of a run is looked for once.
    [[nodiscard]] size_t whiteSpaceEnd(size_t at) {
        if (at >= run_begin_ && at <= run_end_) {
            return run_end_;
        }
        run_begin_ = at;
        while (at < end_) {
            const std::string_view rest = text_.substr(at, end_ - at);
            if (!isWhite(rest)) {
                break;
            }
            at += firstCharacter(rest).size;
        }
        run_end_ = at;
        return at;
    }

    const AddedTokens& tokens_;
    std::string_view text_;
    size_t begin_, end_;
    size_t done_;                        ///< Where the last token ended.
    size_t run_begin_ = 1, run_end_ = 0; ///< White space seen; none yet.
    std::vector<Cut> cuts_;
};

std::vector<Cut> AddedTokens::cut(std::string_view text,
                                  size_t begin,
                                  size_t end,
                                  const std::vector<MatchRange>& ranges) const {
    Cutter cutter(*this, text, begin, end);
    if (!tokens_.empty()) {
        auto range = std::partition_point(ranges.begin(), ranges.end(),
                                          [&](const MatchRange& r) { return r.end <= begin; });
        for (; range != ranges.end() && range->begin < end; ++range) {
            cutter.cutWithin(*range);
        }
    }
    return cutter.finish();
}

} // namespace engine::text
