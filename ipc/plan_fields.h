// SPDX-License-Identifier: Apache-2.0
// Values of engine/api that plans and what is said of them are made of, for Writer and Reader.
#pragma once

#include "engine/api/export_loss.h"
#include "engine/api/map_export.h"
#include "engine/api/map_finding.h"
#include "engine/api/placement.h"
#include "engine/api/plan_message.h"

#include "ipc/fields.h"

namespace ipc {

inline constexpr int kMostLayers = 100'000; ///< Loops over layers end.

IPC_ENUM(engine::PartRole,
         Other,
         Embedding,
         PerLayerTable,
         PerLayerProjection,
         PerLayerNorm,
         Layer,
         FinalNorm,
         Head,
         VisionTower,
         VisionProjector,
         AudioTower,
         AudioProjector,
         Assistant)
IPC_ENUM(engine::Format, AsStored, Bf16, F16, F32, Nf4, Nf4Dq, Fp4, Fp4Dq, Q8)
IPC_ENUM(engine::Travel,
         HiddenState,
         PerLayerRow,
         PerLayerSlice,
         KvMirror,
         SplitInput,
         SplitOutput,
         QueriesKeysValues,
         AttentionResult,
         StreamedWeights,
         StreamedAdapter)
IPC_ENUM(engine::JsonFault::Kind,
         None,
         NoEnd,
         NoName,
         NoColon,
         NoObjectComma,
         NoListComma,
         NoValue,
         NoDigit,
         NoHexDigits,
         LeadingZero,
         ControlCharacter,
         NotUtf8,
         OpenString,
         UnknownEscape,
         HalfSurrogate,
         RepeatedName,
         TooDeep,
         TooManyValues,
         StringTooLong)
IPC_ENUM(engine::JsonFault::Found, End, NotUtf8, Character)
IPC_ENUM(engine::note::SetBy::Kind, Key, Default, EmptyKey, Rules, Options)
IPC_ENUM(engine::note::FitStart::Verdict, Fits, TooMuch, MoreThanHost)
IPC_ENUM(engine::issue::JsonFound::Kind, Null, True, False, Number, Text, Object, List)
IPC_ENUM(engine::issue::MapHint::Kind, None, Automatic, FirstCard, Card, Device, NoSuchDevice)
IPC_ENUM(engine::issue::BadValue::Expected,
         ImportedPlace,
         Version,
         Text,
         Object,
         Integer,
         Word,
         Bool,
         Device,
         ComputeDevice,
         Member,
         Place,
         Size,
         Tokens)
IPC_ENUM(engine::issue::DefaultIncomplete::Missing, ComputeOfDisk, Both, Compute, Store)
IPC_ENUM(engine::issue::FormatRefused::Why, NotQuantizable, NotFloats, NeedsOwnKey, Packed)
IPC_ENUM(engine::PlanPart::Kind,
         Module,
         VisionTower,
         AudioTower,
         PerLayerTable,
         TokenTable,
         Head,
         Layers,
         KvCache,
         Adapters,
         Workspace,
         DriverContext,
         VisitingRoom)
IPC_ENUM(engine::SuggestedCost::Kind,
         TableRow,
         OneRow,
         TableRead,
         TimePerImage,
         TimePerSound,
         TimePerToken,
         FilesPerMedia,
         Conversation,
         PromptTime,
         ImageDetail,
         Accuracy,
         HeadAccuracy,
         LittleAccuracy,
         HardlyAccuracy)
IPC_ENUM(engine::CardTrouble::Kind,
         NoDriver,
         NoCard,
         NoKernels,
         OldDriver,
         DriverLacks,
         DriverFails,
         OldCard,
         SilentCard,
         LostCard,
         CardNoAnswer,
         DriverCrashes,
         DriverHangs)
IPC_ENUM(engine::MemoryBound::By, Nothing, Free, Option, Map, System)

// map_finding.h, json_fault.h
IPC_FIELDS(engine::JsonFault, kind, found, character, name, most)
IPC_FIELDS(engine::note::SetBy, kind, key)
IPC_FIELDS(engine::note::Tensors, count, first)
IPC_FIELDS(engine::issue::JsonFound, kind, text)
IPC_FIELDS(engine::issue::MapHint, kind, word, index)
IPC_FIELDS(engine::issue::MapTooLong, bytes, most)
IPC_FIELDS(engine::issue::NotJson, fault)
IPC_FIELDS(engine::issue::NotAnObject, found)
IPC_EMPTY(engine::issue::VersionMissing)
IPC_EMPTY(engine::issue::DefaultMissing)
IPC_FIELDS(engine::issue::BadValue, member, expected, found, words)
IPC_FIELDS(engine::issue::UnknownMember, member, known)
IPC_FIELDS(engine::issue::WholeModelKey, key)
IPC_FIELDS(engine::issue::BadRange, key)
IPC_FIELDS(engine::issue::NotADevice, key, member)
IPC_FIELDS(engine::issue::SizeUnitCase, size)
IPC_FIELDS(engine::issue::UnknownKey, key, parent, last, proposals, is_range_of_other_form)
IPC_FIELDS(engine::issue::BelowTensor, key, tensor)
IPC_FIELDS(engine::issue::InsideWeight, key, tensor)
IPC_FIELDS(engine::issue::KeysDisagree::Key, key, line, store, compute)
IPC_FIELDS(engine::issue::KeysDisagree, first, second, name, field)
IPC_FIELDS(engine::issue::DefaultIncomplete, missing, tensors)
IPC_FIELDS(engine::issue::HeadApart::Half, store, compute, format, by)
IPC_FIELDS(engine::issue::HeadApart, head, table)
IPC_FIELDS(engine::issue::NothingSaysWhere, tensors)
IPC_FIELDS(engine::issue::ComputedElsewhere, store, compute, store_by, compute_by, tensors)
IPC_FIELDS(engine::issue::FormatRefused, format, why, held, tensors)
IPC_FIELDS(engine::issue::FormatExpanded, from, to, tensors)
IPC_EMPTY(engine::issue::KvFormatMissing)
IPC_FIELDS(engine::issue::MadeForOtherLayers, map, model)
IPC_FIELDS(engine::issue::MadeForOtherModel, map, model)
IPC_FIELDS(engine::issue::NoPreset, name, known, hint)
IPC_FIELDS(engine::issue::PresetNeedsGpu, name)

// plan_message.h
template <typename Archive>
void fields(Archive& archive, engine::PlanPart& part) {
    auto& [kind, module, first_layer, last_layer, tokens] = part;
    archive(kind, module, first_layer, last_layer, tokens);
    archive.require(first_layer >= -1 && last_layer >= -1 && first_layer < kMostLayers &&
                    last_layer < kMostLayers);
}
IPC_FIELDS(engine::PartShare, part, bytes, device)
IPC_FIELDS(engine::SuggestedMove, part, modules, store, compute)
IPC_FIELDS(engine::SuggestedCost, kind, bytes, seconds)
IPC_FIELDS(engine::SuggestedStep::Place, store, compute)
IPC_FIELDS(engine::SuggestedStep,
           moves,
           head_copy,
           is_head_int8,
           quant,
           context,
           prefill_chunk,
           image_tokens,
           frees,
           cost,
           is_enough)
IPC_FIELDS(engine::LastResort, has_limit, has_reserve)
IPC_FIELDS(engine::StepsTogether, leaves, over, rest)
IPC_FIELDS(engine::MapValue, text)
IPC_FIELDS(engine::CardTrouble, kind, sentence, device, name, found, needed)
IPC_FIELDS(engine::note::Freed, device, bytes, remaining)
IPC_FIELDS(engine::note::FitStart, device, need, limit, verdict)
IPC_EMPTY(engine::note::FitOrder)
IPC_FIELDS(engine::note::FitTable, is_per_layer, to, freed, row_bytes)
IPC_FIELDS(engine::note::FitTower, is_audio, to, freed, seconds, seconds_before)
IPC_FIELDS(engine::note::FitFormats, quant, head, freed)
IPC_FIELDS(engine::note::FitHead, to, freed, slower_s)
IPC_FIELDS(engine::note::FitLayers, first, last, to, freed, slower_s)
IPC_FIELDS(engine::note::FitTooLarge, over)
IPC_FIELDS(engine::note::FitSpeed, rate, device, rate_there, has_simulated)
IPC_FIELDS(engine::note::FourBits, rate)
IPC_FIELDS(engine::note::ContextCut, asked, planned)
IPC_FIELDS(engine::note::MadeAtEveryUse, count)
IPC_FIELDS(engine::note::DiskHasNoLimit, is_reserve)
IPC_FIELDS(engine::note::AdapterNotCounted, tensor)
IPC_FIELDS(engine::note::ReplacementsStay, count)
IPC_FIELDS(engine::note::HeadStaysPacked, format)
IPC_EMPTY(engine::note::HeadIsTable)
IPC_EMPTY(engine::note::TwoCopies)
IPC_FIELDS(engine::note::TiedFieldIdle, field, by, table)
IPC_FIELDS(engine::note::ResidencyIdle, by, tensors)
IPC_FIELDS(engine::note::PackedStays, count)
IPC_FIELDS(engine::note::NotInFiles, tensors)
IPC_FIELDS(engine::note::KeysTranslated::Pair, from, to)
IPC_FIELDS(engine::note::KeysTranslated, keys, count)
IPC_FIELDS(engine::note::KeysIdle::Key, key, is_shared)
IPC_FIELDS(engine::note::KeysIdle, keys, count)
IPC_FIELDS(engine::note::ManyConflicts, shown)
IPC_FIELDS(engine::note::MeasuredRates, read_bytes_per_s, flops)
IPC_FIELDS(engine::note::DriverAssumed, device)
IPC_FIELDS(engine::MemoryBound, by, whole, reserve)
IPC_FIELDS(engine::issue::OverLimit, device, need, limit, bound, largest)
IPC_FIELDS(engine::issue::OverHost::Share, device, bytes)
IPC_FIELDS(engine::issue::OverHost, shares, need, limit, bound, largest)
IPC_FIELDS(engine::issue::SplitLayers, layers, devices, bytes)
IPC_FIELDS(engine::issue::KvMirrored, layers, device, owner, owner_device, bytes)
IPC_FIELDS(engine::issue::KvElsewhere, layers, device, cache, bytes)
IPC_FIELDS(engine::issue::LimitWithoutDevice, device)
IPC_FIELDS(engine::issue::NoDevice, key, device, gpus)

// placement.h
template <typename Archive>
void fields(Archive& archive, engine::Part& part) {
    auto& [role, layer] = part;
    archive(role, layer);
    archive.require(layer >= -1 && layer < kMostLayers);
}
IPC_FIELDS(engine::TensorPlacement,
           tensor,
           store,
           compute,
           residency,
           format,
           block_size,
           bytes,
           made_from_bytes,
           pin,
           part)
IPC_FIELDS(engine::ModulePlacement, name, store, compute, residency, format, bytes, is_mixed, part)
IPC_FIELDS(engine::DevicePlan, id, description, capacity, free, limit, parts)
IPC_FIELDS(
    engine::PlanIssue, code, key, finding, reasons, suggestions, modules, line, column, is_python)
IPC_FIELDS(engine::TransferPerToken, from, to, bytes, what)
IPC_FIELDS(engine::SpeedEstimate, decode_tokens_per_s, prefill_tokens_per_s, image_s, audio_s_per_s)
IPC_FIELDS(engine::PlacementPlan,
           fits,
           devices,
           tensors,
           modules,
           context,
           prefill_chunk,
           locks_host,
           left_out_bytes,
           adapters_follow_base,
           image_tokens,
           kv_device,
           is_reference_precision,
           has_stored_head,
           errors,
           warnings,
           notes,
           transfers_per_token,
           estimate,
           map_text)

// export_loss.h
IPC_FIELDS(engine::loss::Shortage, finding)
IPC_FIELDS(engine::loss::ComputesElsewhere, count, main)
IPC_FIELDS(engine::loss::KeepsCopy, count)
IPC_FIELDS(engine::loss::TableInFormat, tensor, format)
IPC_EMPTY(engine::loss::HeadInt8)
IPC_FIELDS(engine::loss::HostUnquantized, count, bytes_there, bytes_here)
IPC_FIELDS(engine::loss::DenseFormat, count, format)
IPC_EMPTY(engine::loss::NoSimulatedGpus)
IPC_EMPTY(engine::loss::TiedCopies)
IPC_FIELDS(engine::loss::SecondFormat, count, format)
IPC_FIELDS(engine::loss::OtherBlocks, block_size)
IPC_FIELDS(engine::loss::SplitLayers, layers)
IPC_FIELDS(engine::loss::HeadElsewhere, there, here)
IPC_FIELDS(engine::loss::CacheElsewhere, layers)
IPC_FIELDS(engine::loss::TowersTogether, is_on_cpu, gpu)
IPC_EMPTY(engine::loss::PerLayerTableOnCpu)
IPC_EMPTY(engine::loss::TokenTableOnCpu)
IPC_EMPTY(engine::loss::SimulatedAsCards)
IPC_FIELDS(engine::loss::VisitorsOnCpu, count)
IPC_EMPTY(engine::loss::WholeFileMapped)
IPC_FIELDS(engine::loss::FormatsOfFile, formats)
IPC_FIELDS(engine::MapExport, kind, text, losses)

} // namespace ipc
