// SPDX-License-Identifier: Apache-2.0
// Tensors that come and go: the double buffer of streamed ones and the area where one group of
// on_use tensors visits at a time. Sizes are those of stagingBytes() in engine/plan, allocated
// when the model is loaded, so that no visit can run out of memory.

#include "engine/load/tensor_store_impl.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace engine {

Staging& Staging::operator=(Staging&& other) noexcept {
    if (this != &other) {
        reset();
        device = std::exchange(other.device, nullptr);
        bytes = std::exchange(other.bytes, {});
        buffers = std::exchange(other.buffers, {});
        next_slot = std::exchange(other.next_slot, 0);
        visit = std::exchange(other.visit, nullptr);
        group = std::exchange(other.group, {});
        visitors = std::exchange(other.visitors, {});
    }
    return *this;
}

void Staging::reset() {
    if (device != nullptr) {
        device->free(buffers[0]);
        device->free(buffers[1]);
        device->free(visit);
        buffers = {};
        visit = nullptr;
        device = nullptr;
    }
    group.clear();
    visitors.clear();
}

Result<Staging> allocateStaging(DeviceId id, kernels::Device& device, const StagingBytes& bytes) {
    Staging area;
    area.device = &device;
    area.bytes = bytes;
    const auto tag = static_cast<int>(MemoryPart::Weights);
    const auto refuse = [&] {
        area.reset();
        return outOfMemory(said("the staging area of streamed and visiting weights"), id, device,
                           bytes.total());
    };
    if (bytes.stream > 0) {
        for (void*& slot : area.buffers) {
            slot = device.allocate(bytes.stream / 2, tag);
            if (slot == nullptr) {
                return refuse();
            }
        }
    }
    if (bytes.visit > 0) {
        area.visit = device.allocate(bytes.visit, tag);
        if (area.visit == nullptr) {
            return refuse();
        }
    }
    return area;
}

void packParts(std::vector<PackedPart>& parts) {
    // After parts whose sizes are multiples of 2^k every offset is a multiple of 2^k, so each part
    // is aligned to the largest power of two that divides its size: elements never straddle, and
    // rows of 64-byte multiples start on 64-byte boundaries. No byte is lost to padding.
    std::stable_sort(parts.begin(), parts.end(), [](const PackedPart& a, const PackedPart& b) {
        return std::countr_zero(a.bytes) > std::countr_zero(b.bytes);
    });
    uint64_t offset = 0;
    for (PackedPart& part : parts) {
        part.offset = offset;
        offset += part.bytes;
    }
}

Result<float> TensorStore::Impl::readFromDisk(StoreEntry& entry, PartSink& sink) {
    if (entry.cached != nullptr) {
        const CachedTensor& cached = *entry.cached;
        float nested_offset = 0.0F;
        bool is_intact = true;
        std::vector<std::byte> buffer;
        for (int part = 0; part < kCacheParts && is_intact; ++part) {
            const uint64_t bytes = cached.bytes[static_cast<size_t>(part)];
            for (uint64_t at = 0; at < bytes && is_intact; at += kPieceBytes) {
                const auto size = static_cast<size_t>(std::min<uint64_t>(kPieceBytes, bytes - at));
                std::byte* target = sink.direct(part);
                if (target == nullptr) {
                    buffer.resize(size);
                }
                const std::span<std::byte> out(target != nullptr ? target + at : buffer.data(),
                                               size);
                is_intact = entry.cache->read(cached, part, at, out).has_value();
                if (!is_intact) {
                    break;
                }
                ENGINE_TRY(sink.write(part, at, out));
                if (part == DeviceTensor::NestedCode && at + size == bytes && bytes >= 4) {
                    std::memcpy(&nested_offset, out.data() + size - 4, 4);
                }
            }
        }
        if (is_intact) {
            return nested_offset;
        }
        leaveCache(entry);
    }
    return fillSynchronously(*source, entry.origin, entry.layout, sink, parallel);
}

void TensorStore::Impl::leaveCache(StoreEntry& entry) {
    entry.cache->remove();
    entry.cached = nullptr;
    entry.cache.reset();
    if (lost_count++ == 0) {
        lost_note = report.notes.size();
        report.notes.emplace_back();
    }
    has_use_note = true;
    lost_in_use = lost_count == 1
                      ? said("The weight cache was damaged while in use: 1 weight is made from the "
                             "model files (%1), which is slower. Load the model again to have the "
                             "cache written anew.",
                             entry.name)
                      : said("The weight cache was damaged while in use: %1 weights are made from "
                             "the model files (%2 the last), which is slower. Load the model again "
                             "to have the cache written anew.",
                             lost_count, entry.name);
    report.notes[lost_note] = lost_in_use;
}

Result<float> TensorStore::Impl::bring(StoreEntry& entry,
                                       kernels::Device& target,
                                       const std::array<void*, DeviceTensor::PartCount>& parts) {
    MemorySink sink(target, parts);
    staged_bytes += entry.layout.parts().total();
    if (!entry.store.isAllocated()) {
        return readFromDisk(entry, sink);
    }
    // Stored on the CPU: the plan allows no other device to store for another one.
    for (int i = 0; i < DeviceTensor::PartCount; ++i) {
        const auto part = static_cast<DeviceTensor::Part>(i);
        const auto* bytes = static_cast<const std::byte*>(entry.store.part(part));
        ENGINE_TRY(sink.write(i, 0, {bytes, static_cast<size_t>(entry.store.partBytes(part))}));
    }
    return entry.store.nestedOffset();
}

Result<kernels::WeightView> TensorStore::Impl::acquireStreamed(StoreEntry& entry, Staging& area) {
    if (entry.is_gather_only || entry.layout.parts().total() > area.bytes.stream / 2) {
        return Error{ErrorCode::Internal,
                     entry.name +
                         ": only rows of this table travel; it cannot be used as a whole on " +
                         entry.place.compute.toString(),
                     {}};
    }
    void* slot = area.buffers[static_cast<size_t>(area.next_slot)];
    area.next_slot = 1 - area.next_slot;
    std::vector<PackedPart> packed;
    const auto sizes = partSizes(entry.layout);
    for (int part = 0; part < DeviceTensor::PartCount; ++part) {
        if (sizes[static_cast<size_t>(part)] > 0) {
            packed.push_back({0, part, sizes[static_cast<size_t>(part)], 0});
        }
    }
    packParts(packed);
    std::array<void*, DeviceTensor::PartCount> parts{};
    for (const PackedPart& part : packed) {
        parts[static_cast<size_t>(part.part)] = static_cast<std::byte*>(slot) + part.offset;
    }
    ENGINE_ASSIGN(const float nested_offset, bring(entry, *area.device, parts));
    return viewOf(entry.layout, parts, nested_offset);
}

Result<kernels::WeightView>
TensorStore::Impl::acquireVisiting(StoreEntry& entry, int handle, Staging& area) {
    const std::string group(visitGroup(entry.place.part));
    if (area.group != group) {
        area.group.clear();
        area.visitors.clear();
        std::vector<PackedPart> packed;
        for (size_t i = 0; i < entries.size(); ++i) {
            const StoreEntry& other = entries[i];
            if (other.is_gone || other.place.residency != Residency::OnUse ||
                other.place.store == other.place.compute ||
                other.place.compute != entry.place.compute ||
                visitGroup(other.place.part) != group) {
                continue;
            }
            const auto sizes = partSizes(other.layout);
            for (int part = 0; part < DeviceTensor::PartCount; ++part) {
                if (sizes[static_cast<size_t>(part)] > 0) {
                    packed.push_back(
                        {static_cast<int>(i), part, sizes[static_cast<size_t>(part)], 0});
                }
            }
        }
        packParts(packed);
        if (!packed.empty() && packed.back().offset + packed.back().bytes > area.bytes.visit) {
            return Error{ErrorCode::Internal,
                         "the visiting weights of group " + group + " exceed their area",
                         {}};
        }
        std::map<int, std::array<void*, DeviceTensor::PartCount>> addresses;
        for (const PackedPart& part : packed) {
            addresses[part.owner][static_cast<size_t>(part.part)] =
                static_cast<std::byte*>(area.visit) + part.offset;
        }
        for (const auto& [owner, parts] : addresses) {
            StoreEntry& visitor = entries[static_cast<size_t>(owner)];
            auto nested_offset = bring(visitor, *area.device, parts);
            if (!nested_offset) {
                area.visitors.clear();
                return std::move(nested_offset).error();
            }
            area.visitors[owner] = viewOf(visitor.layout, parts, *nested_offset);
        }
        area.group = group;
    }
    const auto found = area.visitors.find(handle);
    if (found == area.visitors.end()) {
        return Error{
            ErrorCode::Internal, entry.name + ": is not among the visitors of its group", {}};
    }
    return found->second;
}

Result<kernels::WeightView> TensorStore::Impl::acquire(StoreEntry& entry, int handle) {
    if (entry.shadow.is_set) {
        ENGINE_TRY(restoreShadow(entry));
    }
    if (const DeviceTensor* resident = entry.resident(); resident != nullptr) {
        return resident->view();
    }
    if (const auto lost = lost_staging.find(entry.place.compute); lost != lost_staging.end()) {
        ENGINE_ASSIGN(kernels::Device * target, device(lost->first));
        ENGINE_ASSIGN(staging[lost->first], allocateStaging(lost->first, *target, lost->second));
        lost_staging.erase(lost);
    }
    const auto area = staging.find(entry.place.compute);
    if (area == staging.end()) {
        return Error{ErrorCode::Internal,
                     entry.name + ": no staging area on " + entry.place.compute.toString(),
                     {}};
    }
    return entry.place.residency == Residency::OnUse ? acquireVisiting(entry, handle, area->second)
                                                     : acquireStreamed(entry, area->second);
}

Result<void> TensorStore::Impl::restoreShadow(StoreEntry& entry) {
    const DeviceId id = entry.isOnDisk() ? entry.place.compute : entry.place.store;
    ENGINE_ASSIGN(kernels::Device * target, device(id));
    ENGINE_ASSIGN(DeviceTensor tensor,
                  DeviceTensor::allocate(entry.name, entry.layout, id, *target));
    MemorySink sink(tensor);
    for (int i = 0; i < DeviceTensor::PartCount; ++i) {
        const auto part = static_cast<DeviceTensor::Part>(i);
        ENGINE_TRY(sink.write(i, 0,
                              {entry.shadow.parts[static_cast<size_t>(i)].get(),
                               static_cast<size_t>(tensor.partBytes(part))}));
    }
    tensor.setNestedOffset(entry.shadow.nested_offset);
    const bool needs_copy = !entry.isOnDisk() && entry.place.residency == Residency::Always &&
                            entry.place.store != entry.place.compute &&
                            !entry.compute.isAllocated();
    if (needs_copy) {
        ENGINE_ASSIGN(kernels::Device * second, device(entry.place.compute));
        ENGINE_ASSIGN(DeviceTensor copy, DeviceTensor::allocate(entry.name, entry.layout,
                                                                entry.place.compute, *second));
        ENGINE_TRY(copyTensor(tensor, copy));
        entry.compute = std::move(copy);
    }
    (entry.isOnDisk() ? entry.compute : entry.store) = std::move(tensor);
    entry.shadow = {};
    ++generation;
    return {};
}

} // namespace engine
