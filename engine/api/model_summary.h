// SPDX-License-Identifier: Apache-2.0
// What a model folder and its adapters hold, as far as their headers tell.
#pragma once

#include "engine/api/capabilities.h"
#include "engine/api/chat.h"
#include "engine/api/sentence.h"
#include "engine/api/unused_key.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// One block of a model, for inspect.
struct ModuleSummary {
    std::string name, kind;
    int64_t parameters = 0;
    uint64_t bytes = 0; ///< As stored.
};

/// One decoder layer, for drawing it.
struct LayerSummary {
    bool is_full_attention = false;
    bool is_kv_shared = false;
    int kv_source = -1; ///< Layer whose keys and values it reads; its own number for owners.
};

struct AdapterSummary {
    std::string folder, name, kind;
    int64_t tensors = 0;
    int64_t language = 0, vision = 0, audio = 0, other = 0;              ///< Tensors by tower.
    int64_t active = 0, inert = 0, ignored = 0;                          ///< Sum = tensors.
    int64_t language_modules = 0, vision_modules = 0, audio_modules = 0; ///< That it acts on.
    int64_t rank = 0;
    double alpha = 0.0, scaling = 0.0;
    std::vector<std::string> matched_modules;
    std::vector<UnusedKey> unmatched;
    std::vector<std::string> missing; ///< Targeted by the config, absent from the file.
    std::vector<std::pair<std::string, double>>
        norms; ///< Base tensor, Frobenius norm of the delta.
    struct Group {
        std::string kind;
        int64_t rank = 0;
        double alpha = 0.0, scaling = 0.0;
        int64_t modules = 0;
    };
    std::vector<Group> groups;
    /// What the adapter changes at strength 1, as the largest difference over the base's largest
    /// value: logits of a fixed row of tokens, soft tokens of a fixed picture and a fixed sound.
    /// 0 = the same bits; -1 = not measured (Engine::adapterEffect), or no such tower.
    struct Effect {
        double logits = -1.0, vision = -1.0, audio = -1.0;
        [[nodiscard]] bool isMeasured() const { return logits >= 0.0; }
        [[nodiscard]] bool differs() const { return logits > 0.0 || vision > 0.0 || audio > 0.0; }
    };
    Effect effect;
    std::vector<Sentence> notes;
    uint64_t bytes = 0;
};

struct ModelSummary {
    std::string folder, architecture, variant, dtype;
    int64_t parameters = 0; ///< 0 = not known.
    uint64_t bytes = 0;
    int64_t max_context = 0;
    int64_t vocabulary = 0; ///< Rows of the token table; 0 = not known.
    bool has_vision = false, has_audio = false;
    /// The files hold a tower that LoadRequest::is_text_only left out; has_vision and has_audio are
    /// of what is loaded.
    bool lacks_vision_by_wish = false, lacks_audio_by_wish = false;
    double longest_sound_s = 0.0; ///< Longest clip that the model takes; 0 without the tower.
    /// What SamplingParameters below zero stand for with this model, and image_tokens of 0; -1 and
    /// 0 = not known. Seed and length have no default.
    SamplingParameters sampling;
    int64_t image_tokens = 0;
    bool is_header_only = false; ///< Weights are absent: plan works, load does not.
    Sentence weights_unread;     ///< Why, where there are files; also one of the warnings.
    std::string quantization;    ///< "none", "nf4", "nf4-dq", ...: what the files hold.
    std::vector<ModuleSummary> modules;
    std::vector<LayerSummary> layers;
    int64_t vision_layers = 0, audio_layers = 0; ///< 0 without the tower.
    bool has_experts = false;                    ///< Routed ones beside the MLPs.
    std::vector<AdapterSummary> adapters;
    std::vector<Sentence> warnings;
    Capabilities capabilities; ///< What the engine that runs it can do.
};

} // namespace engine
