// SPDX-License-Identifier: Apache-2.0
// Values of engine/api that plans and what is said of them are made of, for Writer and Reader.
#pragma once

#include "engine/api/placement.h"
#include "engine/api/plan_message.h"

#include "ipc/fields.h"

namespace ipc {

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
         Assistant,
         Experts)
IPC_ENUM(engine::Format,
         AsStored,
         Bf16,
         F16,
         F32,
         Nf4,
         Nf4Dq,
         Fp4,
         Fp4Dq,
         Q8,
         Int4,
         Int8,
         Q4_0,
         Q4_1,
         Q5_0,
         Q5_1,
         Q8_0,
         Q2_K,
         Q3_K,
         Q4_K,
         Q5_K,
         Q6_K,
         IQ4_NL,
         IQ4_XS,
         MXFP4,
         Q2_0)
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
IPC_ENUM(engine::Residency, Always, OnUse, Stream)
IPC_ENUM(engine::MapMove::Kind, Place, Inherit)
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
IPC_ENUM(engine::NoteKind, Remark, AllOnOne, Apart, FourBits, Estimates, AssumedContext, Card)
IPC_ENUM(engine::MemoryBound::By, Nothing, Free, Option, Map, System)

// plan_message.h
IPC_FIELDS(engine::CardTrouble, kind, words)
IPC_FIELDS(engine::Note, kind, words, device)
IPC_FIELDS(engine::MemoryBound, by, whole, reserve)
IPC_FIELDS(engine::MemoryExcess, device, is_host, need, limit, bound)

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
IPC_FIELDS(engine::MapMove, kind, module, store, compute, residency, is_tied_copy)
IPC_FIELDS(engine::Repair,
           action,
           moves,
           head,
           quant,
           context,
           prefill_chunk,
           image_tokens,
           frees,
           is_enough)
IPC_FIELDS(engine::Suggestion, words, repair)
IPC_FIELDS(engine::PlanIssue,
           code,
           key,
           words,
           excess,
           is_about_card,
           reasons,
           suggestions,
           modules,
           line,
           column)
IPC_FIELDS(engine::TransferPerToken, from, to, bytes, what)
IPC_ENUM(engine::SpeedBound, Unknown, CardMemory, MainMemory, Cores, Link, Disk, Launches)
IPC_FIELDS(engine::DeviceSeconds, device, seconds)
IPC_FIELDS(engine::SpeedEstimate,
           decode_tokens_per_s,
           prefill_tokens_per_s,
           image_s,
           audio_s_per_s,
           decode_bound,
           prefill_bound,
           decode_by,
           prefill_by)
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
           kv_format,
           has_stored_head,
           experts,
           experts_per_token,
           errors,
           warnings,
           notes,
           transfers_per_token,
           estimate,
           map_text)

} // namespace ipc
