// SPDX-License-Identifier: Apache-2.0
// tokenizer.json from the tokenizer's metadata, so that one reader (engine/text) checks and reads
// both. 262,144 tokens make 33 MB of text, in a fifth of a second.
#include "engine/base/json/text.h"
#include "engine/base/utf8.h"
#include "engine/families/gguf/metadata.h"
#include "engine/files/checkpoint.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace engine::gguf {

namespace {

/// tokenizer.ggml.token_type
constexpr int64_t kWord = 1;
constexpr int64_t kUnknown = 2;
constexpr int64_t kControl = 3;
constexpr int64_t kUserDefined = 4;

/// Gemma 4's markers. Converters give some of them the kind of a word so that llama.cpp prints
/// them, and older ones that of ordinary text.
constexpr std::array<std::string_view, 24> kGemmaMarkers = {"<pad>",
                                                            "<eos>",
                                                            "<bos>",
                                                            "<unk>",
                                                            "<mask>",
                                                            "<|turn>",
                                                            "<turn|>",
                                                            "<|image>",
                                                            "<image|>",
                                                            "<|image|>",
                                                            "<|audio>",
                                                            "<audio|>",
                                                            "<|audio|>",
                                                            "<|video|>",
                                                            "<|channel>",
                                                            "<channel|>",
                                                            "<|think|>",
                                                            "<|tool>",
                                                            "<tool|>",
                                                            "<|tool_call>",
                                                            "<tool_call|>",
                                                            "<|tool_response>",
                                                            "<tool_response|>",
                                                            "<|\"|>"};

struct Pipeline {
    std::string_view before; ///< Members before "model",
    std::string_view model;  ///< and of "model" before the vocabulary.
    bool adds_bos = false;   ///< Where the file says nothing, as in llama.cpp,
    bool is_gemma = false;   ///< and whatever it says: files with "false" were published.
    bool has_scores = false; ///< In the place of merges.
};

constexpr Pipeline kGemma = {
    R"("normalizer":{"type":"Replace","pattern":{"String":" "},"content":"▁"},)"
    R"("pre_tokenizer":null,)"
    R"("decoder":{"type":"Sequence","decoders":[)"
    R"({"type":"Replace","pattern":{"String":"▁"},"content":" "},)"
    R"({"type":"ByteFallback"},{"type":"Fuse"}]},)",
    R"("type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,)", true, true};

/// SentencePiece's: a space before the text and behind every marker, as llama.cpp puts it.
constexpr Pipeline kPieces = {
    R"("normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)"
    R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}]},"pre_tokenizer":null,)"
    R"("decoder":{"type":"Sequence","decoders":[)"
    R"({"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},)"
    R"({"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]},)",
    kGemma.model, true, false, true};

constexpr std::string_view kByteLevelModel =
    R"("type":"BPE","fuse_unk":false,"byte_fallback":false,"ignore_merges":false,)";

/// Byte-level pipelines by tokenizer.ggml.pre.
struct ByteLevel {
    std::string_view name;
    Pipeline pipeline;
};
constexpr ByteLevel kByteLevels[] = {
    {"gpt-2",
     {R"("normalizer":null,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},)"
      R"("decoder":{"type":"ByteLevel"},)",
      kByteLevelModel}},
    {"smollm",
     {R"("normalizer":null,"pre_tokenizer":{"type":"Sequence","pretokenizers":[)"
      R"({"type":"Digits","individual_digits":true},)"
      R"({"type":"ByteLevel","add_prefix_space":false}]},"decoder":{"type":"ByteLevel"},)",
      kByteLevelModel}},
    {"llama-bpe",
     {R"("normalizer":null,"pre_tokenizer":{"type":"Sequence","pretokenizers":[)"
      R"({"type":"Split","behavior":"Isolated","invert":false,"pattern":{"Regex":")"
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|)"
      R"( ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},)"
      R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},)"
      R"("decoder":{"type":"ByteLevel"},)",
      R"("type":"BPE","fuse_unk":false,"byte_fallback":false,"ignore_merges":true,)", true}},
};

Result<Pipeline> pipelineOf(const GgufModel& model) {
    const GgufHeader& header = model.header;
    ENGINE_ASSIGN(const auto kind, header.text("tokenizer.ggml.model"));
    ENGINE_ASSIGN(const auto pre, header.text("tokenizer.ggml.pre"));
    const bool has_merges = header.has("tokenizer.ggml.merges");
    ENGINE_ASSIGN(const Architecture architecture, architectureOf(model));
    if (kind && *kind == "llama" && architecture == Architecture::Llama) {
        ENGINE_ASSIGN(const auto has_space, header.boolean("tokenizer.ggml.add_space_prefix"));
        Pipeline pieces = kPieces;
        if (!has_space.value_or(true)) {
            pieces.before = kGemma.before;
        }
        return pieces;
    }
    if (kind && (*kind == "gemma4" || (*kind == "llama" && has_merges))) {
        return kGemma;
    }
    const auto* const found =
        std::find_if(std::begin(kByteLevels), std::end(kByteLevels),
                     [&](const ByteLevel& known) { return pre && known.name == *pre; });
    if (kind && *kind == "gpt2" && found != std::end(kByteLevels)) {
        return found->pipeline;
    }
    return Error{
        ErrorCode::Unsupported,
        said("%1: its tokenizer is %2 with the rules %3; Belfry has gemma4, for llama models "
             "llama, and gpt2 with gpt-2, smollm or llama-bpe",
             header.fileName(), inQuotes(kind.value_or("").substr(0, 60)),
             inQuotes(pre.value_or("").substr(0, 60))),
        {{"rule", "GgufTokenizer"}}};
}

Error broken(const GgufModel& model, const Sentence& what) {
    return Error{
        ErrorCode::InvalidFile,
        said("%1: %2; the file is damaged, download it again", model.header.fileName(), what),
        {{"rule", "GgufTokenizer"}}};
}

/// Spelled as a byte. That makes it one, whatever its kind: converters of other programs write
/// words, markers and words of the user.
bool isByte(std::string_view token) {
    return token.size() == 6 && token.starts_with("<0x") && token.ends_with('>');
}

using Pair = std::pair<std::string_view, std::string_view>;

Result<std::vector<Pair>> storedPairs(const GgufModel& model,
                                      const std::vector<std::string_view>& merges) {
    std::vector<Pair> pairs;
    for (const std::string_view merge : merges) {
        const size_t space = merge.empty() ? std::string_view::npos : merge.find(' ', 1);
        if (space == std::string_view::npos) {
            return broken(model, said("a merge is not two tokens"));
        }
        pairs.emplace_back(merge.substr(0, space), merge.substr(space + 1));
    }
    return pairs;
}

/// SentencePiece joins the two neighbours that make the word with the best score. As merges, in the
/// order of the SentencePieceExtractor of transformers, whose ids are sentencepiece's.
Result<std::vector<Pair>> scoredPairs(const GgufModel& model,
                                      const std::vector<std::string_view>& tokens,
                                      const std::vector<int64_t>& kinds) {
    constexpr size_t kMostPairs = size_t{1} << 22; // as many as tokenizer.json may have
    ENGINE_ASSIGN(const auto scores, model.header.floats("tokenizer.ggml.scores"));
    if (!scores || scores->size() != tokens.size()) {
        return broken(model, said("it has %1 tokens and %2 scores of them", tokens.size(),
                                  scores ? scores->size() : 0));
    }
    std::vector<size_t> words; // by spelling
    for (size_t id = 0; id < tokens.size(); ++id) {
        words.insert(words.end(), kinds[id] == kWord ? 1 : 0, id);
    }
    std::sort(words.begin(), words.end(),
              [&](size_t a, size_t b) { return tokens[a] < tokens[b]; });
    const auto isBefore = [&](size_t id, std::string_view text) { return tokens[id] < text; };
    struct Merge {
        float score = 0;
        size_t id = 0, left = 0, right = 0;
    };
    std::vector<Merge> merges;
    for (const size_t id : words) {
        const std::string_view token = tokens[id];
        auto left = words.begin();
        for (size_t at = 1; at < token.size(); ++at) {
            left = std::lower_bound(left, words.end(), token.substr(0, at), isBefore);
            if (*left == id) {
                break; // no shorter word begins it
            }
            const auto right =
                std::lower_bound(words.begin(), words.end(), token.substr(at), isBefore);
            if (tokens[*left].size() == at && right != words.end() &&
                tokens[*right] == token.substr(at)) {
                merges.push_back({(*scores)[id], id, *left, *right});
            }
        }
        if (merges.size() > kMostPairs) {
            return broken(model, said("its words can be made in more than %1 ways", kMostPairs));
        }
    }
    std::sort(merges.begin(), merges.end(), [](const Merge& a, const Merge& b) {
        return std::tuple(-a.score, a.id, a.left, a.right) <
               std::tuple(-b.score, b.id, b.left, b.right);
    });
    std::vector<Pair> pairs;
    pairs.reserve(merges.size());
    for (const Merge& merge : merges) {
        pairs.emplace_back(tokens[merge.left], tokens[merge.right]);
    }
    return pairs;
}

std::string addedText(std::string_view token, size_t id, bool is_special) {
    return R"({"id":)" + std::to_string(id) + R"(,"content":)" + jsonString(token) +
           R"(,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":)" +
           (is_special ? "true}" : "false}");
}

} // namespace

Result<std::string> tokenizerText(const GgufModel& model) {
    const GgufHeader& header = model.header;
    ENGINE_ASSIGN(const Pipeline pipeline, pipelineOf(model));
    ENGINE_ASSIGN(const auto tokens, header.texts("tokenizer.ggml.tokens"));
    ENGINE_ASSIGN(const auto kinds, header.integers("tokenizer.ggml.token_type"));
    ENGINE_ASSIGN(const auto merges, header.texts("tokenizer.ggml.merges"));
    ENGINE_ASSIGN(const auto bos, header.integer("tokenizer.ggml.bos_token_id"));
    ENGINE_ASSIGN(const auto adds_bos, header.boolean("tokenizer.ggml.add_bos_token"));
    const TensorInfo* table = model.find("token_embd.weight");
    if (!tokens || !(merges || pipeline.has_scores) || tokens->empty()) {
        return broken(model, said("it has no tokens or no merges"));
    }
    if (table != nullptr && !table->shape.empty() &&
        static_cast<int64_t>(tokens->size()) > table->shape.front()) {
        return broken(model, said("it has %1 tokens, its table has rows for %2", tokens->size(),
                                  table->shape.front()));
    }
    if (kinds ? kinds->size() != tokens->size() : pipeline.has_scores) {
        return broken(model, said("it has %1 tokens and %2 kinds of them", tokens->size(),
                                  kinds ? kinds->size() : 0));
    }
    std::string added;
    std::string vocab;
    const uint64_t most = maxTextBytes(ModelText::Tokenizer); // a character may become six
    for (size_t id = 0; id < tokens->size(); ++id) {
        const std::string_view token = (*tokens)[id];
        const int64_t kind = kinds ? (*kinds)[id] : kWord;
        const bool is_marker =
            std::find(kGemmaMarkers.begin(), kGemmaMarkers.end(), token) != kGemmaMarkers.end();
        const bool is_added =
            is_marker || kind == kUnknown || kind == kControl || kind == kUserDefined;
        vocab += (id == 0 ? "" : ",") + jsonString(token) + ":" + std::to_string(id);
        if (vocab.size() + added.size() > most) {
            return broken(model, said("its tokens take more than %1", ByteCount{most}));
        }
        const bool is_word = (pipeline.is_gemma && token == "</s>") ||
                             (pipeline.model == kGemma.model && isByte(token));
        if (is_added && !is_word) {
            added += (added.empty() ? "" : ",") +
                     addedText(token, id, is_marker || kind != kUserDefined);
        }
    }
    ENGINE_ASSIGN(const auto all_pairs, pipeline.has_scores ? scoredPairs(model, *tokens, *kinds)
                                                            : storedPairs(model, *merges));
    std::string pairs;
    for (const auto& [left, right] : all_pairs) {
        if (pairs.size() > most) {
            return broken(model, said("its merges take more than %1", ByteCount{most}));
        }
        pairs += (pairs.empty() ? "[" : ",[") + jsonString(left) + "," + jsonString(right) + "]";
    }
    std::string text = R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":[)";
    text += added + "]," + std::string(pipeline.before);
    if (bos && *bos >= 0 && *bos < static_cast<int64_t>(tokens->size()) &&
        (pipeline.is_gemma || adds_bos.value_or(pipeline.adds_bos))) {
        const std::string name = jsonString((*tokens)[static_cast<size_t>(*bos)]);
        text +=
            R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":)" +
            name + R"(,"type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],)" +
            R"("special_tokens":{)" + name + R"(:{"id":)" + name + R"(,"ids":[)" +
            std::to_string(*bos) + R"(],"tokens":[)" + name + "]}}},";
    } else {
        text += R"("post_processor":null,)";
    }
    return text + R"("model":{)" + std::string(pipeline.model) + R"("vocab":{)" + vocab +
           R"(},"merges":[)" + pairs + "]}}";
}

Result<std::string> tokenizerConfigText(const GgufModel& model) {
    ENGINE_ASSIGN(const auto tokens, model.header.texts("tokenizer.ggml.tokens"));
    std::string text;
    for (const auto& [key, name] : {std::pair("tokenizer.ggml.bos_token_id", "bos_token"),
                                    std::pair("tokenizer.ggml.eos_token_id", "eos_token"),
                                    std::pair("tokenizer.ggml.unknown_token_id", "unk_token"),
                                    std::pair("tokenizer.ggml.padding_token_id", "pad_token")}) {
        ENGINE_ASSIGN(const auto id, model.header.integer(key));
        if (id && tokens && *id >= 0 && *id < static_cast<int64_t>(tokens->size())) {
            text += (text.empty() ? "{" : ",") + jsonString(name) + ":" +
                    jsonString((*tokens)[static_cast<size_t>(*id)]);
        }
    }
    return text.empty() ? "{}" : text + "}";
}

} // namespace engine::gguf
