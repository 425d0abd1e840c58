// SPDX-License-Identifier: Apache-2.0
// The inside of TensorStore, shared by its own files and the loader. Private.
#pragma once

#include "engine/load/loader_fill.h"
#include "engine/load/tensor_store.h"
#include "engine/load/weight_cache.h"
#include "engine/plan/planner.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace engine {

/// The bytes of one tensor in plain host memory, while a move in tight memory has no device for
/// it, or after an undo that could not get the old memory back.
struct HostShadow {
    std::array<std::unique_ptr<std::byte[]>, DeviceTensor::PartCount> parts;
    float nested_offset = 0.0F;
    bool is_set = false;
};

struct StoreEntry {
    std::string name;
    TensorPlacement place;
    DeviceTensor::Layout layout;
    WeightOrigin origin;
    DeviceTensor store;   ///< Not allocated when the tensor is stored on disk.
    DeviceTensor compute; ///< Residency Always with compute != store.
    HostShadow shadow;
    bool is_gone = false; ///< Dropped by a later plan; its handle stays unused.
    bool is_gather_only = false;
    std::optional<uint64_t> content; ///< Hash of its values in the checkpoint, once known.

    // Stored on disk in another format than the checkpoint's:
    std::shared_ptr<const WeightCache> cache; ///< nullptr: made from the checkpoint at every use.
    const CachedTensor* cached = nullptr;
    bool has_disk_offset = false; ///< disk_offset is known (nested, no cache).
    float disk_offset = 0.0F;

    [[nodiscard]] bool isOnDisk() const { return place.store.kind == DeviceId::Kind::Disk; }
    /// The copy that kernels of the compute device read, or nullptr (visiting, streamed).
    [[nodiscard]] const DeviceTensor* resident() const {
        if (compute.isAllocated()) {
            return &compute;
        }
        return store.isAllocated() && place.store == place.compute ? &store : nullptr;
    }
    /// Any allocated copy.
    [[nodiscard]] const DeviceTensor* anyCopy() const {
        return store.isAllocated() ? &store : compute.isAllocated() ? &compute : nullptr;
    }
};

/// Memory on one compute device for tensors that come and go.
struct Staging {
    kernels::Device* device = nullptr;
    StagingBytes bytes;
    std::array<void*, 2> buffers{};
    int next_slot = 0;
    void* visit = nullptr;
    std::string group; ///< Visiting now; empty = none.
    std::unordered_map<int, kernels::WeightView> visitors;

    Staging() = default;
    ~Staging() { reset(); }
    Staging(Staging&& other) noexcept { *this = std::move(other); }
    Staging& operator=(Staging&& other) noexcept;
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    void reset();
};

/// Allocates a staging area. Errors: OutOfMemory.
Result<Staging> allocateStaging(DeviceId id, kernels::Device& device, const StagingBytes& bytes);

/// Offsets of parts placed one after the other without gaps so that each is aligned as its size
/// allows: largest power-of-two divisor first. parts: (owner, part, bytes).
struct PackedPart {
    int owner = 0;
    int part = 0;
    uint64_t bytes = 0;
    uint64_t offset = 0;
};
void packParts(std::vector<PackedPart>& parts);

/// "4.38 GiB asked, 1.20 GiB free" style error for a refused allocation.
Error outOfMemory(const Argument& what, DeviceId id, const kernels::Device& device, uint64_t asked);

struct TensorStore::Impl {
    const TensorSource* source = nullptr;
    ModelConfig config;
    DeviceSet devices;
    PlacementPlan plan;
    std::vector<ExpectedTensor> expected;
    std::unordered_map<std::string, std::string>
        file_names; ///< Canonical to spelling in the files.
    std::vector<StoreEntry> entries;
    std::unordered_map<std::string, int> index;
    std::map<DeviceId, Staging> staging;
    /// Areas that an undone move could not get back yet.
    std::map<DeviceId, StagingBytes> lost_staging;
    LoadReport report;
    using CacheForm = std::pair<Format, int32_t>; ///< Format and block size: loader_jobs.h.
    std::set<CacheForm> damaged_caches;           ///< Cache files to be made anew.
    int lost_count = 0;        ///< Tensors whose cached bytes turned out damaged in use, and
    Sentence lost_in_use;      ///< what is said of them,
    size_t lost_note = 0;      ///< also as this note of the report.
    bool has_use_note = false; ///< It has not been taken as it is now.
    ParallelFor parallel;
    uint64_t generation = 1;
    uint64_t staged_bytes = 0;

    [[nodiscard]] StoreEntry* entry(WeightSource::Handle handle);
    /// Device of the set, or an error that names what is missing.
    [[nodiscard]] Result<kernels::Device*> device(DeviceId id) const;

    Result<kernels::WeightView> acquire(StoreEntry& entry, int handle);
    Result<kernels::WeightView> acquireStreamed(StoreEntry& entry, Staging& area);
    Result<kernels::WeightView> acquireVisiting(StoreEntry& entry, int handle, Staging& area);
    /// Puts the tensor's bytes at the given addresses of a device and tells the nested offset.
    Result<float> bring(StoreEntry& entry,
                        kernels::Device& device,
                        const std::array<void*, DeviceTensor::PartCount>& parts);
    Result<float> readFromDisk(StoreEntry& entry, PartSink& sink);
    Result<void> expandEntry(StoreEntry& entry, int64_t first, int64_t count, float* out);
    Result<void> expandDerived(StoreEntry& entry, int64_t first, int64_t count, float* out);
    /// Cached bytes of the tensor are damaged: from now on it is made from the checkpoint. The
    /// file goes, so that the next load makes it anew. The view of `entry.cached` ends.
    void leaveCache(StoreEntry& entry);
    /// Gives a tensor that sits in host memory after a failed undo its device memory back.
    Result<void> restoreShadow(StoreEntry& entry);
};

/// Copies all parts of a tensor from one device to another (or within one).
Result<void> copyTensor(const DeviceTensor& from, DeviceTensor& to);
/// Kernel view of a layout whose parts lie at the given addresses.
kernels::WeightView viewOf(const DeviceTensor::Layout& layout,
                           const std::array<void*, DeviceTensor::PartCount>& parts,
                           float nested_offset);
std::array<uint64_t, DeviceTensor::PartCount> partSizes(const DeviceTensor::Layout& layout);

/// Builds and changes stores; the loader's key to Impl.
class StoreBuilder {
public:
    static TensorStore::Impl& impl(TensorStore& store) { return *store.impl_; }
    static std::unique_ptr<TensorStore> wrap(std::unique_ptr<TensorStore::Impl> impl);
    using Impl = TensorStore::Impl;
};

} // namespace engine
