// SPDX-License-Identifier: Apache-2.0
// Values of engine/api that requests and replies are made of, for Writer and Reader.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/error.h"
#include "engine/api/load_request.h"
#include "engine/api/snapshot.h"
#include "engine/client/engine_client.h"

#include "ipc/sentence_fields.h"

namespace ipc {

IPC_ENUM(engine::ErrorCode,
         InvalidFile,
         Unsupported,
         InvalidRequest,
         OutOfMemory,
         DeviceLost,
         Cancelled,
         Internal)
IPC_ENUM(engine::MessagePart::Kind, Text, Image, Audio)
IPC_ENUM(engine::Message::Role, System, User, Assistant, Tool)
IPC_ENUM(engine::MemoryBudget::State, Fine, Near, Spilling)

IPC_FIELDS(engine::Error, code, message, details, cause, sentence)
IPC_FIELDS(engine::Capabilities,
           places_parts,
           tells_memory,
           takes_adapters,
           samples_freely,
           sets_image_tokens,
           continues_replies,
           host)

// chat.h
IPC_FIELDS(engine::MessagePart, kind, text, cut_start_s, cut_length_s)
IPC_FIELDS(engine::ToolCall, id, name, arguments)
IPC_FIELDS(engine::Tool, name, description, parameters)
IPC_FIELDS(engine::Message, role, parts, calls, call_id, thinking)
IPC_FIELDS(engine::SamplingParameters,
           temperature,
           top_k,
           top_p,
           min_p,
           repetition_penalty,
           seed,
           max_tokens,
           ignores_eos)
IPC_FIELDS(engine::GenerateRequest,
           id,
           messages,
           is_thinking,
           sampling,
           image_tokens,
           uses_drafts,
           logprobs,
           forced_acceptance,
           raw_prompt,
           raw_images,
           raw_audios,
           raw_ids,
           continues_reply,
           continued_thinking,
           tools)
IPC_FIELDS(engine::GenerateTiming,
           prefill_tokens,
           reused_tokens,
           ahead_tokens,
           prefill_s,
           decode_tokens,
           decode_s,
           time_to_first_token_s,
           image_s,
           audio_s)
IPC_FIELDS(engine::DraftReport, rounds, drafted, accepted, gain, is_off, draft_s, check_s)
IPC_FIELDS(engine::Reply,
           id,
           text,
           thinking,
           token_ids,
           input_ids,
           finish_reason,
           seed,
           timing,
           drafts,
           tool_calls,
           host,
           notes)
template <typename Archive>
void fields(Archive& archive, engine::TokenLogprob::Choice& choice) {
    auto& [id, bytes, logprob] = choice;
    archive(id, logprob);
    if constexpr (Archive::kReads) {
        archive.getBytes(bytes);
    } else {
        archive.putBytes(bytes);
    }
}
IPC_FIELDS(engine::TokenLogprob, said, likeliest)
IPC_FIELDS(engine::ReplyUpdate, text, thinking, tokens, logprobs)
IPC_FIELDS(engine::MediaCost, tokens, seconds, device, description)

// load_request.h
IPC_FIELDS(engine::AdapterChoice, folder, strength, is_enabled)
IPC_FIELDS(engine::WhatIfDevice,
           id,
           description,
           capacity,
           free,
           read_bytes_per_s,
           flops,
           link_bytes_per_s)
IPC_FIELDS(engine::LoadRequest,
           model,
           device_map,
           quant,
           quant_block,
           head,
           kv,
           expert_cache,
           context,
           prefill_chunk,
           image_tokens,
           limits,
           sim_gpus,
           adapters,
           draft,
           draft_tokens,
           is_reference_precision,
           is_text_only,
           projector,
           loads_anyway,
           threads,
           cache_folder,
           moves,
           what_if)

// snapshot.h
IPC_FIELDS(engine::PartBytes, bytes)
IPC_FIELDS(engine::MemoryBudget, state, used, budget, spilled, must_go, advice, is_advice_enough)
IPC_FIELDS(engine::ExpertCacheState, bytes, places, experts, asked, hits, hits_with_more)
IPC_FIELDS(engine::DeviceMemory,
           id,
           description,
           capacity,
           used_by_others,
           limit,
           measured,
           predicted,
           budget,
           experts,
           copied_in)

// engine_client.h
IPC_FIELDS(engine::LoadProgressValue, stage, bytes_done, bytes_total, tensor)
IPC_FIELDS(engine::LogitsResult, logits, rows, vocab, input_ids, notes)

} // namespace ipc
