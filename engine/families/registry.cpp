// SPDX-License-Identifier: Apache-2.0
// The families that there are, and which of them a model is of.
#include "engine/families/config.h"
#include "engine/families/config_texts.h"
#include "engine/families/gemma4/family.h"
#include "engine/families/gemma4_unified/family.h"
#include "engine/families/generation_config.h"
#include "engine/families/llama/family.h"
#include "engine/families/tensor_list.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace engine {

namespace {

/// The first one also answers for what none of them knows.
std::array<const Family*, 3> allFamilies() {
    return {&gemma4Family(), &gemma4UnifiedFamily(), &llamaFamily()};
}

Result<const Family*> familyOf(std::string_view config_json) {
    if (config_json.empty()) {
        return Error{ErrorCode::InvalidFile,
                     said("config.json: the file is empty"),
                     {{"rule", "JsonSyntax"}, {"file", "config.json"}}};
    }
    ENGINE_ASSIGN(const Json config, parseConfigObject(config_json, "config.json"));
    JsonProblems unused;
    const std::string type = JsonSection(&config, "config.json", "", unused).text("model_type", "");
    for (const Family* family : allFamilies()) {
        const bool is_known = std::find(family->model_types.begin(), family->model_types.end(),
                                        type) != family->model_types.end();
        if (is_known) {
            return family;
        }
    }
    return allFamilies().front();
}

const Family& ownFamily(const ModelConfig& config) {
    const auto families = allFamilies();
    const auto found = std::find_if(families.begin(), families.end(), [&](const Family* family) {
        return family->name == config.family;
    });
    return found == families.end() ? *families.front() : **found;
}

Result<ModelConfig> parse(const Family& family, const ConfigTexts& texts) {
    ENGINE_ASSIGN(ModelConfig config, family.parse(texts));
    config.family = family.name;
    return config;
}

} // namespace

Result<ModelConfig> parseModelConfig(std::string_view config_json,
                                     std::string_view generation_json,
                                     std::string_view processor_json) {
    ENGINE_ASSIGN(const Family* family, familyOf(config_json));
    return parse(*family, {config_json, generation_json, processor_json, {}});
}

Result<ModelConfig> readModelConfig(const Checkpoint& checkpoint) {
    using Text = std::optional<std::string>;
    const auto viewOf = [](const Text& text) {
        return text ? std::string_view(*text) : std::string_view();
    };
    ENGINE_ASSIGN(const std::string config_text, readRequired(checkpoint, ModelText::Config));
    const Result<Text> generation = checkpoint.read(ModelText::Generation); // defaults alone
    ENGINE_ASSIGN(const Text processor, checkpoint.read(ModelText::Processor));
    ENGINE_ASSIGN(const Text preprocessor, checkpoint.read(ModelText::Preprocessor));
    ENGINE_ASSIGN(const Family* family, familyOf(config_text));
    ENGINE_ASSIGN(ModelConfig config,
                  parse(*family, {config_text, generation ? viewOf(*generation) : "",
                                  viewOf(processor), viewOf(preprocessor)}));
    if (!generation) {
        config.warnings.push_back(defaultsUnread(generation.error()));
    }
    if (family->finish != nullptr) {
        ENGINE_TRY(family->finish(checkpoint, config));
    }
    return config;
}

Result<ModelConfig> readModelConfig(const std::filesystem::path& folder) {
    return readModelConfig(*folderCheckpoint(folder));
}

std::vector<ExpectedTensor> listTensors(const ModelConfig& config) {
    const Family* family = &ownFamily(config);
    if (!config.left_out.vision && !config.left_out.audio) {
        return family->list(config);
    }
    // Known, so that adapters and maps that name them are understood, and never loaded.
    ModelConfig whole = config;
    const bool lacks_vision = config.left_out.vision.has_value();
    const bool lacks_audio = config.left_out.audio.has_value();
    if (lacks_vision) {
        whole.vision = config.left_out.vision;
    }
    if (lacks_audio) {
        whole.audio = config.left_out.audio;
    }
    std::vector<ExpectedTensor> tensors = family->list(whole);
    for (ExpectedTensor& tensor : tensors) {
        tensor.is_unused = tensor.is_unused || (lacks_vision && isVision(tensor.part)) ||
                           (lacks_audio && isAudio(tensor.part));
    }
    return tensors;
}

std::unique_ptr<const ChatTurns>
makeTurns(const ModelConfig& config, const Checkpoint& checkpoint, const Tokenizer& tokenizer) {
    return ownFamily(config).turns(config, checkpoint, tokenizer);
}

void leaveOutTowers(ModelConfig& config) {
    config.left_out.vision = std::exchange(config.vision, std::nullopt);
    config.left_out.audio = std::exchange(config.audio, std::nullopt);
}

} // namespace engine
