// SPDX-License-Identifier: Apache-2.0
// The lookup tables of a tokenizer.
#include "engine/text/tokenizer_data.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace engine {

namespace text {

Character firstCharacter(std::string_view text) {
    const auto byte = [&](size_t at) {
        return at < text.size() ? static_cast<uint8_t>(text[at]) : uint8_t{0};
    };
    const uint32_t lead = byte(0);
    if (lead < 0x80U) {
        return {lead, 1, true};
    }
    uint32_t size = 0;
    uint32_t smallest = 0; // with this many bytes; smaller values are overlong forms
    uint32_t code_point = 0;
    if (lead >= 0xc2U && lead <= 0xdfU) {
        size = 2;
        smallest = 0x80;
        code_point = lead & 0x1fU;
    } else if (lead >= 0xe0U && lead <= 0xefU) {
        size = 3;
        smallest = 0x800;
        code_point = lead & 0x0fU;
    } else if (lead >= 0xf0U && lead <= 0xf4U) {
        size = 4;
        smallest = 0x10000;
        code_point = lead & 0x07U;
    } else {
        return {lead, 1, false};
    }
    for (uint32_t i = 1; i < size; ++i) {
        const uint32_t next = byte(i);
        if ((next & 0xc0U) != 0x80U) {
            return {lead, 1, false};
        }
        code_point = code_point << 6 | (next & 0x3fU);
    }
    const bool is_surrogate = code_point >= 0xd800U && code_point <= 0xdfffU;
    if (code_point < smallest || is_surrogate || code_point > 0x10ffffU) {
        return {lead, 1, false};
    }
    return {code_point, size, true};
}

void appendSpelling(std::string_view spelling, std::string& out) {
    constexpr std::string_view kSign = "\xe2\x96\x81";
    size_t at = spelling.find(kSign);
    while (at != std::string_view::npos) {
        out.append(spelling.substr(0, at)).push_back(' ');
        spelling.remove_prefix(at + kSign.size());
        at = spelling.find(kSign);
    }
    out.append(spelling);
}

uint64_t hashBytes(std::string_view bytes, uint64_t seed) {
    uint64_t hash = seed ^ bytes.size() * 0x9e3779b97f4a7c15U;
    const char* at = bytes.data();
    size_t left = bytes.size();
    while (left >= 8) {
        uint64_t word = 0;
        std::memcpy(&word, at, 8);
        hash = mixBits(hash ^ word) + word;
        at += 8;
        left -= 8;
    }
    uint64_t word = 0;
    if (left > 0) {
        std::memcpy(&word, at, left);
    }
    return mixBits(hash ^ word);
}

void MergeTable::reserve(size_t num_merges, uint64_t seed) {
    const size_t size = std::bit_ceil(std::max<size_t>(16, num_merges * 2));
    slots_.assign(size, Slot{});
    mask_ = size - 1;
    seed_ = seed;
}

bool MergeTable::insert(TokenId left, TokenId right, Merge merge) {
    const uint64_t key = keyOf(left, right);
    size_t at = mixBits(key ^ seed_) & mask_;
    while (slots_[at].key != kEmpty) {
        if (slots_[at].key == key) {
            return false;
        }
        at = (at + 1) & mask_;
    }
    slots_[at] = {key, merge};
    return true;
}

void BorderTable::insert(uint32_t last, uint32_t first) {
    last = unified(last);
    first = unified(first);
    if (last < kAscii && first < kAscii) {
        ascii_[size_t{last} * 2 + first / 64] |= uint64_t{1} << (first % 64);
    }
    // Here, too: a literal U+2581 in the text is looked up as it stands.
    const size_t bit = bitOf(last, first);
    hashed_[bit / 64] |= uint64_t{1} << (bit % 64);
}

void CharacterTable::insert(uint32_t code_point, TokenId id) {
    uint16_t& page = page_of_[code_point >> 8];
    if (page == 0) {
        page = static_cast<uint16_t>(ids_.size() / 256);
        ids_.resize(ids_.size() + 256, -1);
    }
    ids_[size_t{page} * 256 + (code_point & 255U)] = id;
}

} // namespace text

bool Tokenizer::Data::indexTokens(TokenId& twin_a, TokenId& twin_b) {
    const size_t size = std::bit_ceil(std::max<size_t>(16, flags.size() * 2));
    ids_by_hash.assign(size, Slot{});
    const size_t mask = size - 1;
    for (size_t i = 0; i < flags.size(); ++i) {
        const auto id = static_cast<TokenId>(i);
        const std::string_view spelling = token(id);
        const uint64_t hash = text::hashBytes(spelling, seed);
        const auto tag = static_cast<uint32_t>(hash >> 32);
        size_t at = hash & mask;
        while (ids_by_hash[at].id >= 0) {
            if (ids_by_hash[at].tag == tag && token(ids_by_hash[at].id) == spelling) {
                twin_a = ids_by_hash[at].id;
                twin_b = id;
                return false;
            }
            at = (at + 1) & mask;
        }
        ids_by_hash[at] = {tag, id};
    }
    return true;
}

TokenId Tokenizer::Data::find(std::string_view spelling) const {
    const uint64_t hash = text::hashBytes(spelling, seed);
    const auto tag = static_cast<uint32_t>(hash >> 32);
    const size_t mask = ids_by_hash.size() - 1;
    for (size_t at = hash & mask; ids_by_hash[at].id >= 0; at = (at + 1) & mask) {
        if (ids_by_hash[at].tag == tag && token(ids_by_hash[at].id) == spelling) {
            return ids_by_hash[at].id;
        }
    }
    return -1;
}

} // namespace engine
