// SPDX-License-Identifier: Apache-2.0
// What a loaded tokenizer holds: token spellings by id and the lookup tables that encoding needs.
// Private to engine/text; immutable once loaded.
#pragma once

#include "engine/text/added_tokens.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_bytes.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

namespace text {

/// Code point of the sign that stands for a space in the vocabulary.
inline constexpr uint32_t kSpaceSign = 0x2581;

/// Decoded first character of a text.
struct Character {
    uint32_t code_point = 0;
    uint32_t size = 0;     ///< Bytes.
    bool is_valid = false; ///< false: one byte that is not part of valid UTF-8.
};
Character firstCharacter(std::string_view text);

/// Appends a token's spelling as text: U+2581 becomes a space.
void appendSpelling(std::string_view spelling, std::string& out);

/// Scrambles 64 bits; invertible.
inline uint64_t mixBits(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93U;
    x ^= x >> 29;
    x *= 0xa0761d6478bd642fU;
    x ^= x >> 32;
    return x;
}
uint64_t hashBytes(std::string_view bytes, uint64_t seed);

/// Pairs of tokens that merge: open addressing, at most half full.
class MergeTable {
public:
    struct Merge {
        int32_t rank = -1; ///< -1: the pair does not merge.
        TokenId token = -1;
    };

    void reserve(size_t num_merges, uint64_t seed);
    /// False if the pair is in the table already.
    bool insert(TokenId left, TokenId right, Merge merge);

    [[nodiscard]] Merge find(TokenId left, TokenId right) const {
        const uint64_t key = keyOf(left, right);
        for (size_t at = mixBits(key ^ seed_) & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.key == key) {
                return slot.merge;
            }
            if (slot.key == kEmpty) {
                return {};
            }
        }
    }

private:
    struct Slot {
        uint64_t key = kEmpty;
        Merge merge;
    };
    static constexpr uint64_t kEmpty = ~uint64_t{0};
    static uint64_t keyOf(TokenId left, TokenId right) {
        return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 |
               static_cast<uint32_t>(right);
    }

    std::vector<Slot> slots_ = std::vector<Slot>(1);
    size_t mask_ = 0;
    uint64_t seed_ = 0;
};

/// Whether any merge joins a token that ends with one character to a token that begins with
/// another. No merge crosses a border that this denies, so a text may be cut there without any
/// change of its tokens. Answers "yes" for some pairs that never join (hash collisions), never "no"
/// for a pair that does. U+2581 and the space are the same character here.
class BorderTable {
public:
    void insert(uint32_t last, uint32_t first);
    [[nodiscard]] bool mayJoin(uint32_t last, uint32_t first) const {
        if (last < kAscii && first < kAscii) {
            return (ascii_[last * 2 + first / 64] >> (first % 64) & 1U) != 0;
        }
        const size_t bit = bitOf(last, first);
        return (hashed_[bit / 64] >> (bit % 64) & 1U) != 0;
    }

private:
    static constexpr uint32_t kAscii = 128;
    static constexpr size_t kHashedBits = size_t{1} << 19;
    static uint32_t unified(uint32_t code_point) {
        return code_point == kSpaceSign ? uint32_t{' '} : code_point;
    }
    static size_t bitOf(uint32_t last, uint32_t first) {
        const uint64_t key = uint64_t{unified(last)} << 32 | unified(first);
        return mixBits(key) & (kHashedBits - 1);
    }

    std::array<uint64_t, size_t{2} * kAscii> ascii_{};
    std::vector<uint64_t> hashed_ = std::vector<uint64_t>(kHashedBits / 64);
};

/// Code point to the token that is this one character.
class CharacterTable {
public:
    void insert(uint32_t code_point, TokenId id);
    /// -1 when the vocabulary lacks the character.
    [[nodiscard]] TokenId find(uint32_t code_point) const {
        const uint16_t page = page_of_[code_point >> 8];
        return ids_[size_t{page} * 256 + (code_point & 255U)];
    }

private:
    std::vector<uint16_t> page_of_ = std::vector<uint16_t>(0x1100); ///< 0: the empty page.
    std::vector<TokenId> ids_ = std::vector<TokenId>(256, -1);
};

} // namespace text

struct Tokenizer::Data {
    static constexpr uint8_t kSpecial = 1; ///< Bits of `flags`.
    static constexpr uint8_t kAdded = 2;
    static constexpr uint8_t kBuiltByMerge = 4;

    [[nodiscard]] size_t size() const { return flags.size(); }
    [[nodiscard]] std::string_view token(TokenId id) const {
        const auto at = static_cast<size_t>(id);
        return std::string_view(bytes).substr(begins[at], begins[at + 1] - begins[at]);
    }
    [[nodiscard]] bool isKnown(TokenId id) const {
        return id >= 0 && static_cast<size_t>(id) < flags.size();
    }
    /// A token that added_tokens brought: no merge and no character leads to it.
    [[nodiscard]] bool isOutsideVocabulary(TokenId id) const {
        return id >= 0 && static_cast<size_t>(id) >= vocab_size;
    }
    /// Builds ids_by_hash; false when two ids are spelled alike (twin_a and twin_b are set).
    bool indexTokens(TokenId& twin_a, TokenId& twin_b);
    [[nodiscard]] TokenId find(std::string_view token) const;

    bool is_byte_level = false;
    bool has_space_prefix = false;          ///< A space before what stands between added tokens.
    bool ignores_merges = false;            ///< A word that is a token is that token.
    std::vector<text::WordRule> word_rules; ///< Only of a byte-level file.
    size_t vocab_size = 0;                  ///< Entries of model.vocab.
    std::string bytes;                      ///< All spellings, by id.
    std::vector<uint32_t> begins;           ///< [size + 1]
    std::vector<uint8_t> flags;             ///< [size]
    std::vector<int16_t> byte_of;           ///< [size]; -1 for tokens that are not byte tokens.
    std::array<TokenId, 256> byte_token{};  ///< -1: a byte that a byte-level file lacks.
    uint64_t seed = 0;                      ///< Seed of the hash tables.
    struct Slot {
        uint32_t tag = 0; ///< Upper half of the hash.
        TokenId id = -1;
    };
    std::vector<Slot> ids_by_hash;

    text::MergeTable merges;
    text::BorderTable borders;
    text::CharacterTable characters;
    /// A byte token takes part in a merge: then no border next to one is cut.
    bool do_byte_tokens_merge = false;

    text::AddedTokens exact{/*is_normalized=*/false};     ///< Looked for first,
    text::AddedTokens normalized{/*is_normalized=*/true}; ///< these in what is left between.

    std::vector<TokenId> prefix, suffix; ///< From the post_processor.
    std::vector<Sentence> warnings;
};

} // namespace engine
