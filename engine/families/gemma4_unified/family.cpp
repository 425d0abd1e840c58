// SPDX-License-Identifier: Apache-2.0
// What the 12B's files say that others' do not: vision_config and audio_config, which describe
// embedders, and the tensors of those. Everything else is read as the other Gemma 4 models' is.
#include "engine/families/gemma4_unified/family.h"

#include "engine/families/gemma4/config_parts.h"
#include "engine/families/gemma4/list_parts.h"
#include "engine/families/gemma4/turns.h"

#include <array>

namespace engine {

namespace {

/// 40 ms at 16 kHz, which the lengths of recordings and prompts are counted by.
constexpr int64_t kFrameSamples = 640;

VisionConfig readVisionEmbedder(const JsonSection& section) {
    requireModelType(section, "gemma4_unified_vision");
    VisionConfig vision;
    vision.has_tower = false;
    vision.hidden_size = section.integer("mm_embed_dim", 1, kMaxWidth);
    // The reference merges patches in squares of pooling_kernel_size; the values come out as one
    // large patch has them.
    vision.patch_size =
        section.integer("patch_size", 1, 64, 16) * section.integer("pooling_kernel_size", 1, 16, 3);
    vision.pooling_kernel = 1;
    vision.position_table_size = section.integer("mm_posemb_size", 1, int64_t{1} << 20);
    vision.rms_norm_eps = section.number("rms_norm_eps", 1e-30, 1.0, 1e-6);
    requireInteger(section, "model_patch_size", vision.patch_size);
    requireInteger(section, "output_proj_dims", vision.hidden_size);
    return vision;
}

AudioConfig readAudioEmbedder(const JsonSection& section) {
    requireModelType(section, "gemma4_unified_audio");
    AudioConfig audio;
    audio.has_tower = false;
    audio.output_size = kFrameSamples;
    audio.rms_norm_eps = section.number("rms_norm_eps", 1e-30, 1.0, 1e-6);
    for (const std::string_view key :
         {"audio_embed_dim", "audio_samples_per_token", "hidden_size", "output_proj_dims"}) {
        requireInteger(section, key, kFrameSamples);
    }
    return audio;
}

void listVisionEmbedder(Lister& list, const VisionConfig& vision, int64_t text_width) {
    using enum TensorSlot;
    const int64_t hidden = vision.hidden_size;
    const int64_t values = 3 * vision.patch_size * vision.patch_size;
    const auto layerNorm = [&list](const std::string& name, int64_t size, int index) {
        list.norm(name, size, PatchNorm, index);
        list.add(name + ".bias", TensorKind::Vector, {size}, PatchNormBias, index);
    };
    list.enter({PartRole::VisionProjector});
    layerNorm("patch_ln1", values, 0);
    list.linear("patch_dense", hidden, values, Patches);
    list.add("patch_dense.bias", TensorKind::Vector, {hidden}, PatchBias);
    layerNorm("patch_ln2", hidden, 1);
    list.add("pos_embedding", TensorKind::Vector, {vision.position_table_size, 2, hidden},
             PositionTable);
    layerNorm("pos_norm", hidden, 2);
    list.linear("multimodal_embedder.embedding_projection", text_width, hidden, Weight);
}

std::vector<ExpectedTensor> listUnifiedTensors(const ModelConfig& config) {
    std::vector<ExpectedTensor> tensors;
    Lister list(tensors);
    listGemma4Language(list, config.text);
    if (config.vision) {
        listVisionEmbedder(list, *config.vision, config.text.hidden_size);
    }
    if (config.audio) {
        list.enter({PartRole::AudioProjector});
        list.linear("embedding_projection", config.text.hidden_size, config.audio->output_size,
                    TensorSlot::Weight);
    }
    if (config.assistant) {
        listGemma4Assistant(list, *config.assistant);
    }
    return tensors;
}

} // namespace

const Family& gemma4UnifiedFamily() {
    static constexpr std::array<std::string_view, 2> kModelTypes = {"gemma4_unified",
                                                                    "gemma4_unified_text"};
    static constexpr Gemma4Kind kKind = {"gemma4_unified", "Gemma4Unified", readVisionEmbedder,
                                         readAudioEmbedder, listUnifiedTensors};
    static constexpr Family kFamily = {
        "gemma4_unified",
        kModelTypes,
        [](const ConfigTexts& texts) { return parseGemma4Config(texts, kKind); },
        finishGemma4Config,
        listUnifiedTensors,
        gemma4Turns};
    return kFamily;
}

} // namespace engine
