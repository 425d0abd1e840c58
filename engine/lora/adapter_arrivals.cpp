// SPDX-License-Identifier: Apache-2.0
#include "engine/lora/adapter_arrivals.h"

#include <algorithm>

namespace engine {

namespace {

/// Brings one update to `memory` on its computing device.
Result<void> bringUpdate(PlacedUpdate& placed, std::byte* memory) {
    const BlockTarget target{placed.home.compute, memory};
    if (placed.block.device() != nullptr) {
        ENGINE_TRY(target.write(0, {placed.block.at(0), static_cast<size_t>(placed.layout.total)},
                                placed.update->tensor));
    } else {
        ENGINE_TRY(fillUpdate(*placed.source, placed, target));
        ENGINE_TRY(writeStrength(placed, target, placed.strength));
    }
    placed.arrived = memory;
    return {};
}

/// Brings all active updates of a site to `memory`, which has `room` bytes; returns those taken.
Result<uint64_t> bringSite(AdapterSite& site, std::byte* memory, uint64_t room) {
    uint64_t offset = 0;
    for (const ActiveUpdate& active : site.updates) {
        if (offset + active.placed->layout.total > room) {
            return Error{ErrorCode::Internal,
                         "the adapters at " + site.tensor + " exceed the room for what travels"};
        }
        ENGINE_TRY(bringUpdate(*active.placed, memory + offset));
        offset += active.placed->layout.total;
    }
    makeBatches(site);
    return offset;
}

} // namespace

void ArrivalCount::add(const AdapterHome& home, const std::string& tensor, uint64_t bytes) {
    if (home.compute == nullptr || !home.travels()) {
        return;
    }
    if (home.travel == AdapterHome::Travel::Streams) {
        streams_[{home.compute, tensor}] += bytes;
    } else {
        visits_[{home.compute, std::string(home.group)}] += bytes;
    }
}

ArrivalRooms ArrivalCount::rooms() const {
    ArrivalRooms rooms;
    for (const auto& [key, bytes] : streams_) {
        uint64_t& half = rooms[key.first].half;
        half = std::max(half, bytes);
    }
    for (const auto& [key, bytes] : visits_) {
        uint64_t& visit = rooms[key.first].visit;
        visit = std::max(visit, bytes);
    }
    return rooms;
}

Result<void> Arrivals::allocate(kernels::Device& device, Room& room) {
    ENGINE_ASSIGN(room.block, DeviceBlock::allocate(device, room.bytes.total(),
                                                    phrase("room for factors that travel")));
    return {};
}

Result<void> Arrivals::resize(const ArrivalRooms& wanted) {
    forget();
    std::map<kernels::Device*, Room> rooms;
    std::map<kernels::Device*, ArrivalBytes> former; // of rooms that gave their memory back
    for (auto& [device, room] : rooms_) {
        const auto it = wanted.find(device);
        if (it != wanted.end() && it->second == room.bytes && room.block.device() != nullptr) {
            rooms[device] = std::move(room);
        } else {
            // Contents are worth nothing, so that old and new need no room beside each other.
            room.block.reset();
            former[device] = room.bytes;
        }
    }
    for (const auto& [device, bytes] : wanted) {
        if (rooms.contains(device)) {
            continue;
        }
        Room room;
        room.bytes = bytes;
        if (Result<void> done = allocate(*device, room); !done.has_value()) {
            for (const auto& [id, old] : former) {
                rooms[id] = Room();
                rooms[id].bytes = old;
            }
            std::erase_if(rooms, [this](const auto& item) { return !rooms_.contains(item.first); });
            for (auto& [id, old] : rooms) {
                if (old.block.device() == nullptr) {
                    (void)allocate(*id, old); // else when something comes
                }
            }
            rooms_ = std::move(rooms);
            return std::move(done).error();
        }
        rooms[device] = std::move(room);
    }
    rooms_ = std::move(rooms);
    return {};
}

void Arrivals::release(const ArrivalRooms& wanted) {
    forget();
    for (auto& [device, room] : rooms_) {
        const auto it = wanted.find(device);
        if (it == wanted.end() || it->second != room.bytes) {
            room.block.reset();
        }
    }
}

void Arrivals::forget() {
    for (auto& [device, room] : rooms_) {
        room.held = {};
        room.next = 0;
        room.group.clear();
    }
}

Result<void> Arrivals::bring(AdapterSite& site, std::span<AdapterSite> all) {
    const auto found = rooms_.find(site.device);
    if (found == rooms_.end()) {
        return Error{ErrorCode::Internal,
                     "the adapters at " + site.tensor + " travel, but have no room to come to"};
    }
    Room& room = found->second;
    if (room.block.device() == nullptr) {
        ENGINE_TRY(allocate(*site.device, room));
    }
    if (site.home.travel == AdapterHome::Travel::Streams) {
        if (room.held[0] == &site || room.held[1] == &site) {
            return {};
        }
        const size_t slot = room.next;
        room.held[slot] = nullptr;
        ENGINE_TRY(bringSite(site, room.block.at(slot * room.bytes.half), room.bytes.half));
        room.held[slot] = &site;
        room.next = 1 - slot;
        return {};
    }
    if (room.group == site.home.group) {
        return {};
    }
    room.group.clear();
    uint64_t offset = 2 * room.bytes.half;
    for (AdapterSite& other : all) {
        if (other.device != site.device || other.home.travel != AdapterHome::Travel::Visits ||
            other.home.group != site.home.group) {
            continue;
        }
        ENGINE_ASSIGN(const uint64_t bytes,
                      bringSite(other, room.block.at(offset), room.bytes.total() - offset));
        offset += bytes;
    }
    room.group = site.home.group;
    return {};
}

uint64_t Arrivals::bytesOn(const kernels::Device* device) const {
    uint64_t bytes = 0;
    for (const auto& [owner, room] : rooms_) {
        bytes += owner == device ? room.block.sizeBytes() : 0;
    }
    return bytes;
}

} // namespace engine
