// SPDX-License-Identifier: Apache-2.0
// Loading: check, allocate, fill, cache. Everything allocated belongs to objects that free it, so
// an error at any point leaves nothing behind.

#include "engine/load/loader.h"

#include "engine/base/seconds_since.h"
#include "engine/load/card_segments.h"
#include "engine/load/loader_entries.h"
#include "engine/load/loader_jobs.h"
#include "kernels/stage_times.h"

#include <algorithm>
#include <chrono>

namespace engine {

namespace {

using Clock = std::chrono::steady_clock;

/// Store copies, resident compute copies and staging areas of all entries.
Result<void> allocateAll(TensorStore::Impl& impl, const LoadOptions& options) {
    const auto predicted = weightBytes(impl.plan);
    uint64_t total = 0;
    for (const auto& [id, bytes] : predicted) {
        total += bytes;
    }
    uint64_t done = 0;
    const auto tell = [&](std::string_view tensor) {
        if (options.on_progress) {
            options.on_progress({LoadStage::Allocate, done, total, tensor});
        }
    };
    CardSegments segments(impl, options.card_granularity);
    for (StoreEntry& entry : impl.entries) {
        ENGINE_TRY(checkStop(options));
        segments.reserveFor(entry);
        if (!entry.isOnDisk()) {
            ENGINE_ASSIGN(kernels::Device * device, impl.device(entry.place.store));
            ENGINE_ASSIGN(entry.store, DeviceTensor::allocate(entry.name, entry.layout,
                                                              entry.place.store, *device));
            done += entry.store.sizeBytes();
        }
        if (entry.place.store != entry.place.compute &&
            entry.place.residency == Residency::Always) {
            ENGINE_ASSIGN(kernels::Device * device, impl.device(entry.place.compute));
            ENGINE_ASSIGN(entry.compute, DeviceTensor::allocate(entry.name, entry.layout,
                                                                entry.place.compute, *device));
            done += entry.compute.sizeBytes();
        }
        tell(entry.name);
    }
    segments.reserveRest();
    for (const auto& [id, bytes] : stagingBytes(impl.plan)) {
        if (bytes.total() == 0) {
            continue;
        }
        ENGINE_ASSIGN(kernels::Device * device, impl.device(id));
        ENGINE_ASSIGN(impl.staging[id], allocateStaging(id, *device, bytes));
        done += bytes.total();
        tell("staging");
    }
    return {};
}

Result<void> fillAll(TensorStore::Impl& impl, CacheSet& caches, const LoadOptions& options) {
    std::vector<FillTarget> targets;
    for (StoreEntry& entry : impl.entries) {
        if (entry.store.isAllocated()) {
            targets.push_back({&entry, &entry.store});
        } else if (entry.compute.isAllocated()) {
            targets.push_back({&entry, &entry.compute});
        }
    }
    ENGINE_TRY(fillTargets(impl, targets, caches, options, LoadStage::Fill));
    for (StoreEntry& entry : impl.entries) {
        if (entry.store.isAllocated() && entry.compute.isAllocated()) {
            ENGINE_TRY(checkStop(options));
            ENGINE_TRY(copyTensor(entry.store, entry.compute));
        }
    }
    for (const auto& [id, device] : impl.devices) {
        if (device->synchronize() != kernels::Status::Ok) {
            return Error{ErrorCode::DeviceLost,
                         said("%1 failed while weights were copied to it", id.toString()),
                         {}};
        }
    }
    return {};
}

} // namespace

ParallelFor poolParallelFor(kernels::cpu::ThreadPool* pool) {
    if (pool == nullptr || pool->size() == 1) {
        return {};
    }
    return [pool](int64_t count, const std::function<void(int64_t, int64_t)>& body) {
        constexpr int64_t kPiecesPerThread = 8; // so that a busy core does not hold up the others
        const int64_t grain = std::max<int64_t>(1, count / (pool->size() * kPiecesPerThread));
        pool->parallelFor(count, grain, [&body](int64_t begin, int64_t end) { body(begin, end); });
    };
}

Result<std::unique_ptr<TensorStore>> load(const TensorSource& source,
                                          const ModelConfig& config,
                                          const PlacementPlan& plan,
                                          const DeviceSet& devices,
                                          const LoadOptions& options) {
    if (source.isHeaderOnly()) {
        return Error{ErrorCode::Unsupported,
                     said("the model folder holds no weights, only headers or config.json: it can "
                          "be planned, not loaded. Download its .safetensors files."),
                     {}};
    }
    auto impl = std::make_unique<TensorStore::Impl>();
    impl->source = &source;
    impl->config = config;
    impl->devices = devices;
    impl->plan = plan;
    impl->parallel = options.parallel;
    indexSource(*impl);
    ENGINE_ASSIGN(impl->entries, makeEntries(*impl, plan));
    for (size_t i = 0; i < impl->entries.size(); ++i) {
        impl->index.emplace(impl->entries[i].name, static_cast<int>(i));
    }
    if (options.on_progress) {
        options.on_progress({LoadStage::Check, 1, 1, {}});
    }
    auto start = Clock::now();
    {
        const kernels::StageTimer timer("memory for weights");
        ENGINE_TRY(allocateAll(*impl, options));
    }
    impl->report.allocate_s = secondsSince(start);
    start = Clock::now();
    CacheSet caches(source, options.cache_folder);
    {
        const kernels::StageTimer timer("weights");
        ENGINE_TRY(fillAll(*impl, caches, options));
    }
    {
        const kernels::StageTimer timer("writing the cache");
        ENGINE_TRY(updateCaches(*impl, caches, options));
    }
    impl->report.fill_s = secondsSince(start);
    ENGINE_TRY(checkStop(options));
    return StoreBuilder::wrap(std::move(impl));
}

} // namespace engine
