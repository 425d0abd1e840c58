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

/// Notes on 4-bit grids: weights that came with theirs, and whether quantizing found one.
void tellGrids(TensorStore::Impl& impl) {
    LoadReport& report = impl.report;
    const auto kept =
        std::count_if(impl.entries.begin(), impl.entries.end(), [](const StoreEntry& entry) {
            return entry.origin.kind == StoredAs::W4A16 && entry.origin.isSameAs(entry.layout);
        });
    const std::string_view grid = formatRow(kW4A16Format).option;
    if (kept > 0) {
        report.notes.emplace_back(
            said("%1 weights are stored as W4A16 and keep their codes and scales, as %2: nothing "
                 "was quantized again",
                 kept, grid));
    }
    const LoadReport::Grids& grids = report.grids;
    if (grids.trained > 0) {
        report.notes.emplace_back(
            said("%1: trained grid: %2 weights lie on the grid they were trained for; of their %3 "
                 "values, %4 are not exactly what the files hold",
                 grid, grids.trained, grids.trained_values, grids.trained_misses));
    }
    if (grids.requantized > 0) {
        report.notes.emplace_back(said(
            "%1: re-quantized: %2 weights were not trained for this grid and are rounded to it",
            grid, grids.requantized));
    }
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
    tellGrids(*impl);
    ENGINE_TRY(checkStop(options));
    return StoreBuilder::wrap(std::move(impl));
}

} // namespace engine
