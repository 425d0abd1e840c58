// SPDX-License-Identifier: Apache-2.0
// Any bytes as tokenizer.json, and the text behind a zero byte through encode and decode: an error
// that names a rule, or ids inside the vocabulary and decoded text that is UTF-8.
#include "engine/base/json/events.h"
#include "engine/text/tokenizer.h"
#include "tests/fuzz/require.h"

using fuzz::require;

namespace {

void checkText(const engine::Tokenizer& tokenizer, std::string_view text) {
    for (const bool matches_added_tokens : {false, true}) {
        engine::EncodeOptions options;
        options.matches_added_tokens = matches_added_tokens;
        const auto ids = tokenizer.encode(text, options);
        for (const engine::TokenId id : ids) {
            require(id >= 0 && id < tokenizer.vocabSize());
            require(matches_added_tokens || !tokenizer.isSpecial(id));
        }
        require(engine::isValidUtf8(tokenizer.decode(ids)));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const size_t end = all.find('\0');
    const auto tokenizer = engine::Tokenizer::fromJson(all.substr(0, end));
    if (!tokenizer) {
        require(!tokenizer.error().message.empty());
        return 0;
    }
    checkText(*tokenizer, end == std::string_view::npos ? all.substr(0, 200) : all.substr(end + 1));
    checkText(*tokenizer, "Hi <|turn>\xe2\x96\x81 a\n\n\xff\xf0\x9f\x98\x80 <bos>");
    return 0;
}
