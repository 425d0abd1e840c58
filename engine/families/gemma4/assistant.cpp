// SPDX-License-Identifier: Apache-2.0
#include "engine/families/gemma4/assistant.h"

#include "engine/base/json/section.h"
#include "engine/families/config_texts.h"
#include "engine/families/gemma4/config_parts.h"
#include "engine/families/gemma4/names.h"
#include "engine/families/generation_config.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace engine {

namespace {

constexpr std::string_view kTokenOrdering = "masked_embedding.token_ordering";

void checkType(const JsonSection& root) {
    const std::string type = root.text("model_type", "");
    if (type == "gemma4_assistant" || type == "gemma4_unified_assistant") {
        return;
    }
    const std::string shown = type.substr(0, 60);
    root.unsupported("model_type",
                     said("is \"%1\", not a drafting assistant (gemma4_assistant); give the folder "
                          "whose name ends in -assistant",
                          shown));
}

AssistantConfig readSizes(const JsonSection& root) {
    constexpr int64_t kMost = 1 << 20;
    AssistantConfig assistant;
    assistant.backbone_size = root.integer("backbone_hidden_size", 1, kMost, 1536);
    const JsonSection text = root.section("text_config");
    if (!text.exists()) {
        root.invalid("ConfigMissing", "text_config", said("is missing, expected an object"));
        return assistant;
    }
    assistant.text = readTextConfig(text, TextOf::Assistant);
    if (assistant.text.ple_size > 0 || assistant.text.has_moe ||
        text.boolean("use_double_wide_mlp", false)) {
        text.unsupported("hidden_size_per_layer_input",
                         said("is not 0, or the layers have experts or MLPs of two widths; "
                              "assistants have plain layers"));
    }
    if (root.boolean("use_ordered_embeddings", false)) {
        assistant.num_centroids = root.integer("num_centroids", 1, kMost, 2048);
        assistant.top_centroids = root.integer("centroid_intermediate_top_k", 1,
                                               std::max<int64_t>(1, assistant.num_centroids), 32);
        if (assistant.num_centroids > 0 && !root.problems().error &&
            assistant.text.vocab_size % assistant.num_centroids != 0) {
            root.invalid("ConfigRange", "num_centroids",
                         said("is %1, which does not divide the vocabulary of %2",
                              assistant.num_centroids, assistant.text.vocab_size));
        }
    }
    return assistant;
}

Error otherModel(const Sentence& what, int64_t own, const ModelConfig& model, int64_t wanted) {
    return {
        ErrorCode::InvalidRequest,
        said("the assistant does not belong to this model (%1): its %2 is %3, the model has %4; "
             "give the assistant that is named after the model, or load without drafts",
             model.variant, what, own, wanted),
        {{"rule", "AssistantPair"},
         {"found", std::to_string(own)},
         {"expected", std::to_string(wanted)}}};
}

/// The model's last layer of a type that owns keys and values; -1: none.
int lastOwner(const TextConfig& text, LayerType type) {
    for (int i = static_cast<int>(text.layers.size()) - 1; i >= 0; --i) {
        const LayerConfig& layer = text.layers[static_cast<size_t>(i)];
        if (layer.type == type && !layer.is_kv_shared) {
            return i;
        }
    }
    return -1;
}

/// Checks the sizes that both must have in common and fills kv_source.
Result<void> pair(AssistantConfig& assistant, const ModelConfig& model) {
    const auto same = [&model](const Sentence& what, int64_t own, int64_t wanted) -> Result<void> {
        return own == wanted ? Result<void>() : otherModel(what, own, model, wanted);
    };
    TextConfig& text = assistant.text;
    ENGINE_TRY(
        same(asItIs("backbone_hidden_size"), assistant.backbone_size, model.text.hidden_size));
    ENGINE_TRY(same(asItIs("vocab_size"), text.vocab_size, model.text.vocab_size));
    ENGINE_TRY(same(asItIs("sliding_window"), text.sliding_window, model.text.sliding_window));
    for (size_t i = 0; i < text.layers.size(); ++i) {
        LayerConfig& layer = text.layers[i];
        const int source = lastOwner(model.text, layer.type);
        if (source < 0) {
            return otherModel(said("layer %1's kind of attention (1 sliding, 2 full)", i),
                              static_cast<int64_t>(layer.type), model, 0);
        }
        const LayerConfig& owner = model.text.layers[static_cast<size_t>(source)];
        ENGINE_TRY(same(said("layer %1's head_dim", i), layer.head_dim, owner.head_dim));
        ENGINE_TRY(same(said("layer %1's number of key/value heads", i), layer.num_kv_heads,
                        owner.num_kv_heads));
        layer.kv_source = source;
    }
    const auto isSame = [](const RopeConfig& a, const RopeConfig& b) {
        return a.theta == b.theta && a.rotary_factor == b.rotary_factor && a.factor == b.factor;
    };
    if (!isSame(text.sliding_rope, model.text.sliding_rope) ||
        !isSame(text.full_rope, model.text.full_rope)) {
        return Error{ErrorCode::InvalidRequest,
                     said("the assistant's rope_parameters are not the model's, whose keys it "
                          "reads; give the assistant that is named after the model"),
                     {{"rule", "AssistantPair"}}};
    }
    return {};
}

} // namespace

Result<AssistantConfig> parseAssistantConfig(std::string_view config_json,
                                             std::string_view generation_json,
                                             const ModelConfig& model) {
    ENGINE_ASSIGN(const Json tree, parseConfigObject(config_json, "config.json"));
    JsonProblems problems;
    const JsonSection root(&tree, "config.json", "", problems);
    checkType(root);
    if (problems.error) {
        return *problems.error;
    }
    AssistantConfig assistant = readSizes(root);
    if (problems.error) {
        return *problems.error;
    }
    constexpr int64_t kMostDrafts = 64;
    const std::string file = "assistant/generation_config.json";
    const Json generation = readDefaults(generation_json, file, problems.warnings);
    const DefaultsReader defaults(generation, file, problems.warnings);
    assistant.num_draft_tokens = defaults.integer("num_assistant_tokens", 0, kMostDrafts, 0);
    assistant.suppress_tokens = defaults.tokens("suppress_tokens", assistant.text.vocab_size);
    assistant.warnings = std::move(problems.warnings);
    ENGINE_TRY(pair(assistant, model));
    return assistant;
}

Result<AssistantConfig> readAssistantConfig(const Checkpoint& checkpoint,
                                            const ModelConfig& model) {
    ENGINE_ASSIGN(const std::string config, readRequired(checkpoint, ModelText::Config));
    const Result<std::optional<std::string>> generation = checkpoint.read(ModelText::Generation);
    const bool is_there = generation && generation->has_value();
    ENGINE_ASSIGN(
        AssistantConfig assistant,
        parseAssistantConfig(config, is_there ? std::string_view(**generation) : "", model));
    if (!generation) {
        assistant.warnings.push_back(defaultsUnread(generation.error()));
    }
    return assistant;
}

std::optional<std::string> assistantTensorName(std::string_view stored) {
    constexpr std::string_view kModel = "model.";
    if (stored == kTokenOrdering || stored.starts_with("lm_head.")) {
        return std::nullopt;
    }
    if (stored.starts_with(kModel)) {
        stored.remove_prefix(kModel.size());
    }
    return partName({PartRole::Assistant}) + "." + std::string(stored);
}

std::string assistantTableName() {
    return partName({PartRole::Assistant}) + ".embed_tokens.weight";
}

Result<void> readTokenOrdering(const TensorSource& source, AssistantConfig& assistant) {
    if (assistant.num_centroids == 0) {
        return {};
    }
    const auto vocab = static_cast<size_t>(assistant.text.vocab_size);
    const TensorInfo* info = source.find(kTokenOrdering);
    const std::vector<int64_t> flat = {assistant.text.vocab_size};
    const std::vector<int64_t> grouped = {assistant.num_centroids, assistant.groupSize()};
    if (info == nullptr || info->type != TensorType::I64 ||
        (info->shape != flat && info->shape != grouped)) {
        return Error{ErrorCode::InvalidFile,
                     info == nullptr
                         ? said("assistant: %1 is missing; expected int64 [%2]. Download the "
                                "assistant again",
                                kTokenOrdering, vocab)
                         : said("assistant: %1 has another type or shape; expected int64 [%2]. "
                                "Download the assistant again",
                                kTokenOrdering, vocab),
                     {{"tensor", std::string(kTokenOrdering)}}};
    }
    std::vector<int64_t> values(vocab);
    ENGINE_TRY(source.read(*info, 0, std::as_writable_bytes(std::span(values))));
    auto order = std::make_shared<std::vector<int32_t>>(vocab);
    std::vector<bool> is_there(vocab, false);
    for (size_t i = 0; i < vocab; ++i) {
        const bool is_token = values[i] >= 0 && values[i] < assistant.text.vocab_size;
        if (!is_token || is_there[static_cast<size_t>(values[i])]) {
            return Error{ErrorCode::InvalidFile,
                         is_token
                             ? said("assistant: %1: entry %2 is %3, which stands there twice; "
                                    "expected every token id below %4 once. Download the assistant "
                                    "again",
                                    kTokenOrdering, i, values[i], vocab)
                             : said("assistant: %1: entry %2 is %3; expected every token id below "
                                    "%4 once. Download the assistant again",
                                    kTokenOrdering, i, values[i], vocab),
                         {{"tensor", std::string(kTokenOrdering)}}};
        }
        is_there[static_cast<size_t>(values[i])] = true;
        (*order)[i] = static_cast<int32_t>(values[i]);
    }
    assistant.token_ordering = std::move(order);
    return {};
}

} // namespace engine
