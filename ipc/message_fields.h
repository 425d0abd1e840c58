// SPDX-License-Identifier: Apache-2.0
// What the payloads of frames are made of, for Writer and Reader.
#pragma once

#include "ipc/messages.h"
#include "ipc/summary_fields.h"

namespace ipc {

IPC_EMPTY(Nothing)
IPC_FIELDS(HostOptions,
           demo_folder,
           rates_file,
           library_path,
           hub_caches,
           writable,
           compiled_kernels,
           sharing_folder,
           asks_cards)
IPC_FIELDS(Welcome, version, program, limits)
IPC_FIELDS(Hello, version, options)
IPC_FIELDS(Inspect, model, adapters)
IPC_FIELDS(Load, request)
IPC_EMPTY(Unload)
IPC_FIELDS(ApplyMap, device_map)
IPC_FIELDS(SetAdapters, adapters)
IPC_FIELDS(AdapterEffect, folder)
IPC_FIELDS(Generate, request)
IPC_FIELDS(Logits, request, rows)
IPC_FIELDS(EncodeAhead, part, image_tokens)
IPC_FIELDS(CheckMedia, model, images, audios)
IPC_FIELDS(MediaCost, part, image_tokens)
IPC_EMPTY(Status)
IPC_FIELDS(LoadedModel, request, load_s, notes)
IPC_FIELDS(
    EngineState, is_loaded, capabilities, context_used, context_size, memory, model, summary, plan)
IPC_FIELDS(Step, context_used, context_size, memory)

template <typename Archive, typename T>
void fields(Archive& archive, Answer<T>& answer) {
    auto& [state, value, error] = answer;
    archive(state, value);
    if (!value.has_value()) {
        archive(error);
    }
}

} // namespace ipc
