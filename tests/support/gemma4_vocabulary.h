// SPDX-License-Identifier: Apache-2.0
// The vocabulary file of Gemma 3 (262144 entries) with the added tokens of Gemma 4 instead: the
// entries and merges are the same otherwise.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace support {

/// Ids and spellings: Gemma 4 specification, section 1.4.
inline std::string gemma4Vocabulary(std::string json) {
    struct Renamed {
        int id;
        const char* gemma3;
        const char* gemma4; ///< As spelled in JSON.
    };
    static constexpr Renamed kTokens[] = {
        {0, "<pad>", "<pad>"},
        {1, "<eos>", "<eos>"},
        {2, "<bos>", "<bos>"},
        {3, "<unk>", "<unk>"},
        {4, "<mask>", "<mask>"},
        {46, "<unused40>", "<|tool>"},
        {47, "<unused41>", "<tool|>"},
        {48, "<unused42>", "<|tool_call>"},
        {49, "<unused43>", "<tool_call|>"},
        {50, "<unused44>", "<|tool_response>"},
        {51, "<unused45>", "<tool_response|>"},
        {52, "<unused46>", "<|\\\"|>"},
        {98, "<unused92>", "<|think|>"},
        {100, "<unused94>", "<|channel>"},
        {101, "<unused95>", "<channel|>"},
        {105, "<start_of_turn>", "<|turn>"},
        {106, "<end_of_turn>", "<turn|>"},
        {255999, "<start_of_image>", "<|image>"},
        {256000, "<end_of_image>", "<|audio>"},
        {258880, "<unused2978>", "<|image|>"},
        {258881, "<unused2979>", "<|audio|>"},
        {258882, "<unused2980>", "<image|>"},
        {258883, "<unused2981>", "<audio|>"},
        {258884, "<unused2982>", "<|video|>"},
    };
    std::string added = "\"added_tokens\": [";
    for (const auto& token : kTokens) {
        const std::string tail = "\": " + std::to_string(token.id) + ",";
        const std::string before = "\"" + (token.gemma3 + tail);
        const size_t at = json.find(before);
        if (at == std::string::npos) {
            std::fprintf(stderr, "the vocabulary lacks %s\n", before.c_str());
            std::exit(99);
        }
        json.replace(at, before.size(), "\"" + (token.gemma4 + tail));
        added += (added.back() == '[' ? "" : ",") + std::string("{\"id\":") +
                 std::to_string(token.id) + ",\"content\":\"" + token.gemma4 +
                 "\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
                 "\"normalized\":false,\"special\":true}";
    }
    const size_t begin = json.find("\"added_tokens\"");
    const size_t end = json.find("\"normalizer\"");
    json.replace(begin, end - begin, added + "],");
    return json;
}

} // namespace support
