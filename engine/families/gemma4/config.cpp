// SPDX-License-Identifier: Apache-2.0
// The model folder's configuration files as one ModelConfig: which models are accepted, token ids,
// the bitsandbytes block, generation defaults, processor settings, the chat template's family.
// text_config is read in config_text.cpp, the towers in config_towers.cpp, what the 12B has instead
// of towers in gemma4_unified/config.cpp.
#include "engine/base/json/section.h"
#include "engine/families/config_texts.h"
#include "engine/families/gemma4/config_parts.h"
#include "engine/families/gemma4/family.h"
#include "engine/families/gemma4/turns.h"
#include "engine/families/generation_config.h"
#include "engine/families/stored_templates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace engine {

namespace {

/// What else the folder may hold, so that the message can say more than "not supported".
Sentence otherModel(std::string name, const std::string& type) {
    if (type.find("assistant") != std::string::npos) {
        return said(
            "%1 is \"%2\": a speculative-decoding assistant, not a model to chat with; open "
            "the model it belongs to",
            std::move(name), type.substr(0, 60));
    }
    return said(
        "%1 is \"%2\": a model of another kind; Belfry runs Gemma 4 (E2B, E4B, 12B, 26B-A4B, 31B) "
        "and models of Llama's form (llama, mistral)",
        std::move(name), type.substr(0, 60));
}

struct Root {
    bool is_text_only = false;
    JsonSection text;
};

/// Checks model_type and architectures and finds the text section.
Root readRoot(const JsonSection& root, const Gemma4Kind& kind, ModelConfig& config) {
    const std::string whole = std::string(kind.class_name) + "ForConditionalGeneration";
    const std::string causal = std::string(kind.class_name) + "ForCausalLM";
    const std::string type_of_text = std::string(kind.model_type) + "_text";
    const std::vector<std::string> architectures = root.texts("architectures", 16);
    const bool has_type = root.has("model_type");
    const std::string type = root.text("model_type", "");
    if (has_type && type != kind.model_type && type != type_of_text) {
        root.unsupportedAs("model_type", otherModel(root.fullName("model_type"), type));
    }
    if (!has_type && architectures.empty()) {
        root.invalid(
            "ConfigMissing", "model_type",
            said("is missing, and so is architectures; is this the config.json of a model?"));
    }
    const bool has_text_section = root.has("text_config");
    if (architectures.empty()) {
        const bool is_causal = type == type_of_text || !has_text_section;
        config.architecture = is_causal ? causal : whole;
        root.warn("architectures", said("is missing; taken as %1", config.architecture));
    } else {
        config.architecture = architectures.front();
    }
    const bool is_text_only = config.architecture == causal;
    if (!is_text_only && config.architecture != whole) {
        root.unsupported("architectures", said("is \"%1\"; %2 and %3 are implemented",
                                               config.architecture.substr(0, 80), whole, causal));
    }
    if (!is_text_only && !has_text_section) {
        root.invalid("ConfigMissing", "text_config", said("is missing, expected an object"));
    }
    JsonSection text = has_text_section ? root.section("text_config") : root;
    const std::string text_type = text.text("model_type", type_of_text);
    if (has_text_section && text_type != type_of_text) {
        text.unsupported("model_type", said("is \"%1\"; only %2 is implemented",
                                            text_type.substr(0, 60), type_of_text));
    }
    return Root{is_text_only, std::move(text)};
}

/// A token id of the root or text section. Without the key: the published id, or -1 (none) where
/// the vocabulary is smaller than that.
int64_t readTokenId(const JsonSection& root,
                    std::initializer_list<std::string_view> keys,
                    int64_t published,
                    int64_t vocab_size) {
    for (const std::string_view key : keys) {
        if (root.has(key)) {
            return root.integer(key, 0, vocab_size - 1);
        }
    }
    return published < vocab_size ? published : -1;
}

void readTokenIds(const JsonSection& root, ModelConfig& config) {
    const int64_t vocab = config.text.vocab_size;
    config.image_token_id = readTokenId(root, {"image_token_id"}, 258880, vocab);
    config.audio_token_id = readTokenId(root, {"audio_token_id"}, 258881, vocab);
    config.video_token_id = readTokenId(root, {"video_token_id"}, 258884, vocab);
    config.boi_token_id = readTokenId(root, {"boi_token_id"}, 255999, vocab);
    config.eoi_token_id = readTokenId(root, {"eoi_token_id"}, 258882, vocab);
    config.boa_token_id = readTokenId(root, {"boa_token_id"}, 256000, vocab);
    config.eoa_token_id = readTokenId(root, {"eoa_token_id", "eoa_token_index"}, 258883, vocab);
    if (root.has("eoa_token_id") && root.has("eoa_token_index") &&
        root.integer("eoa_token_index", 0, vocab - 1) != config.eoa_token_id) {
        root.invalid("ConfigRange", "eoa_token_index", said("differs from eoa_token_id"));
    }
    const auto require = [&](std::string_view key, int64_t id, Phrase tower) {
        if (id < 0) {
            root.invalid("ConfigMissing", key,
                         said("is missing, and its published value lies outside the vocabulary of "
                              "%1; the model has %2",
                              vocab, tower));
        }
    };
    if (config.vision) {
        require("image_token_id", config.image_token_id, phrase("a vision tower"));
        require("boi_token_id", config.boi_token_id, phrase("a vision tower"));
        require("eoi_token_id", config.eoi_token_id, phrase("a vision tower"));
    }
    if (config.audio) {
        require("audio_token_id", config.audio_token_id, phrase("an audio tower"));
        require("boa_token_id", config.boa_token_id, phrase("an audio tower"));
        require("eoa_token_id", config.eoa_token_id, phrase("an audio tower"));
    }
}

bool isNear(double a, double b) {
    return std::fabs(a - b) <= 1e-6;
}

/// A three-element list of numbers equal to `wanted`, or absent.
bool isAbsentOrAll(const JsonSection& section, std::string_view key, double wanted) {
    const Json* list = section.find(key);
    if (list == nullptr || !list->is(Json::Kind::Array)) {
        return list == nullptr;
    }
    return std::all_of(list->items.begin(), list->items.end(), [&](const Json& item) {
        const std::optional<double> number = item.number();
        return number && isNear(*number, wanted);
    });
}

void requireNumber(const JsonSection& section, std::string_view key, double wanted) {
    const double found = section.number(key, -1e9, 1e9, wanted);
    if (!isNear(found, wanted)) {
        section.unsupported(
            key, said("is %1; only %2 is implemented", shownNumber(found), shownNumber(wanted)));
    }
}

/// The picture settings: everything but the token budget is fixed by the model, so other values
/// are refused instead of giving other answers in silence.
void readImageProcessor(const JsonSection& section,
                        const ModelConfig& config,
                        ProcessorConfig& processor) {
    if (!section.exists() || !config.vision) {
        return;
    }
    constexpr std::array<int64_t, 5> kBudgets = {70, 140, 280, 560, 1120};
    processor.image_tokens = section.integer("max_soft_tokens", 1, 1 << 20, processor.image_tokens);
    if (std::find(kBudgets.begin(), kBudgets.end(), processor.image_tokens) == kBudgets.end()) {
        section.invalid(
            "ConfigRange", "max_soft_tokens",
            said("is %1, expected one of 70, 140, 280, 560, 1120", processor.image_tokens));
    }
    const VisionConfig& vision = *config.vision;
    if (vision.has_tower) {
        requireInteger(section, "patch_size", vision.patch_size);
        requireInteger(section, "pooling_kernel_size", vision.pooling_kernel);
    } else {
        requirePatchSide(section, vision.patch_size);
    }
    requireInteger(section, "resample", 3);
    requireNumber(section, "rescale_factor", 1.0 / 255.0);
    if (!section.boolean("do_rescale", true)) {
        section.unsupported("do_rescale", said("is false; pictures are always scaled to 0..1"));
    }
    if (!section.boolean("do_resize", true)) {
        section.warn("do_resize", said("is false; pictures are resized all the same"));
    }
    if (section.boolean("do_normalize", false) &&
        (!isAbsentOrAll(section, "image_mean", 0.0) || !isAbsentOrAll(section, "image_std", 1.0))) {
        section.unsupported("do_normalize", said("is true with a mean other than 0 or a deviation "
                                                 "other than 1; that is not implemented"));
    }
}

void readMelSettings(const JsonSection& section, ModelConfig& config) {
    config.audio->mel_bins = section.integer("feature_size", 4, 1024, config.audio->mel_bins);
    requireInteger(section, "frame_length", 320);
    requireInteger(section, "hop_length", 160);
    requireInteger(section, "fft_length", 512);
    requireNumber(section, "min_frequency", 0.0);
    requireNumber(section, "max_frequency", 8000.0);
    requireNumber(section, "mel_floor", 0.001);
    requireNumber(section, "preemphasis", 0.0);
    requireNumber(section, "dither", 0.0);
    requireNumber(section, "input_scale_factor", 1.0);
    for (const std::string_view key : {"per_bin_mean", "per_bin_stddev"}) {
        if (section.has(key)) {
            section.unsupported(key, said("is set; normalization per mel bin is not implemented"));
        }
    }
}

void readAudioProcessor(const JsonSection& section, ModelConfig& config) {
    if (!section.exists() || !config.audio) {
        return;
    }
    requireInteger(section, "sampling_rate", 16000);
    if (config.audio->has_tower) {
        readMelSettings(section, config);
    } else {
        requireInteger(section, "audio_samples_per_token", config.audio->output_size);
    }
    if (section.text("padding_side", "right") != "right") {
        section.warn("padding_side", said("is not \"right\"; recordings are padded on the right"));
    }
}

/// `processor` is processor_config.json, `preprocessor` the older preprocessor_config.json, whose
/// picture and sound settings stand at the top level.
void readProcessor(const JsonSection& processor,
                   const JsonSection& preprocessor,
                   ModelConfig& config) {
    const JsonSection& image = processor.has("image_processor")      ? processor
                               : preprocessor.has("image_processor") ? preprocessor
                                                                     : processor;
    const bool is_image_nested = image.has("image_processor");
    const JsonSection flat_image = processor.has("max_soft_tokens") ? processor : preprocessor;
    readImageProcessor(is_image_nested ? image.section("image_processor") : flat_image, config,
                       config.processor);

    const JsonSection& audio = processor.has("feature_extractor") ? processor : preprocessor;
    const bool is_audio_nested = audio.has("feature_extractor");
    const JsonSection flat_audio = processor.has("sampling_rate") ? processor : preprocessor;
    readAudioProcessor(is_audio_nested ? audio.section("feature_extractor") : flat_audio, config);

    const JsonSection& length = processor.has("audio_seq_length") ? processor : preprocessor;
    if (!config.audio || config.audio->has_tower) { // the 12B's processor does not look at it
        config.processor.max_audio_tokens =
            length.integer("audio_seq_length", 1, 1 << 20, config.processor.max_audio_tokens);
    }
    if (config.audio) {
        requireInteger(length, "audio_ms_per_token", 40);
    }
}

std::string variantName(const ModelConfig& config) {
    struct Published {
        const char* name;
        int64_t hidden_size, num_layers, num_heads, ple_size;
        bool has_moe;
    };
    constexpr std::array<Published, 5> kPublished = {{
        {"E2B", 1536, 35, 8, 256, false},
        {"E4B", 2560, 42, 8, 256, false},
        {"12B", 3840, 48, 16, 0, false},
        {"26B-A4B", 2816, 30, 16, 0, true},
        {"31B", 5376, 60, 32, 0, false},
    }};
    const TextConfig& text = config.text;
    for (const Published& known : kPublished) {
        if (text.hidden_size == known.hidden_size && text.num_layers == known.num_layers &&
            text.num_heads == known.num_heads && text.ple_size == known.ple_size &&
            text.has_moe == known.has_moe) {
            return known.name;
        }
    }
    return "custom";
}

} // namespace

void requireInteger(const JsonSection& section, std::string_view key, int64_t wanted) {
    const int64_t found = section.integer(key, 0, int64_t{1} << 40, wanted);
    if (found != wanted) {
        section.unsupported(key, said("is %1; only %2 is implemented", found, wanted));
    }
}

void requirePatchSide(const JsonSection& section, int64_t side) {
    if (!section.has("patch_size") && !section.has("pooling_kernel_size")) {
        return;
    }
    const int64_t pooling = section.integer("pooling_kernel_size", 1, side, 3);
    requireInteger(section, "patch_size", side / pooling);
}

void requireModelType(const JsonSection& section, std::string_view name) {
    const std::string found = section.text("model_type", name);
    if (found != name) {
        section.unsupported("model_type",
                            said("is \"%1\"; only %2 is implemented", found.substr(0, 60), name));
    }
}

Result<ModelConfig> parseGemma4Config(const ConfigTexts& texts, const Gemma4Kind& kind) {
    ENGINE_ASSIGN(const Json config_tree, parseConfigObject(texts.config, "config.json"));
    ENGINE_ASSIGN(const Json processor_tree,
                  parseConfigObject(texts.processor, "processor_config.json"));
    ENGINE_ASSIGN(const Json preprocessor_tree,
                  parseConfigObject(texts.preprocessor, "preprocessor_config.json"));

    JsonProblems problems;
    ModelConfig config;
    const JsonSection root(&config_tree, "config.json", "", problems);
    const Root parts = readRoot(root, kind, config);
    if (problems.error) {
        return *problems.error;
    }
    config.text = readTextConfig(parts.text);
    if (problems.error) {
        return *problems.error; // everything below needs sizes that hold
    }
    if (!parts.is_text_only && root.has("vision_config")) {
        config.vision = kind.vision(root.section("vision_config"));
    }
    if (!parts.is_text_only && root.has("audio_config")) {
        config.audio = kind.audio(root.section("audio_config"));
    }
    readTokenIds(root, config);
    // transformers reads it where the head is: at the top, also where only text_config has it.
    const JsonSection& tie_section =
        parts.is_text_only && !root.has("tie_word_embeddings") ? parts.text : root;
    config.tie_word_embeddings = tie_section.boolean("tie_word_embeddings", true);
    config.has_own_head = !config.tie_word_embeddings;
    for (const std::string_view key : {"dtype", "torch_dtype"}) {
        for (const JsonSection& section : {root, parts.text}) {
            if (config.dtype.empty()) {
                config.dtype = section.text(key, "");
            }
        }
    }
    const JsonSection& quantized = root.has("quantization_config") ? root : parts.text;
    config.quantization = readQuantization(quantized.section("quantization_config"));

    const int64_t vocab_size = config.text.vocab_size;
    std::vector<int64_t> eos = DefaultsReader(config_tree, "config.json", problems.warnings)
                                   .tokens("eos_token_id", vocab_size);
    const Json* inner = root.find("text_config");
    if (eos.empty() && inner != nullptr) {
        eos = DefaultsReader(*inner, "config.json: text_config", problems.warnings)
                  .tokens("eos_token_id", vocab_size);
    }
    if (eos.empty()) {
        eos.push_back(std::min<int64_t>(1, vocab_size - 1));
    }
    config.generation =
        readGeneration(texts.generation, config.text, std::move(eos), problems.warnings);
    readProcessor(JsonSection(&processor_tree, "processor_config.json", "", problems),
                  JsonSection(&preprocessor_tree, "preprocessor_config.json", "", problems),
                  config);
    if (problems.error) {
        return *problems.error;
    }
    config.variant = variantName(config);
    config.is_large_template = config.text.ple_size == 0;
    ENGINE_TRY(checkTotalSize(kind.list(config), config));
    config.warnings = std::move(problems.warnings);
    return config;
}

Result<void> finishGemma4Config(const Checkpoint& checkpoint, ModelConfig& config) {
    ENGINE_ASSIGN(StoredTemplates templates, readStoredTemplates(checkpoint));
    // Without a template the sizes tell: the large models' closes an empty thought in the
    // generation prompt.
    config.is_large_template = templates.is_large.value_or(config.is_large_template);
    if (!templates.foreign.isEmpty()) {
        config.warnings.push_back(std::move(templates.foreign));
    }
    if (!templates.old.isEmpty()) {
        config.warnings.push_back(std::move(templates.old));
    }
    std::move(templates.notes.begin(), templates.notes.end(), std::back_inserter(config.warnings));
    return {};
}

const Family& gemma4Family() {
    static constexpr std::array<std::string_view, 2> kModelTypes = {"gemma4", "gemma4_text"};
    static constexpr Gemma4Kind kKind = {"gemma4", "Gemma4", readVisionConfig, readAudioConfig,
                                         listGemma4Tensors};
    static constexpr Family kFamily = {
        "gemma4",
        kModelTypes,
        [](const ConfigTexts& texts) { return parseGemma4Config(texts, kKind); },
        finishGemma4Config,
        listGemma4Tensors,
        gemma4Turns};
    return kFamily;
}

} // namespace engine
