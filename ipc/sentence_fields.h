// SPDX-License-Identifier: Apache-2.0
// What the arguments of a sentence are made of, for Writer and Reader.
#pragma once

#include "engine/api/sentence.h"

#include "ipc/fields.h"

namespace ipc {

/// More than any model has.
inline constexpr int kMostLayers = 100'000; ///< Loops over layers end.

IPC_ENUM(engine::DeviceId::Kind, Cpu, Disk, Cuda, Sim)
IPC_ENUM(engine::PlanPart::Kind,
         Module,
         VisionTower,
         AudioTower,
         PerLayerTable,
         TokenTable,
         Head,
         Layers,
         Experts,
         KvCache,
         Adapters,
         Workspace,
         DriverContext,
         VisitingRoom,
         ExpertCopies)

template <typename Archive>
void fields(Archive& archive, engine::DeviceId& device) {
    auto& [kind, index] = device;
    archive(kind, index);
    archive.require(index >= 0 && index < 1024);
}

template <typename Archive>
void fields(Archive& archive, engine::PlanPart& part) {
    auto& [kind, module, first_layer, last_layer, tokens] = part;
    archive(kind, module, first_layer, last_layer, tokens);
    archive.require(first_layer >= -1 && last_layer >= -1 && first_layer < kMostLayers &&
                    last_layer < kMostLayers);
}
IPC_FIELDS(engine::ByteCount, bytes)
IPC_FIELDS(engine::Duration, seconds)
IPC_FIELDS(engine::Rate, per_second)
IPC_FIELDS(engine::FormatName, option)

} // namespace ipc
