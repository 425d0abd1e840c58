// SPDX-License-Identifier: Apache-2.0
// Encoding: the text is cut at added tokens, then at borders that no merge can cross (this gives
// short words without a word-splitting rule and cannot change the result), and every word is
// merged by rank; of a byte-level file, the words are those of its rules. Decoding: spellings
// joined, byte tokens joined to characters.
#include "engine/text/tokenizer.h"

#include "engine/text/detokenizer.h"
#include "engine/text/tokenizer_load.h"

#include <queue>

#include <algorithm>
#include <deque>
#include <functional>

namespace engine {

namespace {

using text::Character;
using text::firstCharacter;
using text::MergeTable;

constexpr std::string_view kReplacementText = "\xef\xbf\xbd"; // U+FFFD

/// One encode call: its output and scratch memory.
class Encoder {
public:
    Encoder(const Tokenizer::Data& data, std::vector<TokenId>& out, size_t num_text_bytes)
        : data_(data), out_(out) {
        out_.reserve(num_text_bytes / 3 + 8);
        if (num_text_bytes >= kSmallTextBytes) {
            cache_.resize(kCacheSlots);
        }
        if (data.is_byte_level) {
            splitter_.emplace(data.word_rules);
        }
    }

    /// Ordinary text between two added tokens. `piece` must live as long as the encoder.
    void encodePiece(std::string_view piece) {
        if (splitter_) {
            encodeByteLevel(piece);
            return;
        }
        if (data_.has_space_prefix) {
            piece = prefixed_.emplace_back(" " + std::string(piece));
        }
        size_t word = 0;
        size_t at = 0;
        uint32_t last = 0;
        bool is_last_known = false; // the last character has a token of its own
        while (at < piece.size()) {
            const Character next = firstCharacter(piece.substr(at));
            const bool is_known = symbolOf(next) >= 0;
            bool is_cut = false;
            if (is_known && is_last_known) {
                is_cut = !data_.borders.mayJoin(last, next.code_point);
            } else {
                is_cut = !data_.do_byte_tokens_merge; // bytes do not merge with anything
            }
            if (is_cut && at > word) {
                encodeWord(piece.substr(word, at - word));
                word = at;
            }
            last = next.code_point;
            is_last_known = is_known;
            at += next.size;
        }
        if (at > word) {
            encodeWord(piece.substr(word));
        }
    }

private:
    static constexpr size_t kSmallTextBytes = 2048; ///< Shorter texts do not pay for a cache.
    static constexpr size_t kCacheSlots = 8192;
    static constexpr size_t kCachedWordBytes = 40;
    static constexpr size_t kShortWord = 64; ///< Symbols; longer words use the heap.

    struct CachedWord {
        std::string_view word;
        size_t begin = 0, count = 0; ///< Its tokens in out_.
    };

    /// Words lie within valid UTF-8; every other byte is a word of its own.
    void encodeByteLevel(std::string_view piece) {
        const auto words = [&](std::string_view valid) {
            splitter_->split(valid, [this](std::string_view word) { encodeWord(word); });
        };
        size_t begin = 0;
        for (size_t at = 0; at < piece.size();) {
            const Character next = firstCharacter(piece.substr(at));
            if (!next.is_valid) {
                words(piece.substr(begin, at - begin));
                encodeWord(piece.substr(at, 1));
                begin = at + 1;
            }
            at += next.size;
        }
        words(piece.substr(begin));
    }

    /// The token that a word is as a whole where merges are ignored, else -1. Never an added one.
    [[nodiscard]] TokenId wholeToken(std::string_view word) const {
        if (!data_.ignores_merges) {
            return -1;
        }
        std::string spelling;
        for (const char byte : word) {
            spelling += text::byteCharacter(static_cast<uint8_t>(byte));
        }
        const TokenId id = data_.find(spelling);
        const bool is_word =
            id >= 0 && (data_.flags[static_cast<size_t>(id)] & Tokenizer::Data::kAdded) == 0;
        return is_word ? id : -1;
    }

    [[nodiscard]] TokenId symbolOf(const Character& c) const {
        if (!c.is_valid) {
            return -1;
        }
        return data_.characters.find(c.code_point == ' ' ? text::kSpaceSign : c.code_point);
    }

    void encodeWord(std::string_view word) {
        CachedWord* slot = nullptr;
        if (!cache_.empty() && word.size() <= kCachedWordBytes && word.size() > 1) {
            slot = &cache_[text::hashBytes(word, data_.seed) & (kCacheSlots - 1)];
            if (slot->word == word) {
                for (size_t i = 0; i < slot->count; ++i) {
                    out_.push_back(out_[slot->begin + i]);
                }
                return;
            }
        }
        const TokenId whole = wholeToken(word);
        const size_t begin = out_.size();
        if (whole >= 0) {
            symbols_.assign(1, whole);
        } else {
            splitSymbols(word);
        }
        if (symbols_.size() > kShortWord) {
            mergeLong();
        } else {
            mergeShort();
        }
        out_.insert(out_.end(), symbols_.begin(), symbols_.end());
        if (slot != nullptr) {
            *slot = {word, begin, out_.size() - begin};
        }
    }

    void splitSymbols(std::string_view word) {
        symbols_.clear();
        for (const char c : data_.is_byte_level ? word : std::string_view()) {
            const TokenId symbol = data_.byte_token[static_cast<uint8_t>(c)];
            symbols_.insert(symbols_.end(), symbol >= 0 ? 1 : 0, symbol);
        }
        while (!data_.is_byte_level && !word.empty()) {
            const Character c = firstCharacter(word);
            const TokenId symbol = symbolOf(c);
            if (symbol >= 0) {
                symbols_.push_back(symbol);
            } else {
                for (const char byte : word.substr(0, c.size)) {
                    symbols_.push_back(data_.byte_token[static_cast<uint8_t>(byte)]);
                }
            }
            word.remove_prefix(c.size);
        }
    }

    [[nodiscard]] MergeTable::Merge mergeAt(size_t left, size_t right) const {
        return data_.merges.find(symbols_[left], symbols_[right]);
    }

    /// Looks for the lowest rank from left to right; quadratic, fastest for words.
    void mergeShort() {
        pairs_.clear();
        for (size_t i = 0; i + 1 < symbols_.size(); ++i) {
            pairs_.push_back(mergeAt(i, i + 1));
        }
        while (true) {
            size_t best = pairs_.size();
            int32_t best_rank = INT32_MAX;
            for (size_t i = 0; i < pairs_.size(); ++i) {
                if (pairs_[i].rank >= 0 && pairs_[i].rank < best_rank) {
                    best = i;
                    best_rank = pairs_[i].rank;
                }
            }
            if (best == pairs_.size()) {
                return;
            }
            symbols_[best] = pairs_[best].token;
            symbols_.erase(symbols_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
            pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(best));
            if (best < pairs_.size()) {
                pairs_[best] = mergeAt(best, best + 1);
            }
            if (best > 0) {
                pairs_[best - 1] = mergeAt(best - 1, best);
            }
        }
    }

    /// The same with a heap of (rank, place) and a linked list of symbols: n log n.
    void mergeLong() {
        struct Candidate {
            int32_t rank = 0;
            TokenId token = -1;
            size_t left = 0;
            bool operator>(const Candidate& other) const {
                return rank != other.rank ? rank > other.rank : left > other.left;
            }
        };
        const size_t size = symbols_.size();
        std::vector<size_t> next(size);
        std::vector<size_t> previous(size); // size = none
        std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap;
        const auto offer = [&](size_t left) {
            if (next[left] < size) {
                const MergeTable::Merge merge = mergeAt(left, next[left]);
                if (merge.rank >= 0) {
                    heap.push({merge.rank, merge.token, left});
                }
            }
        };
        for (size_t i = 0; i < size; ++i) {
            next[i] = i + 1;
            previous[i] = i == 0 ? size : i - 1;
        }
        for (size_t i = 0; i < size; ++i) {
            offer(i);
        }
        while (!heap.empty()) {
            const Candidate candidate = heap.top();
            heap.pop();
            const size_t left = candidate.left;
            // Symbols change while a candidate waits: it counts only if its pair is still there.
            if (symbols_[left] < 0 || next[left] >= size ||
                mergeAt(left, next[left]).rank != candidate.rank) {
                continue;
            }
            const size_t right = next[left];
            symbols_[left] = candidate.token;
            symbols_[right] = -1;
            next[left] = next[right];
            if (next[left] < size) {
                previous[next[left]] = left;
            }
            offer(left);
            if (previous[left] < size) {
                offer(previous[left]);
            }
        }
        symbols_.erase(std::remove(symbols_.begin(), symbols_.end(), -1), symbols_.end());
    }

    const Tokenizer::Data& data_;
    std::vector<TokenId>& out_;
    std::vector<CachedWord> cache_;
    std::vector<TokenId> symbols_;
    std::vector<MergeTable::Merge> pairs_; ///< Merges of symbols i and i + 1.
    std::optional<text::WordSplitter> splitter_;
    std::deque<std::string> prefixed_; ///< Pieces with a space before them.
};

/// Encodes `whole` with added tokens where `ranges` (ascending, disjoint) allow them.
void encodeRanges(const Tokenizer::Data& data,
                  std::string_view whole,
                  const std::vector<text::MatchRange>& ranges,
                  std::vector<TokenId>& out) {
    Encoder encoder(data, out, whole.size());
    for (const text::Cut& piece : data.exact.cut(whole, 0, whole.size(), ranges)) {
        if (piece.id >= 0) {
            out.push_back(piece.id);
            continue;
        }
        for (const text::Cut& part : data.normalized.cut(whole, piece.begin, piece.end, ranges)) {
            if (part.id >= 0) {
                out.push_back(part.id);
            } else {
                encoder.encodePiece(whole.substr(part.begin, part.end - part.begin));
            }
        }
    }
}

void appendReplacements(std::string& out, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        out.append(kReplacementText);
    }
}

bool isUtf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const Character c = firstCharacter(bytes);
        if (!c.is_valid) {
            return false;
        }
        bytes.remove_prefix(c.size);
    }
    return true;
}

} // namespace

Tokenizer::Tokenizer(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

Result<Tokenizer> Tokenizer::fromJson(std::string_view json) {
    ENGINE_ASSIGN(const auto file, text::readTokenizerFile(json));
    ENGINE_ASSIGN(auto data, text::loadTokenizer(file));
    return Tokenizer(std::move(data));
}

Result<Tokenizer> Tokenizer::fromCheckpoint(const Checkpoint& checkpoint) {
    ENGINE_ASSIGN(const std::string json, readRequired(checkpoint, ModelText::Tokenizer));
    return fromJson(json);
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
    std::vector<TokenId> out;
    if (options.adds_special_tokens) {
        out = data_->prefix;
    }
    encodeRanges(*data_, text, {{0, text.size(), !options.matches_added_tokens}}, out);
    if (options.adds_special_tokens) {
        out.insert(out.end(), data_->suffix.begin(), data_->suffix.end());
    }
    return out;
}

std::vector<TokenId> Tokenizer::encodeSegments(std::span<const Segment> segments) const {
    std::string whole;
    std::vector<text::MatchRange> ranges;
    for (const Segment& segment : segments) {
        ranges.push_back(
            {whole.size(), whole.size() + segment.text.size(), !segment.matches_added_tokens});
        whole += segment.text;
    }
    std::vector<TokenId> out;
    encodeRanges(*data_, whole, ranges, out);
    return out;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skips_special) const {
    std::string out;
    if (data_->is_byte_level) {
        StreamingDetokenizer stream(*this, {skips_special});
        for (const TokenId id : ids) {
            out += stream.push(id);
        }
        return out + stream.flush();
    }
    std::string run; // bytes of the current run of byte tokens
    const auto end_run = [&] {
        if (isUtf8(run)) {
            out += run;
        } else {
            appendReplacements(out, run.size());
        }
        run.clear();
    };
    for (const TokenId id : ids) {
        if (!data_->isKnown(id) || (skips_special && isSpecial(id))) {
            continue;
        }
        const int byte = data_->byte_of[static_cast<size_t>(id)];
        if (byte >= 0) {
            run += static_cast<char>(byte);
            continue;
        }
        end_run();
        text::appendSpelling(data_->token(id), out);
    }
    end_run();
    return data_->has_space_prefix && out.starts_with(' ') ? out.substr(1) : out;
}

bool Tokenizer::hasSpacePrefix() const {
    return data_->has_space_prefix;
}

std::optional<TokenId> Tokenizer::idOf(std::string_view token) const {
    const TokenId id = data_->find(token);
    return id < 0 ? std::nullopt : std::optional<TokenId>(id);
}

std::string_view Tokenizer::tokenText(TokenId id) const {
    return data_->isKnown(id) ? data_->token(id) : std::string_view();
}

bool Tokenizer::isSpecial(TokenId id) const {
    return data_->isKnown(id) && (data_->flags[static_cast<size_t>(id)] & Data::kSpecial) != 0;
}

bool Tokenizer::isAdded(TokenId id) const {
    return data_->isKnown(id) && (data_->flags[static_cast<size_t>(id)] & Data::kAdded) != 0;
}

bool Tokenizer::isBuiltByMerge(TokenId id) const {
    return data_->isKnown(id) && (data_->flags[static_cast<size_t>(id)] & Data::kBuiltByMerge) != 0;
}

std::string Tokenizer::bytesOf(TokenId id) const {
    std::string out;
    if (data_->is_byte_level) {
        text::appendBytes(tokenText(id), out);
    } else if (data_->isKnown(id) && data_->byte_of[static_cast<size_t>(id)] >= 0) {
        out += static_cast<char>(data_->byte_of[static_cast<size_t>(id)]);
    } else {
        text::appendSpelling(tokenText(id), out);
    }
    return out;
}

bool Tokenizer::isByteLevel() const {
    return data_->is_byte_level;
}

int64_t Tokenizer::vocabSize() const {
    return static_cast<int64_t>(data_->size());
}

std::span<const TokenId> Tokenizer::prefixTokens() const {
    return data_->prefix;
}

std::span<const TokenId> Tokenizer::suffixTokens() const {
    return data_->suffix;
}

const std::vector<Sentence>& Tokenizer::warnings() const {
    return data_->warnings;
}

} // namespace engine
