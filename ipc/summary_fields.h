// SPDX-License-Identifier: Apache-2.0
// Values of engine/api that summaries of models and causes of errors are made of,
// for Writer and Reader.
#pragma once

#include "engine/api/error_cause.h"
#include "engine/api/model_summary.h"
#include "engine/api/unused_key.h"

#include "ipc/chat_fields.h"
#include "ipc/plan_fields.h"

namespace ipc {

IPC_ENUM(engine::UnusedKey::Outcome, Inert, Ignored, Refused)
IPC_ENUM(engine::KeyReason::Why, Other, SameAsBase, TextOnly)

// error_cause.h
IPC_FIELDS(engine::ErrorCause, errors)

// model_summary.h, unused_key.h
IPC_FIELDS(engine::KeyReason, sentence, why)
IPC_FIELDS(engine::UnusedKey, key, outcome, reason)
IPC_FIELDS(engine::ModuleSummary, name, kind, parameters, bytes)
IPC_FIELDS(engine::LayerSummary, is_full_attention, is_kv_shared, kv_source)
IPC_FIELDS(engine::AdapterSummary::Group, kind, rank, alpha, scaling, modules)
IPC_FIELDS(engine::AdapterSummary::Effect, logits, vision, audio)
IPC_FIELDS(engine::AdapterSummary,
           folder,
           name,
           kind,
           tensors,
           language,
           vision,
           audio,
           other,
           active,
           inert,
           ignored,
           language_modules,
           vision_modules,
           audio_modules,
           rank,
           alpha,
           scaling,
           matched_modules,
           unmatched,
           missing,
           norms,
           groups,
           effect,
           notes,
           bytes)
template <typename Archive>
void fields(Archive& archive, engine::ModelSummary& summary) {
    auto& [folder, architecture, variant, dtype, parameters, bytes, max_context, vocabulary,
           has_vision, has_audio, lacks_vision_by_wish, lacks_audio_by_wish, longest_sound_s,
           sampling, image_tokens, is_header_only, weights_unread, quantization, modules, layers,
           vision_layers, audio_layers, has_experts, adapters, warnings, capabilities] = summary;
    archive(folder, architecture, variant, dtype, parameters, bytes, max_context, vocabulary,
            has_vision, has_audio, lacks_vision_by_wish, lacks_audio_by_wish, longest_sound_s,
            sampling, image_tokens, is_header_only, weights_unread, quantization, modules, layers,
            vision_layers, audio_layers, has_experts, adapters, warnings, capabilities);
    bool is_possible = vision_layers >= 0 && vision_layers < kMostLayers && audio_layers >= 0 &&
                       audio_layers < kMostLayers && layers.size() < kMostLayers;
    for (const engine::LayerSummary& layer : layers) {
        is_possible = is_possible && layer.kv_source >= -1 &&
                      layer.kv_source < static_cast<int64_t>(layers.size());
    }
    archive.require(is_possible);
}

} // namespace ipc
