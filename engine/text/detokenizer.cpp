// SPDX-License-Identifier: Apache-2.0
#include "engine/text/detokenizer.h"

#include <algorithm>

namespace engine {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd"; // U+FFFD

bool isContinuation(uint8_t byte) {
    return (byte & 0xc0U) == 0x80U;
}

/// Length of the sequence that a lead byte announces; 0 for bytes that cannot lead.
int sequenceLength(uint8_t lead) {
    if (lead < 0x80U) {
        return 1;
    }
    if (lead >= 0xc2U && lead <= 0xdfU) {
        return 2;
    }
    if (lead >= 0xe0U && lead <= 0xefU) {
        return 3;
    }
    return lead >= 0xf0U && lead <= 0xf4U ? 4 : 0;
}

/// Second bytes that overlong forms, surrogates and values above U+10FFFF would have.
bool isSecondByteAllowed(uint8_t lead, uint8_t second) {
    if (!isContinuation(second)) {
        return false;
    }
    switch (lead) {
    case 0xe0U:
        return second >= 0xa0U;
    case 0xedU:
        return second <= 0x9fU;
    case 0xf0U:
        return second >= 0x90U;
    case 0xf4U:
        return second <= 0x8fU;
    default:
        return true;
    }
}

} // namespace

StreamingDetokenizer::StreamingDetokenizer(Tokenizer tokenizer, DetokenizerOptions options)
    : tokenizer_(std::move(tokenizer)), options_(options),
      is_prefix_due_(tokenizer_.hasSpacePrefix() && !options.continues_text) {}

std::string StreamingDetokenizer::push(TokenId id) {
    std::string out;
    if (id < 0 || id >= tokenizer_.vocabSize() ||
        (options_.skips_special && tokenizer_.isSpecial(id))) {
        return out;
    }
    for (const char byte : tokenizer_.bytesOf(id)) {
        pushByte(static_cast<uint8_t>(byte), out);
    }
    if (is_prefix_due_ && !out.empty()) {
        is_prefix_due_ = false;
        return out.front() == ' ' ? out.substr(1) : out;
    }
    return out;
}

std::string StreamingDetokenizer::flush() {
    std::string out;
    replacePending(out);
    is_prefix_due_ = tokenizer_.hasSpacePrefix() && !options_.continues_text;
    return out;
}

void StreamingDetokenizer::pushByte(uint8_t byte, std::string& out) {
    const bool is_next =
        pending_size_ == 0
            ? false
            : (pending_size_ == 1 ? isSecondByteAllowed(pending_[0], byte) : isContinuation(byte));
    if (!is_next) {
        replacePending(out);
        if (sequenceLength(byte) == 0) {
            out += kReplacement;
            return;
        }
    }
    pending_[static_cast<size_t>(pending_size_)] = byte;
    ++pending_size_;
    if (pending_size_ == sequenceLength(pending_[0])) {
        for (int i = 0; i < pending_size_; ++i) {
            out += static_cast<char>(pending_[static_cast<size_t>(i)]);
        }
        pending_size_ = 0;
    }
}

void StreamingDetokenizer::replacePending(std::string& out) {
    const int count = tokenizer_.isByteLevel() ? std::min(pending_size_, 1) : pending_size_;
    for (int i = 0; i < count; ++i) {
        out += kReplacement;
    }
    pending_size_ = 0;
}

} // namespace engine
