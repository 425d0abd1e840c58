// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/memory_kinds.h"

#include "ui/style/theme.h"

#include <QCoreApplication>

#include <algorithm>
#include <numeric>

namespace ui {

namespace {

struct KindTexts {
    Q_DECLARE_TR_FUNCTIONS(ui::MemoryKind)
};

} // namespace

double KindBytes::total() const {
    return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

MemoryKind memoryKind(BlockKind kind) {
    switch (kind) {
    case BlockKind::Layers:
        return MemoryKind::Layers;
    case BlockKind::Experts:
        return MemoryKind::Experts;
    case BlockKind::Vision:
    case BlockKind::VisionProjector:
        return MemoryKind::Vision;
    case BlockKind::Audio:
    case BlockKind::AudioProjector:
        return MemoryKind::Audio;
    case BlockKind::PerLayerTable:
        return MemoryKind::Table;
    case BlockKind::Embedding:
    case BlockKind::Head:
        return MemoryKind::Head;
    case BlockKind::Kv:
        return MemoryKind::Kv;
    case BlockKind::Assistant:
    case BlockKind::Other:
        break;
    }
    return MemoryKind::Rest;
}

QColor memoryColor(MemoryKind kind) {
    const Theme& theme = Theme::current();
    switch (kind) {
    case MemoryKind::Layers:
        return theme.part_layers;
    case MemoryKind::Experts:
        return theme.part_experts;
    case MemoryKind::Table:
        return theme.part_ple;
    case MemoryKind::Head:
        return theme.part_head;
    case MemoryKind::Vision:
        return theme.part_vision;
    case MemoryKind::Audio:
        return theme.part_audio;
    case MemoryKind::Rest:
        return theme.part_rest;
    case MemoryKind::Adapter:
        return theme.part_adapter;
    case MemoryKind::Kv:
        return theme.part_kv;
    case MemoryKind::Workspace:
        return theme.part_workspace;
    case MemoryKind::Driver:
        return theme.part_context;
    }
    return theme.part_other;
}

QString memoryLabel(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::Layers:
        return KindTexts::tr("layers");
    case MemoryKind::Experts:
        return KindTexts::tr("experts");
    case MemoryKind::Table:
        return KindTexts::tr("per-layer table");
    case MemoryKind::Head:
        return KindTexts::tr("head + words");
    case MemoryKind::Vision:
        return KindTexts::tr("vision");
    case MemoryKind::Audio:
        return KindTexts::tr("audio");
    case MemoryKind::Rest:
        return KindTexts::tr("other weights");
    case MemoryKind::Adapter:
        return KindTexts::tr("adapter");
    case MemoryKind::Kv:
        return KindTexts::tr("KV cache");
    case MemoryKind::Workspace:
        return KindTexts::tr("workspace");
    case MemoryKind::Driver:
        return KindTexts::tr("driver");
    }
    return {};
}

QString memorySentence(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::Layers:
        return KindTexts::tr("The model itself: every token reads all of it.");
    case MemoryKind::Experts:
        return KindTexts::tr("Specialists, of which each token uses a few.");
    case MemoryKind::Table:
        return KindTexts::tr("A look-up table, of which each token reads one row.");
    case MemoryKind::Head:
        return KindTexts::tr("The list of words: one row is read on the way in, all of it to "
                             "choose the next word.");
    case MemoryKind::Vision:
        return KindTexts::tr("Turns pictures into tokens; text alone never uses it.");
    case MemoryKind::Audio:
        return KindTexts::tr("Turns sounds into tokens; text alone never uses it.");
    case MemoryKind::Rest:
        return KindTexts::tr("Small pieces between the others, and the drafting assistant.");
    case MemoryKind::Adapter:
        return KindTexts::tr("The small matrices of adapters, computed beside the weights, which "
                             "stay as they are.");
    case MemoryKind::Kv:
        return KindTexts::tr("Attention memory: what the model keeps of the chat. A shorter "
                             "context takes less.");
    case MemoryKind::Workspace:
        return KindTexts::tr("Room to compute: what lies between two layers while a prompt, a "
                             "picture or a sound is read.");
    case MemoryKind::Driver:
        return KindTexts::tr("What the card's driver needs to run programs on it.");
    }
    return {};
}

std::map<engine::DeviceId, KindBytes> weightsByKind(const engine::PlacementPlan& plan) {
    // Experts are blocks of their own among the modules; as tensors they are their layer's.
    std::map<int, const std::string*> experts;
    for (const engine::ModulePlacement& module : plan.modules) {
        if (module.part.role == engine::PartRole::Experts) {
            experts[module.part.layer] = &module.name;
        }
    }
    std::map<engine::DeviceId, KindBytes> held, visiting;
    for (const engine::TensorPlacement& row : plan.tensors) {
        MemoryKind kind = memoryKind(blockKind(row.part));
        if (const auto own = experts.find(row.part.layer);
            own != experts.end() && isBelow(row.tensor, *own->second)) {
            kind = MemoryKind::Experts;
        }
        const auto bytes = static_cast<double>(row.bytes);
        if (row.store != engine::DeviceId::disk()) {
            held[row.store][kind] += bytes;
        }
        if (row.store != row.compute) {
            (row.residency == engine::Residency::Always ? held : visiting)[row.compute][kind] +=
                bytes;
        }
    }
    // What visits is brought to a room that the plan counts with the weights. It belongs to those
    // that need the most of it.
    for (const engine::DevicePlan& device : plan.devices) {
        const auto guests = visiting.find(device.id);
        KindBytes& here = held[device.id];
        const double room =
            static_cast<double>(device.parts[engine::MemoryPart::Weights]) - here.total();
        if (guests != visiting.end() && room > 0) {
            auto& all = guests->second.bytes;
            const auto most = std::max_element(all.begin(), all.end());
            here.bytes[static_cast<size_t>(most - all.begin())] += room;
        }
    }
    return held;
}

KindBytes byKind(const engine::PartBytes& parts, const KindBytes& weights) {
    KindBytes kinds;
    const double sum = weights.total();
    const auto all = static_cast<double>(parts[engine::MemoryPart::Weights]);
    if (sum > 0) {
        for (size_t i = 0; i < kMemoryKinds; ++i) {
            kinds.bytes[i] = weights.bytes[i] / sum * all;
        }
    } else {
        kinds[MemoryKind::Rest] = all;
    }
    const auto take = [&](MemoryKind kind, engine::MemoryPart part) {
        kinds[kind] = static_cast<double>(parts[part]);
    };
    take(MemoryKind::Adapter, engine::MemoryPart::Adapter);
    take(MemoryKind::Kv, engine::MemoryPart::Kv);
    take(MemoryKind::Workspace, engine::MemoryPart::Workspace);
    take(MemoryKind::Driver, engine::MemoryPart::Context);
    kinds[MemoryKind::Experts] += static_cast<double>(parts[engine::MemoryPart::Experts]);
    return kinds;
}

} // namespace ui
