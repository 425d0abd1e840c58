// SPDX-License-Identifier: Apache-2.0
// The planner: from a model's headers, a device map and limits to the complete plan with predicted
// bytes per device and part, before anything is allocated. Pure and fast (milliseconds); byte
// rules, transfers and estimates are described in engine/plan/PLANNER.md. Sizes are exact: what
// the loader allocates is what stands here.
#pragma once

#include "engine/api/placement.h"
#include "engine/forward/memory/device_roles.h"
#include "engine/plan/device_map.h"
#include "engine/plan/map_resolve.h"
#include "engine/quant/quantize.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// What a driver takes of a card while a model is loaded and runs: its tables of page-locked
/// memory, recordings, and the ends of blocks that are not full. An H200 took 2 to 15 MiB.
inline constexpr uint64_t kDriverTables = uint64_t{16} << 20;

/// Measured constants of one device; 0 = not measured, a documented default is taken.
struct DeviceRates {
    double read_bytes_per_s = 0; ///< Streaming read of its own memory (disk: of files).
    double flops = 0;            ///< Matrix products at prefill sizes.
    double link_bytes_per_s = 0; ///< Host to device (GPU), pinned.
    double layer_overhead_s = 0; ///< Fixed cost per decoder layer and token.
    double hop_s = 0;            ///< Latency of handing a small tensor to this device.
};

struct DeviceInfo {
    DeviceId id;
    std::string description; ///< "RTX 3060", "simulated GPU"
    uint64_t capacity = 0;   ///< Bytes; 0 = unknown (no limit).
    uint64_t free = 0;       ///< Free bytes before loading; ignored when capacity is 0.
    /// The same of what the system lets this program have there, less what it has: on Windows a
    /// card may have more that is free, and lies in main memory when it is taken. Nothing: the
    /// system sets no such bound.
    std::optional<uint64_t> granted = {};
    /// Fixed cost of using the device that is not yet part of what is missing from `free`
    /// (a CUDA context that does not exist yet).
    uint64_t context_bytes = 0;
    /// A card's driver hands memory out in multiples of this; 0: to the byte.
    uint64_t granularity = 0;
    DeviceRates rates;
};

struct AdapterBytes {
    std::string tensor; ///< Canonical base tensor or lm_head.weight.
    uint64_t bytes = 0;
    bool is_on_host = false;    ///< Embedding parts: on the cpu device, wherever the table is.
    uint64_t scratch_bytes = 0; ///< Workspace on its device; the largest there counts once.
    /// In `bytes`: A and B, which travel with a base tensor that does (adapter.place follow_base).
    uint64_t update_bytes = 0;
    int index = -1; ///< Place of the tensor in the request's list, for who knows it.
};

/// Tokens of a prompt that are computed together, and where cards compute every layer and have
/// plenty of room: their products run twice as fast with that many rows.
inline constexpr int64_t kDefaultChunk = 512;
inline constexpr int64_t kCardChunk = 2048;

struct PlanRequest {
    ModelConfig config;
    std::vector<ExpectedTensor> tensors; ///< listTensors(config); filled in when empty.
    StoredTensors stored;                ///< Empty: predicted from the config as bf16.

    /// Either a map, or the name of a preset ("fit" included) when it is empty.
    std::optional<DeviceMap> map;
    std::string preset = "gpu";

    Format quant = Format::AsStored;
    bool quantizes_experts = false;   ///< --quant is for experts as well.
    int32_t quant_block = kBlockSize; ///< For weights that are quantized on load.
    Format head = Format::AsStored;
    bool has_weight_cache =
        false; ///< Quantized weights are kept on disk (LoadRequest::cache_folder).
    bool is_reference_precision = false;   ///< --precision f32
    Format kv_format = Format::AsStored;   ///< Bf16 or Q8; AsStored: the map's kv.format.
    std::optional<uint64_t> expert_cache;  ///< As DeviceMap's, which it beats.
    int64_t context = 0;                   ///< Tokens; 0 = the map's kv.context, else 4096.
    int64_t prefill_chunk = kDefaultChunk; ///< 0: the planner chooses.
    int64_t image_tokens = 280;

    std::vector<DeviceInfo> devices;     ///< cpu should be among them; disk need not.
    std::map<DeviceId, uint64_t> limits; ///< --limit; beats the map's limits.
    std::vector<AdapterBytes> adapters;  ///< All attached adapters together.
    /// Next steps where memory is short (DM09). Each is planned, so they cost some plans.
    bool wants_advice = true;

    /// Bytes of K and V of one owner layer on one device, and scratch per device: what the model
    /// allocates (engine/forward/memory/device_roles.h). Empty: simple formulas of PLANNER.md.
    std::function<uint64_t(const PlacementPlan& plan, int layer)> kv_bytes;
    std::function<std::map<DeviceId, uint64_t>(const PlacementPlan& plan)> workspace_bytes;
    /// `fit` only, needed with workspace_bytes: the same for one device of this kind that computes
    /// whole components and no strays. `shape` is a plan without rows.
    std::function<uint64_t(
        const PlacementPlan& shape, DeviceId::Kind kind, const DeviceDuties& duties)>
        duty_bytes;

    /// `fit` only: the solver may choose a smaller head than bf16 before layers leave a GPU. The
    /// map then says so, which holds whatever `head` is when it is planned again.
    bool may_change_head = false;
    /// `fit` only: the solver may quantize the linear weights although --quant says none.
    bool may_quantize = false;

    /// What is free is a guess: more than that is a warning (DM09). Limits of option and map are
    /// none.
    bool is_free_memory_a_guess = false;
};

/// TensorPlacement::made_from_bytes of a row.
uint64_t madeFromBytes(const PlanRequest& request,
                       const TensorPlacement& row,
                       const ExpectedTensor& tensor,
                       const StoredTensor& stored);
/// How the files hold a tensor; bf16 where that is not known.
StoredTensor storedAs(const PlanRequest& request, const ExpectedTensor& tensor);
/// The same of a head with a row of its own: its own tensor, or the table that it is a copy of.
StoredTensor headStoredAs(const PlanRequest& request, const ExpectedTensor& table);

/// The plan. Never fails: problems are in plan.errors, and then plan.fits is false.
PlacementPlan makePlan(const PlanRequest& request);

/// The map that `preset` "fit" chooses: the fastest placement within limits by the cost order of
/// PLANNER.md, and how it came about. fits == false: nothing of the family fits; the map is then
/// the leanest one.
struct FitResult {
    DeviceMap map;
    Format head = Format::AsStored;
    Format quant = Format::AsStored;
    bool fits = false;
    std::vector<Note> steps; ///< The explanation, in order.
};
FitResult fitDeviceMap(const PlanRequest& request);

/// Memory for tensors that visit their compute device (store and compute differ, residency on_use
/// or stream): what one shared staging area per compute device must hold. Loader and planner use
/// this one rule; it is part of MemoryPart::Weights.
///   stream: twice (double buffer) the largest streamed tensor of that device; tables that are
///           only gathered travel as rows and need none (the tied head makes a table count);
///   on_use: the largest group of visitors (vision tower with its projector, audio tower with its
///           projector, language parts), summed over the group, since groups visit one at a time.
struct StagingBytes {
    uint64_t stream = 0; ///< Bytes of the double buffer (two halves).
    uint64_t visit = 0;  ///< Bytes of the largest visiting group.
    [[nodiscard]] uint64_t total() const { return stream + visit; }
};
std::map<DeviceId, StagingBytes> stagingBytes(const PlacementPlan& plan);

/// Group of a part for on_use visits: "vision", "audio" or "language".
std::string_view visitGroup(Part part);
/// True for tables of which only rows travel under `stream`: the per-layer embeddings, and the
/// token table when the head has a row of its own.
bool isGatherOnly(const PlacementPlan& plan, Part part);

/// Predicted weight bytes per device: stored copies, resident copies and staging areas.
std::map<DeviceId, uint64_t> weightBytes(const PlacementPlan& plan);

} // namespace engine
