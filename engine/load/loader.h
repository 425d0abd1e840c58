// SPDX-License-Identifier: Apache-2.0
// Turns a plan into memory: allocates everything, then fills it (large positioned reads with
// read-ahead, quantizing in between, or the derived cache), and re-places a loaded model by moving
// only what changed. Either it finishes or everything is as before. Does not plan.
#pragma once

#include "engine/load/tensor_store.h"
#include "engine/model/model_config.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace engine {

enum class LoadStage : uint8_t { Check = 1, Allocate, Fill, Move };

struct LoadProgress {
    LoadStage stage = LoadStage::Check;
    /// In this stage: bytes read (Fill), allocated, moved, compared with the cache (Check).
    uint64_t bytes_done = 0;
    uint64_t bytes_total = 0; ///< Grows never; 0 = unknown.
    std::string_view tensor;  ///< Valid during the call.
};

struct LoadOptions {
    std::function<void(const LoadProgress&)> on_progress; ///< On the calling thread; may be empty.
    std::stop_token stop;                                 ///< Looked at per piece of at most 8 MiB.
    std::filesystem::path cache_folder; ///< Empty: no derived cache. Created when missing.
    ParallelFor parallel;               ///< See poolParallelFor(); empty = this thread only.
    int read_threads = 2;               ///< Read-ahead threads, at least 1.
    /// Bytes read and handed over at a time; tests take less.
    int64_t piece_bytes = int64_t{8} << 20;
    uint64_t card_granularity = uint64_t{2} << 20; ///< What cards round their memory up to.
};

/// A ParallelFor that runs on a CPU pool (nullptr: on the calling thread).
ParallelFor poolParallelFor(kernels::cpu::ThreadPool* pool);

/// Loads all tensors of `plan` (which must fit and have no errors). `source` and the devices must
/// outlive the store: tensors stored on disk are read from it at run time.
/// Errors: InvalidFile (missing, misshapen, truncated or non-finite tensor: named), Unsupported
/// (element type, header-only source), OutOfMemory (asked and free bytes), Cancelled. Nothing is
/// left allocated after an error.
Result<std::unique_ptr<TensorStore>> load(const TensorSource& source,
                                          const ModelConfig& config,
                                          const PlacementPlan& plan,
                                          const DeviceSet& devices,
                                          const LoadOptions& options = {});

/// Makes a loaded store realise another plan of the same model. Moves only tensors whose device,
/// residency or format changed; bytes that only move are copied, never read or quantized again.
/// All-or-nothing: on any error (OutOfMemory, Cancelled, ...) the store is as before. When old and
/// new places do not fit side by side it moves in an order that can be undone.
Result<void>
applyPlan(TensorStore& store, const PlacementPlan& new_plan, const LoadOptions& options = {});

} // namespace engine
