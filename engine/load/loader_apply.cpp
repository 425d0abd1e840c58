// SPDX-License-Identifier: Apache-2.0
// Re-placing a loaded model. First try: allocate everything new beside the old, fill, swap, free.
// When that does not fit: tensor by tensor, freeing each old copy as soon as its new one stands,
// parking tensors in host memory where two must change places; every step is written down and
// undone in reverse order if a later one fails.

#include "engine/load/loader.h"
#include "engine/load/loader_entries.h"
#include "engine/load/loader_jobs.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <set>

namespace engine {

namespace {

/// Devices that hold a copy under a placement: store (unless disk) and resident compute copy.
struct Places {
    std::optional<DeviceId> store, compute;
};

Places placesOf(const TensorPlacement& row) {
    Places places;
    if (row.store.kind != DeviceId::Kind::Disk) {
        places.store = row.store;
    }
    if (row.store != row.compute && row.residency == Residency::Always) {
        places.compute = row.compute;
    }
    return places;
}

/// One tensor that changes. The new copies are built here and swapped in.
struct Change {
    int old_handle = -1;         ///< -1: new in this plan.
    int new_index = -1;          ///< Into the new entries; -1: dropped.
    DeviceTensor store, compute; ///< New copies that had to be allocated.
    bool is_reformatted = false; ///< Bytes come from the checkpoint or the cache.
};

/// What was done to one tensor in tight memory, so that it can be undone.
struct Step {
    int handle = -1;
    bool had_store = false, had_compute = false; ///< Copies the tensor had before.
    DeviceId old_store, old_compute;
    DeviceTensor::Layout old_layout;
    bool is_parking = false; ///< Only moved to host memory.
};

class PlanApplication {
public:
    PlanApplication(TensorStore::Impl& impl, const PlacementPlan& plan, const LoadOptions& options)
        : impl_(&impl), plan_(&plan), options_(&options),
          caches_(*impl.source, options.cache_folder) {}

    Result<void> run() {
        const size_t notes = impl_->report.notes.size();
        auto made = makeEntries(*impl_, *plan_);
        impl_->report.notes.resize(std::min(notes, impl_->report.notes.size())); // told at load
        if (!made) {
            return std::move(made).error();
        }
        new_entries_ = std::move(*made);
        // Whoever reads a table in the host's memory asks again, if the new plan still wants that.
        for (StoreEntry& entry : impl_->entries) {
            entry.store.unlock();
        }
        findChanges();
        ENGINE_TRY(checkStop(*options_));
        Result<void> done = sideBySide();
        if (!done && done.error().code == ErrorCode::OutOfMemory) {
            done = inTightMemory();
        }
        try {
            (void)caches_.contents().save(); // without it the next load only takes longer
        } catch (const std::bad_alloc&) {    // what was moved stays moved
        }
        return done;
    }

private:
    StoreEntry& oldOf(const Change& change) {
        return impl_->entries[static_cast<size_t>(change.old_handle)];
    }
    StoreEntry& newOf(const Change& change) {
        return new_entries_[static_cast<size_t>(change.new_index)];
    }

    void findChanges() {
        std::set<int> kept;
        for (size_t i = 0; i < new_entries_.size(); ++i) {
            Change change;
            change.new_index = static_cast<int>(i);
            const auto found = impl_->index.find(new_entries_[i].name);
            if (found != impl_->index.end()) {
                change.old_handle = found->second;
                kept.insert(found->second);
                change.is_reformatted =
                    oldOf(change).layout.format != new_entries_[i].layout.format ||
                    oldOf(change).layout.block_size != new_entries_[i].layout.block_size;
            }
            changes_.push_back(std::move(change));
        }
        for (size_t i = 0; i < impl_->entries.size(); ++i) {
            if (!impl_->entries[i].is_gone && !kept.contains(static_cast<int>(i))) {
                Change change;
                change.old_handle = static_cast<int>(i);
                changes_.push_back(std::move(change));
            }
        }
    }

    /// A copy the tensor has now, in the right format, on this device.
    DeviceTensor* copyOn(StoreEntry& entry, const DeviceId& id) const {
        if (entry.store.isAllocated() && entry.store.deviceId() == id) {
            return &entry.store;
        }
        return entry.compute.isAllocated() && entry.compute.deviceId() == id ? &entry.compute
                                                                             : nullptr;
    }

    [[nodiscard]] bool isReusable(const Change& change, const DeviceId& id) {
        return change.old_handle >= 0 && !change.is_reformatted &&
               copyOn(oldOf(change), id) != nullptr;
    }

    /// Allocates the copies that a tensor needs and does not have.
    Result<void> allocate(Change& change) {
        const StoreEntry& entry = newOf(change);
        const Places places = placesOf(entry.place);
        const auto make = [&](const std::optional<DeviceId>& id,
                              DeviceTensor& tensor) -> Result<void> {
            if (!id || isReusable(change, *id) || tensor.isAllocated()) {
                return {};
            }
            ENGINE_ASSIGN(kernels::Device * device, impl_->device(*id));
            ENGINE_ASSIGN(tensor, DeviceTensor::allocate(entry.name, entry.layout, *id, *device));
            return {};
        };
        Result<void> done = make(places.store, change.store);
        if (done) {
            done = make(places.compute, change.compute);
        }
        if (!done) {
            change.store.reset();
            change.compute.reset();
        }
        return done;
    }

    /// Fills freshly allocated copies from memory; true when the bytes must come from the files.
    Result<bool> fillFromMemory(Change& change) {
        if (!change.store.isAllocated() && !change.compute.isAllocated()) {
            return false;
        }
        if (change.old_handle >= 0 && !change.is_reformatted) {
            StoreEntry& old = oldOf(change);
            if (old.shadow.is_set) {
                for (DeviceTensor* tensor : {&change.store, &change.compute}) {
                    if (tensor->isAllocated()) {
                        ENGINE_TRY(unpark(old.shadow, *tensor));
                    }
                }
                return false;
            }
            if (const DeviceTensor* source = old.anyCopy(); source != nullptr) {
                for (DeviceTensor* tensor : {&change.store, &change.compute}) {
                    if (tensor->isAllocated()) {
                        ENGINE_TRY(copyTensor(*source, *tensor));
                    }
                }
                return false;
            }
        }
        return true;
    }

    Result<void> fillFromFiles(const std::vector<Change*>& changes) {
        std::vector<FillTarget> targets;
        for (Change* change : changes) {
            StoreEntry& entry = newOf(*change);
            targets.push_back(
                {&entry, change->store.isAllocated() ? &change->store : &change->compute});
        }
        ENGINE_TRY(fillTargets(*impl_, targets, caches_, *options_, LoadStage::Move));
        for (Change* change : changes) {
            if (change->store.isAllocated() && change->compute.isAllocated()) {
                ENGINE_TRY(copyTensor(change->store, change->compute));
            }
        }
        return {};
    }

    /// New staging areas; areas whose sizes stay are kept.
    Result<void> allocateStagingAreas() {
        for (const auto& [id, bytes] : stagingBytes(*plan_)) {
            const auto old = impl_->staging.find(id);
            const bool is_same = old != impl_->staging.end() && old->second.device != nullptr &&
                                 old->second.bytes.stream == bytes.stream &&
                                 old->second.bytes.visit == bytes.visit;
            if (bytes.total() == 0 || is_same || new_staging_.contains(id)) {
                continue;
            }
            ENGINE_ASSIGN(kernels::Device * device, impl_->device(id));
            ENGINE_ASSIGN(new_staging_[id], allocateStaging(id, *device, bytes));
        }
        return {};
    }

    Result<void> sideBySide() {
        Result<void> done = allocateSideBySide();
        if (done) {
            std::vector<Change*> from_files;
            done = moveAll(from_files);
            if (done && !from_files.empty()) {
                done = fillFromFiles(from_files);
            }
        }
        if (done) {
            done = synchronize();
        }
        if (!done) {
            dropNew();
            return done;
        }
        commit();
        return {};
    }

    Result<void> allocateSideBySide() {
        for (Change& change : changes_) {
            if (change.new_index >= 0) {
                ENGINE_TRY(checkStop(*options_));
                ENGINE_TRY(allocate(change));
            }
        }
        return allocateStagingAreas();
    }

    Result<void> moveAll(std::vector<Change*>& from_files) {
        uint64_t total = 0;
        for (const Change& change : changes_) {
            total += change.store.sizeBytes() + change.compute.sizeBytes();
        }
        uint64_t moved = 0;
        for (Change& change : changes_) {
            if (change.new_index < 0) {
                continue;
            }
            ENGINE_TRY(checkStop(*options_));
            ENGINE_ASSIGN(const bool needs_files, fillFromMemory(change));
            if (needs_files) {
                from_files.push_back(&change);
            }
            moved += change.store.sizeBytes() + change.compute.sizeBytes();
            if (options_->on_progress) {
                options_->on_progress({LoadStage::Move, moved, total, newOf(change).name});
            }
        }
        return {};
    }

    void dropNew() {
        for (Change& change : changes_) {
            change.store.reset();
            change.compute.reset();
        }
        new_staging_.clear();
    }

    Result<void> synchronize() {
        for (const auto& [id, device] : impl_->devices) {
            if (device->synchronize() != kernels::Status::Ok) {
                return Error{ErrorCode::DeviceLost,
                             said("%1 failed while weights were moved", id.toString()),
                             {}};
            }
        }
        return {};
    }

    /// Takes over the copies of a tensor: reused ones change roles, new ones move in, the rest is
    /// freed. Cannot fail.
    void swapIn(Change& change, StoreEntry& target) {
        const StoreEntry& wanted = newOf(change);
        const Places places = placesOf(wanted.place);
        DeviceTensor old_store = std::move(target.store);
        DeviceTensor old_compute = std::move(target.compute);
        const auto take = [&](const std::optional<DeviceId>& id, DeviceTensor& fresh) {
            if (!id) {
                return DeviceTensor();
            }
            if (fresh.isAllocated()) {
                return std::move(fresh);
            }
            return std::move(old_store.isAllocated() && old_store.deviceId() == *id ? old_store
                                                                                    : old_compute);
        };
        target.store = take(places.store, change.store);
        target.compute = take(places.compute, change.compute);
        target.shadow = {};
        target.layout = wanted.layout;
        target.place = wanted.place;
        target.is_gather_only = wanted.is_gather_only;
        if (change.is_reformatted) {
            target.cache.reset();
            target.cached = nullptr;
            target.has_disk_offset = false;
        }
    }

    void commit() {
        for (Change& change : changes_) {
            if (change.new_index < 0) {
                StoreEntry& old = oldOf(change);
                old.store.reset();
                old.compute.reset();
                old.shadow = {};
                old.is_gone = true;
                impl_->index.erase(old.name);
                continue;
            }
            if (change.old_handle < 0) {
                StoreEntry fresh = std::move(newOf(change));
                newOf(change).layout = fresh.layout; // swapIn reads the wanted state from there
                newOf(change).place = fresh.place;
                newOf(change).is_gather_only = fresh.is_gather_only;
                swapIn(change, fresh);
                impl_->index[fresh.name] = static_cast<int>(impl_->entries.size());
                impl_->entries.push_back(std::move(fresh));
                continue;
            }
            swapIn(change, oldOf(change));
        }
        commitStaging();
        impl_->plan = *plan_;
        ++impl_->generation;
        bindDiskEntries();
    }

    void commitStaging() {
        const auto wanted = stagingBytes(*plan_);
        for (auto it = impl_->staging.begin(); it != impl_->staging.end();) {
            const auto bytes = wanted.find(it->first);
            const bool stays = bytes != wanted.end() && bytes->second.total() > 0 &&
                               !new_staging_.contains(it->first);
            if (stays) {
                it->second.group.clear(); // who visits may have changed
                it->second.visitors.clear();
                ++it;
            } else {
                it = impl_->staging.erase(it);
            }
        }
        for (auto& [id, area] : new_staging_) {
            impl_->staging[id] = std::move(area);
        }
        new_staging_.clear();
    }

    /// Tensors that went to disk in another format than the files' read the cache, if it has them.
    void bindDiskEntries() {
        if (!caches_.isEnabled()) {
            return;
        }
        std::vector<StoreEntry*> on_disk;
        for (StoreEntry& entry : impl_->entries) {
            if (!entry.is_gone && entry.anyCopy() == nullptr && entry.cached == nullptr &&
                entry.origin.isDerived(entry.layout)) {
                on_disk.push_back(&entry);
            }
        }
        if (!learnContents(*impl_, on_disk, caches_, *options_)) {
            return; // they are made from the checkpoint at every use
        }
        for (StoreEntry* entry : on_disk) {
            const auto cache = caches_.open(cacheFormOf(entry->layout), impl_->report);
            if (cache && *cache != nullptr) {
                (void)bindToCache(*entry, *cache);
            }
        }
    }

    // --- Tight memory ---------------------------------------------------------------------------

    Result<void> park(StoreEntry& entry) {
        const DeviceTensor* source = entry.anyCopy();
        HostShadow shadow;
        for (size_t i = 0; i < DeviceTensor::PartCount; ++i) {
            const auto part = static_cast<DeviceTensor::Part>(i);
            const auto bytes = static_cast<size_t>(source->partBytes(part));
            if (bytes == 0) {
                continue;
            }
            shadow.parts[i].reset(new (std::nothrow) std::byte[bytes]);
            if (shadow.parts[i] == nullptr) {
                return Error{ErrorCode::OutOfMemory,
                             said("no memory to hold %1 while tensors change places", entry.name),
                             {}};
            }
            if (source->device()->copyOut(shadow.parts[i].get(), source->part(part), bytes) !=
                kernels::Status::Ok) {
                return Error{ErrorCode::DeviceLost,
                             said("reading %1 back from its device failed", entry.name),
                             {}};
            }
        }
        shadow.nested_offset = source->nestedOffset();
        shadow.is_set = true;
        entry.shadow = std::move(shadow);
        return {};
    }

    static Result<void> unpark(const HostShadow& shadow, DeviceTensor& tensor) {
        MemorySink sink(tensor);
        for (int i = 0; i < DeviceTensor::PartCount; ++i) {
            const auto part = static_cast<DeviceTensor::Part>(i);
            ENGINE_TRY(sink.write(i, 0,
                                  {shadow.parts[static_cast<size_t>(i)].get(),
                                   static_cast<size_t>(tensor.partBytes(part))}));
        }
        tensor.setNestedOffset(shadow.nested_offset);
        return {};
    }

    Step stepFor(int handle, bool is_parking) {
        const StoreEntry& entry = impl_->entries[static_cast<size_t>(handle)];
        Step step;
        step.handle = handle;
        step.is_parking = is_parking;
        step.had_store = entry.store.isAllocated();
        step.had_compute = entry.compute.isAllocated();
        step.old_store = step.had_store ? entry.store.deviceId() : DeviceId{};
        step.old_compute = step.had_compute ? entry.compute.deviceId() : DeviceId{};
        step.old_layout = entry.layout;
        return step;
    }

    /// The copies change now; place, layout and the rest of the entry only at commit.
    void takeCopies(Change& change, StoreEntry& entry) {
        const TensorPlacement place = entry.place;
        const DeviceTensor::Layout layout = entry.layout;
        const bool is_gather_only = entry.is_gather_only;
        const auto cache = entry.cache;
        const auto* cached = entry.cached;
        const bool has_offset = entry.has_disk_offset;
        swapIn(change, entry);
        entry.place = place;
        entry.layout = layout;
        entry.is_gather_only = is_gather_only;
        entry.cache = cache;
        entry.cached = cached;
        entry.has_disk_offset = has_offset;
    }

    Result<void> inTightMemory() {
        for (auto& [id, area] : impl_->staging) {
            old_staging_[id] = area.bytes;
        }
        impl_->staging.clear();
        Result<void> done = moveOneByOne();
        if (done) {
            done = synchronize();
        }
        if (!done) {
            undo();
            return done;
        }
        commit(); // all copies are in place: what is left cannot fail
        return {};
    }

    /// Dropped tensors are parked in host memory until all else has succeeded.
    Result<void> moveOneByOne() {
        std::vector<Change*> waiting;
        for (Change& change : changes_) {
            if (change.new_index < 0) {
                ENGINE_TRY(parkStep(change.old_handle));
            } else if (isChanging(change)) {
                waiting.push_back(&change);
            }
        }
        while (!waiting.empty()) {
            std::vector<Change*> still_waiting;
            std::optional<Error> refused;
            for (Change* change : waiting) {
                ENGINE_TRY(checkStop(*options_));
                Result<void> moved = moveOne(*change);
                if (!moved && moved.error().code != ErrorCode::OutOfMemory) {
                    return moved;
                }
                if (!moved) {
                    refused = moved.error();
                    still_waiting.push_back(change);
                }
            }
            if (still_waiting.size() == waiting.size()) {
                ENGINE_ASSIGN(const bool has_parked, parkLargest(waiting));
                if (!has_parked) {
                    return *refused;
                }
            }
            waiting = std::move(still_waiting);
        }
        return allocateStagingAreas();
    }

    [[nodiscard]] bool isChanging(const Change& change) {
        if (change.old_handle < 0 || change.is_reformatted) {
            return true;
        }
        StoreEntry& old = oldOf(change);
        const Places places = placesOf(newOf(change).place);
        const auto isThere = [&](const std::optional<DeviceId>& id, const DeviceTensor& copy) {
            return id ? copy.isAllocated() && copy.deviceId() == *id : !copy.isAllocated();
        };
        return !isThere(places.store, old.store) || !isThere(places.compute, old.compute);
    }

    Result<void> moveOne(Change& change) {
        ENGINE_TRY(allocate(change));
        auto needs_files = fillFromMemory(change);
        Result<void> filled = needs_files ? Result<void>() : Result<void>(needs_files.error());
        if (filled && *needs_files) {
            filled = fillFromFiles({&change});
        }
        if (!filled) {
            change.store.reset();
            change.compute.reset();
            return filled;
        }
        if (change.old_handle < 0) {
            return {}; // waits in the change until commit
        }
        StoreEntry& entry = oldOf(change);
        const Places places = placesOf(newOf(change).place);
        const bool is_leaving_memory = !places.store && !places.compute;
        if (!entry.shadow.is_set && entry.anyCopy() != nullptr &&
            (change.is_reformatted || is_leaving_memory)) {
            ENGINE_TRY(park(entry)); // these bytes cannot be made from the new copies
        }
        if (entry.shadow.is_set) {
            kept_shadows_[change.old_handle] = std::move(entry.shadow);
            entry.shadow = {};
        }
        steps_.push_back(stepFor(change.old_handle, false));
        takeCopies(change, entry);
        return {};
    }

    Result<void> parkStep(int handle) {
        StoreEntry& entry = impl_->entries[static_cast<size_t>(handle)];
        if (entry.anyCopy() == nullptr) {
            return {};
        }
        ENGINE_TRY(park(entry));
        steps_.push_back(stepFor(handle, true));
        entry.store.reset();
        entry.compute.reset();
        return {};
    }

    /// Frees the largest copy among tensors that wait. False when nothing is left to free.
    Result<bool> parkLargest(const std::vector<Change*>& waiting) {
        Change* largest = nullptr;
        uint64_t most = 0;
        for (Change* change : waiting) {
            if (change->old_handle < 0) {
                continue;
            }
            const StoreEntry& entry = oldOf(*change);
            const uint64_t bytes = entry.store.sizeBytes() + entry.compute.sizeBytes();
            if (bytes > most) {
                most = bytes;
                largest = change;
            }
        }
        if (largest == nullptr) {
            return false;
        }
        ENGINE_TRY(parkStep(largest->old_handle));
        return true;
    }

    /// Puts everything back in reverse order. Each step needs the memory that its forward step
    /// freed and frees what that took, so it fits; should the system refuse all the same, the
    /// tensor stays in host memory and takes its place at its next use (restoreShadow).
    void undo() {
        for (Change& change : changes_) {
            change.store.reset();
            change.compute.reset();
        }
        new_staging_.clear();
        for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
            undoStep(*step);
        }
        for (const auto& [id, bytes] : old_staging_) {
            const auto device = impl_->device(id);
            if (!device) {
                continue;
            }
            auto area = allocateStaging(id, **device, bytes);
            if (area) {
                impl_->staging[id] = std::move(*area);
            } else {
                impl_->lost_staging[id] = bytes; // allocated again at the next use
            }
        }
        ++impl_->generation;
    }

    void undoStep(const Step& step) {
        StoreEntry& entry = impl_->entries[static_cast<size_t>(step.handle)];
        const auto kept = kept_shadows_.find(step.handle);
        if (!step.is_parking && kept != kept_shadows_.end()) {
            entry.store.reset();
            entry.compute.reset();
            entry.shadow = std::move(kept->second);
            kept_shadows_.erase(kept);
        }
        const auto restore = [&](bool had, const DeviceId& id, DeviceTensor& slot) -> Result<void> {
            if (!had || copyOn(entry, id) != nullptr) {
                return {};
            }
            ENGINE_ASSIGN(kernels::Device * device, impl_->device(id));
            ENGINE_ASSIGN(DeviceTensor tensor,
                          DeviceTensor::allocate(entry.name, step.old_layout, id, *device));
            if (entry.shadow.is_set) {
                ENGINE_TRY(unpark(entry.shadow, tensor));
            } else if (const DeviceTensor* source = entry.anyCopy(); source != nullptr) {
                ENGINE_TRY(copyTensor(*source, tensor));
            }
            slot = std::move(tensor);
            return {};
        };
        DeviceTensor store;
        DeviceTensor compute;
        const bool is_back = restore(step.had_store, step.old_store, store).has_value() &&
                             restore(step.had_compute, step.old_compute, compute).has_value();
        if (!is_back) {
            store.reset();
            compute.reset();
            if (entry.shadow.is_set || (entry.anyCopy() != nullptr && park(entry))) {
                entry.store.reset();
                entry.compute.reset();
            }
            return;
        }
        const auto settle = [&](bool had, const DeviceId& id, DeviceTensor& fresh) {
            if (!had) {
                return DeviceTensor();
            }
            if (fresh.isAllocated()) {
                return std::move(fresh);
            }
            DeviceTensor* there = copyOn(entry, id);
            return there == nullptr ? DeviceTensor() : std::move(*there);
        };
        DeviceTensor new_store = settle(step.had_store, step.old_store, store);
        DeviceTensor new_compute = settle(step.had_compute, step.old_compute, compute);
        entry.store = std::move(new_store);
        entry.compute = std::move(new_compute);
        if (entry.anyCopy() != nullptr || entry.isOnDisk()) {
            entry.shadow = {};
        }
    }

    TensorStore::Impl* impl_;
    const PlacementPlan* plan_;
    const LoadOptions* options_;
    CacheSet caches_;
    std::vector<StoreEntry> new_entries_;
    std::vector<Change> changes_;
    std::map<DeviceId, Staging> new_staging_;
    std::map<DeviceId, StagingBytes> old_staging_;
    std::vector<Step> steps_;
    std::map<int, HostShadow> kept_shadows_; ///< Bytes that an undo could not make again.
};

} // namespace

Result<void>
applyPlan(TensorStore& store, const PlacementPlan& new_plan, const LoadOptions& options) {
    PlanApplication application(StoreBuilder::impl(store), new_plan, options);
    return application.run();
}

} // namespace engine
