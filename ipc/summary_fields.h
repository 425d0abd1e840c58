// SPDX-License-Identifier: Apache-2.0
// Values of engine/api that summaries of models, notes of loads and causes of errors are made of,
// for Writer and Reader.
#pragma once

#include "engine/api/adapter_note.h"
#include "engine/api/error_cause.h"
#include "engine/api/load_note.h"
#include "engine/api/model_oddity.h"
#include "engine/api/model_summary.h"
#include "engine/api/unused_key.h"

#include "ipc/chat_fields.h"
#include "ipc/plan_fields.h"

namespace ipc {

IPC_ENUM(engine::load_note::CacheUnused::Why,
         CannotOpen,
         CannotRead,
         CutShort,
         Other,
         CutOrDamaged,
         DirectoryDamaged)
IPC_ENUM(engine::cause::BadOption::Option, Weights, BlockSize, Head)
IPC_ENUM(engine::odd::ConfigMember::Kind,
         NoArchitecture,
         NotResized,
         NotRight,
         EndsSliding,
         OneRope,
         LeftOut,
         TakenAs,
         NotRun)
IPC_ENUM(engine::UnusedKey::Outcome, Inert, Ignored, Refused)
IPC_ENUM(engine::KeyReason::Why,
         None,
         Refused,
         SharesKv,
         ValuesAreKeys,
         FewerLayers,
         Unused,
         NoVision,
         NoAudio,
         LeftOut,
         TurnedOff,
         NoModuleNamed,
         NoModule,
         NoParameter,
         SavedWhole,
         NotBaseLayer,
         SameAsBase,
         OtherRefused,
         TextOnly)

// adapter_note.h
IPC_FIELDS(engine::adapter_note::UnknownMember, name, value)
IPC_EMPTY(engine::adapter_note::FanInFanOut)
IPC_FIELDS(engine::adapter_note::ChangedBase, initialisation)
IPC_EMPTY(engine::adapter_note::RuntimeConfig)
IPC_FIELDS(engine::adapter_note::TrainingOnly, name)
IPC_FIELDS(engine::adapter_note::OtherBase, base, variant)
IPC_FIELDS(engine::adapter_note::UnnamedReplacement, tensor)
IPC_FIELDS(engine::adapter_note::ExpertOrder, is_turned, version)
IPC_FIELDS(engine::adapter_note::PatternUnread, why, is_of_rank)
IPC_FIELDS(engine::adapter_note::Template, odd)
IPC_FIELDS(engine::adapter_note::UnknownTokens, file, tokens, count)
IPC_FIELDS(engine::adapter_note::TokenizerUnread, why)

// load_note.h
IPC_FIELDS(engine::load_note::CacheUnused, file, why)
IPC_FIELDS(engine::load_note::CacheOutdated, changed, count, first)
IPC_FIELDS(engine::load_note::CacheDamaged, count, first)
IPC_EMPTY(engine::load_note::CacheRewritten)
IPC_FIELDS(engine::load_note::CacheNotWritten, why)
IPC_FIELDS(engine::load_note::ContentsNotKept, why)
IPC_FIELDS(engine::load_note::StateMember, tensor, member)
IPC_FIELDS(engine::load_note::Expanded, tensor, from, to)
IPC_FIELDS(engine::load_note::OfAdapter, adapter, note)
IPC_FIELDS(engine::load_note::AdapterLeftOut, adapter, count, tensors, first, reason)
IPC_FIELDS(engine::load_note::NotUsed, tensor)
IPC_FIELDS(engine::load_note::NotLoaded, count, first, reason)

// error_cause.h
IPC_FIELDS(engine::cause::BadPlan, errors)
IPC_FIELDS(engine::cause::PromptTooLong, tokens, context)
IPC_FIELDS(engine::cause::ContextFull, held, more, context)
IPC_FIELDS(engine::cause::TooManyImageTokens, asked, loaded)
IPC_FIELDS(engine::cause::PictureTooLarge, grid_w, grid_h)
IPC_FIELDS(engine::cause::PictureOverCall, tokens)
IPC_FIELDS(engine::cause::BadOption, option, value, expected)
IPC_EMPTY(engine::cause::NotFiniteOnce)
IPC_FIELDS(engine::cause::TowerLeftOut, is_sound)
IPC_FIELDS(engine::ErrorCause, what)

// model_oddity.h
IPC_FIELDS(engine::odd::ConfigMember, kind, file, member, value)
IPC_EMPTY(engine::odd::PackedByConfig)
IPC_FIELDS(engine::odd::HeadIsTable, head)
IPC_FIELDS(engine::odd::OwnHead, head, is_denied)
IPC_FIELDS(engine::odd::ForeignTemplate, where, marks)
IPC_FIELDS(engine::odd::FurtherTemplate, where)
IPC_FIELDS(engine::odd::TemplateUnread, why)
IPC_FIELDS(engine::odd::NoWeights, files, count)
IPC_FIELDS(engine::odd::WeightsUnread, why)
IPC_FIELDS(engine::odd::HeaderMember, file, tensor, member)
IPC_FIELDS(engine::odd::MoreHeaderMembers, file, count)
IPC_FIELDS(engine::odd::ElementType, file, tensor, type)
IPC_FIELDS(engine::odd::NoTotalSize, index)
IPC_FIELDS(engine::odd::OtherTotalSize, index, told, found)
IPC_FIELDS(engine::odd::UnnamedTensors, index, tensors, count)
IPC_EMPTY(engine::odd::SingleFileUsed)
IPC_FIELDS(engine::odd::LoadWouldFail, why)
IPC_FIELDS(engine::odd::LoadWouldFailAtMore, count)
IPC_FIELDS(engine::odd::PostProcessor, type)
IPC_FIELDS(engine::odd::TokenizerMember, member)
IPC_FIELDS(engine::odd::TokenizerRefused, why)
IPC_EMPTY(engine::odd::NoTokenizer)
IPC_FIELDS(engine::odd::DefaultsUnread, why)
IPC_FIELDS(engine::odd::SpellableToken, token)

// model_summary.h, unused_key.h
IPC_FIELDS(engine::KeyReason, sentence, why, layer, other, name, refusal)
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
    auto& [folder, architecture, variant, dtype, parameters, bytes, max_context, has_vision,
           has_audio, lacks_vision_by_wish, lacks_audio_by_wish, longest_sound_s, sampling,
           image_tokens, is_header_only, quantization, modules, layers, vision_layers, audio_layers,
           adapters, warnings, capabilities] = summary;
    archive(folder, architecture, variant, dtype, parameters, bytes, max_context, has_vision,
            has_audio, lacks_vision_by_wish, lacks_audio_by_wish, longest_sound_s, sampling,
            image_tokens, is_header_only, quantization, modules, layers, vision_layers,
            audio_layers, adapters, warnings, capabilities);
    bool is_possible = vision_layers >= 0 && vision_layers < kMostLayers && audio_layers >= 0 &&
                       audio_layers < kMostLayers && layers.size() < kMostLayers;
    for (const engine::LayerSummary& layer : layers) {
        is_possible = is_possible && layer.kv_source >= -1 &&
                      layer.kv_source < static_cast<int64_t>(layers.size());
    }
    archive.require(is_possible);
}

} // namespace ipc
