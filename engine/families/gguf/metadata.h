// SPDX-License-Identifier: Apache-2.0
// Metadata of GGUF files as the texts of a Hugging Face folder. Private to engine/families/gguf.
#pragma once

#include "engine/base/result.h"
#include "engine/files/gguf_source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace engine::gguf {

/// The model and its projector; `towers` is nullptr without one, and `text` itself where one file
/// holds both, as Ollama writes them (its convert/convert_gemma4.go).
struct Files {
    std::shared_ptr<const GgufModel> text, towers;

    [[nodiscard]] bool areOne() const { return text == towers; }
};

/// Whether a tensor belongs to a tower or its projector.
bool isTowers(std::string_view tensor);
/// Whether the tensors of audio have Ollama's names, where ln2 is another norm than in a projector.
bool hasOllamasAudio(const GgufModel& model);

enum class Architecture : uint8_t { Gemma4 = 1, Gemma4Assistant, Llama };

/// Errors: Unsupported (another one, named), InvalidFile (a projector or an adapter).
Result<Architecture> architectureOf(const GgufModel& model);

/// What the keys of the architecture begin with.
std::string prefixOf(Architecture architecture);

/// A key of the model's architecture: "block_count" as "gemma4.block_count". Errors: as the readers
/// of GgufHeader; InvalidFile where it is missing, or not from `least` to `most`.
class Keys {
public:
    explicit Keys(const GgufModel& model, std::string prefix)
        : model_(&model), prefix_(std::move(prefix)) {}
    [[nodiscard]] std::string name(std::string_view key) const {
        return prefix_ + std::string(key);
    }
    [[nodiscard]] Result<int64_t> count(std::string_view key, int64_t least = 1) const;
    [[nodiscard]] Result<int64_t>
    count(std::string_view key, int64_t least, int64_t otherwise) const;
    [[nodiscard]] Result<double> number(std::string_view key, double otherwise) const;
    /// One value a layer; a single one counts for all.
    [[nodiscard]] Result<std::vector<int64_t>> perLayer(std::string_view key, int64_t layers) const;
    [[nodiscard]] Error wrong(std::string_view key, const Sentence& what) const;

private:
    const GgufModel* model_;
    std::string prefix_;
};

/// What of the attention of a decoder's layer decides how its tensors are cut.
struct LayerHeads {
    int64_t query_heads = 0, kv_heads = 0, head_dim = 0;
};
Result<std::vector<LayerHeads>> headsOf(const GgufModel& model, Architecture architecture);

/// config.json.
Result<std::string> configText(const Files& files, Architecture architecture);
/// generation_config.json: defaults of sampling, and what ends a reply.
Result<std::string> generationText(const GgufModel& model, Architecture architecture);
/// tokenizer.json. Errors: Unsupported (another model or pre-tokenizer), InvalidFile.
Result<std::string> tokenizerText(const GgufModel& model);
/// tokenizer_config.json: the tokens that templates call by name.
Result<std::string> tokenizerConfigText(const GgufModel& model);

/// Adds the tensors of the files to `source` under Hugging Face's names. Errors: Unsupported
/// (an unknown tensor, which might change what the model computes), InvalidFile.
Result<void> addTensors(const Files& files, Architecture architecture, GgufSource& source);

} // namespace engine::gguf
