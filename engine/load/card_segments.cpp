// SPDX-License-Identifier: Apache-2.0
#include "engine/load/card_segments.h"

#include "engine/plan/planner.h"
#include "kernels/card_costs.h"

#include <algorithm>
#include <array>
#include <optional>

namespace engine {

namespace {

using kernels::pieceBytes;

/// Layers come in blocks of about this size: each ends with a granule that is not full.
constexpr uint64_t kLayersTogether = uint64_t{512} << 20;

enum GroupKind { Rest = 0, Vision, Audio, LayerTable, Others, FirstLayers };

uint64_t bytesOf(const StoreEntry& entry) {
    uint64_t bytes = 0;
    for (const uint64_t part : partSizes(entry.layout)) {
        bytes += part > 0 ? pieceBytes(part) : 0;
    }
    return bytes;
}

/// The cards that a load allocates an entry on: where it is stored, and where it stays for use.
std::array<std::optional<DeviceId>, 2> cardsOf(const StoreEntry& entry) {
    const TensorPlacement& place = entry.place;
    std::array<std::optional<DeviceId>, 2> cards;
    if (place.store.kind == DeviceId::Kind::Cuda) {
        cards[0] = place.store;
    }
    if (place.compute.kind == DeviceId::Kind::Cuda && place.store != place.compute &&
        place.residency == Residency::Always) {
        cards[1] = place.compute;
    }
    return cards;
}

} // namespace

CardSegments::CardSegments(const TensorStore::Impl& impl, uint64_t granularity) : impl_(impl) {
    std::map<DeviceId, uint64_t> layers, adapted;
    for (const StoreEntry& entry : impl.entries) {
        for (const auto& card : cardsOf(entry)) {
            if (card.has_value()) {
                layers[*card] += entry.place.part.role == PartRole::Layer ? bytesOf(entry) : 0;
            }
        }
        ++adapted[entry.place.compute];
    }
    const auto staging = stagingBytes(impl.plan);
    for (const DevicePlan& device : impl.plan.devices) {
        if (device.id.kind != DeviceId::Kind::Cuda) {
            continue;
        }
        const uint64_t blocks = layers[device.id] / kLayersTogether + FirstLayers + 1;
        const uint64_t used = device.parts.total();
        const bool has_room = device.limit > used && device.limit - used >= blocks * granularity;
        const auto count = std::max<uint64_t>(1, impl.config.text.layers.size());
        const uint64_t one = std::max<uint64_t>(1, layers[device.id] / count);
        layers_together_[device.id] =
            has_room ? static_cast<int>(std::min(count, (kLayersTogether + one - 1) / one)) : 0;
        uint64_t& rest = bytes_[{device.id, Rest}];
        if (const auto it = staging.find(device.id); it != staging.end()) {
            rest += 2 * pieceBytes(it->second.stream / 2) + pieceBytes(it->second.visit);
        }
        // In a few pieces for every layer and adapted tensor.
        uint64_t pieces = 2 * impl.plan.kv_device.size() + 16;
        pieces += device.parts[MemoryPart::Adapter] > 0 ? adapted[device.id] : 0;
        rest += device.parts[MemoryPart::Kv] + device.parts[MemoryPart::Workspace] +
                device.parts[MemoryPart::Adapter] + device.parts[MemoryPart::Experts] +
                pieces * kernels::kPieceAlignment;
    }
    for (const StoreEntry& entry : impl.entries) {
        for (const auto& card : cardsOf(entry)) {
            if (card.has_value()) {
                bytes_[groupOf(entry, *card)] += bytesOf(entry);
            }
        }
    }
}

CardSegments::Group CardSegments::groupOf(const StoreEntry& entry, DeviceId card) const {
    const auto it = layers_together_.find(card);
    const int together = it == layers_together_.end() ? 0 : it->second;
    const Part part = entry.place.part;
    if (together == 0) {
        return {card, Rest};
    }
    if (part.role == PartRole::Layer) {
        return {card, FirstLayers + part.layer / together};
    }
    return {card, isVision(part)                         ? Vision
                  : isAudio(part)                        ? Audio
                  : part.role == PartRole::PerLayerTable ? LayerTable
                                                         : Others};
}

void CardSegments::reserve(Group group) {
    const auto device = impl_.devices.find(group.first);
    if (device == impl_.devices.end()) {
        return;
    }
    const auto [block, is_new] = blocks_.try_emplace(group, 0);
    if (is_new) {
        block->second = device->second->reserve(bytes_[group]);
    }
    device->second->allocateFrom(block->second);
}

void CardSegments::reserveFor(const StoreEntry& entry) {
    for (const auto& card : cardsOf(entry)) {
        if (card.has_value()) {
            reserve(groupOf(entry, *card));
        }
    }
}

void CardSegments::reserveRest() {
    for (const auto& [card, together] : layers_together_) {
        reserve({card, Rest});
        if (const auto device = impl_.devices.find(card); device != impl_.devices.end()) {
            device->second->allocateFrom(0); // what is left over of other blocks serves as well
        }
    }
}

} // namespace engine
