// SPDX-License-Identifier: Apache-2.0
// Values about the engine as a whole: what to load and how, what a model folder holds, what an
// adapter covers, what memory is used, and the snapshot that the window draws.
#pragma once

#include "engine/api/chat.h"
#include "engine/api/device_id.h"
#include "engine/api/placement.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace engine {

struct AdapterChoice {
    std::string folder;
    double strength = 1.0; ///< 0 to 2.
    bool is_enabled = true;
};

/// Everything that decides a plan.
struct LoadRequest {
    std::string model;              ///< Folder, or "demo" for the bundled model.
    std::string device_map = "gpu"; ///< Preset name or the text of a map (starts with "{").
    std::string quant = "none";     ///< none, nf4, nf4-dq, fp4, fp4-dq
    std::string head = "bf16";      ///< bf16, int8, nf4
    int64_t context = 0;            ///< Tokens; 0 = the map's, else 4096.
    int64_t prefill_chunk = 512;
    int64_t image_tokens = 0;                             ///< 0 = the model's.
    std::vector<std::pair<std::string, uint64_t>> limits; ///< Device id, bytes.
    std::vector<uint64_t> sim_gpus; ///< Capacities in bytes of simulated GPUs.
    std::vector<AdapterChoice> adapters;
    bool is_reference_precision = false;
    int threads = 0;          ///< 0 = all.
    std::string cache_folder; ///< Derived weights; empty = none.
};

/// One block of a model, for inspect.
struct ModuleSummary {
    std::string name, kind;
    int64_t parameters = 0;
    uint64_t bytes = 0; ///< As stored.
};

struct AdapterSummary {
    std::string folder, name, kind;
    int64_t tensors = 0;
    int64_t language = 0, vision = 0, audio = 0, other = 0; ///< Tensors by tower.
    int64_t rank = 0;
    double alpha = 0.0, scaling = 0.0;
    std::vector<std::string> matched_modules;
    std::vector<std::pair<std::string, std::string>> unmatched; ///< Key, reason.
    std::vector<std::string> missing; ///< Targeted by the config, absent from the file.
    std::vector<std::pair<std::string, double>>
        norms; ///< Base tensor, Frobenius norm of the delta.
    struct Group {
        std::string kind;
        int64_t rank = 0;
        double alpha = 0.0, scaling = 0.0;
        int64_t modules = 0;
    };
    std::vector<Group> groups;
    std::vector<std::string> notes;
    uint64_t bytes = 0;
};

struct ModelSummary {
    std::string folder, architecture, variant, dtype;
    int64_t parameters = 0;
    uint64_t bytes = 0;
    int64_t max_context = 0;
    bool has_vision = false, has_audio = false;
    bool is_header_only = false; ///< Weights are absent: plan works, load does not.
    std::string quantization;    ///< "none", "nf4", "nf4-dq", ...: what the files hold.
    std::vector<ModuleSummary> modules;
    std::vector<AdapterSummary> adapters;
    std::vector<std::string> warnings;
};

struct DeviceMemory {
    DeviceId id;
    std::string description;
    uint64_t capacity = 0;
    uint64_t used_by_others = 0; ///< Other programs, where the system tells.
    uint64_t limit = 0;
    PartBytes measured, predicted;
};

/// What the status of the engine is, drawn by the window; immutable once sent.
struct EngineSnapshot {
    enum class State : uint8_t { Empty = 1, Loading, Ready, Generating, Moving };
    State state = State::Empty;
    uint64_t serial = 0;
    std::shared_ptr<const ModelSummary> model;
    std::shared_ptr<const PlacementPlan> plan; ///< Of what is loaded.
    std::vector<AdapterChoice> adapters;
    std::vector<DeviceMemory> memory;
    // Loading and moving
    std::string stage, tensor;
    uint64_t bytes_done = 0, bytes_total = 0;
    // Context of the current chat
    int64_t context_used = 0, context_size = 0;
};

} // namespace engine
