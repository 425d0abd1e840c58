// SPDX-License-Identifier: Apache-2.0
// The status of an engine, as the window draws it.
#pragma once

#include "engine/api/device_id.h"
#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"
#include "engine/api/placement.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace engine {

struct DeviceMemory {
    DeviceId id;
    std::string description;
    uint64_t capacity = 0;
    uint64_t used_by_others = 0; ///< Other programs, where the system tells.
    uint64_t limit = 0;
    PartBytes measured, predicted;
};

/// What an engine can do, beside answering; the window does not offer the rest. What a model takes
/// (pictures, sounds) stands in its summary. The engine of this program can do everything.
struct Capabilities {
    bool places_parts = true;   ///< Device maps: plans, layouts, moves.
    bool tells_memory = true;   ///< Bytes per device and part.
    bool takes_adapters = true; ///< PEFT adapters, also while a model is loaded.
    friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

/// What the status of the engine is, drawn by the window; immutable once sent.
struct EngineSnapshot {
    enum class State : uint8_t { Empty = 1, Loading, Ready, Generating, Moving };
    State state = State::Empty;
    uint64_t serial = 0;
    Capabilities capabilities;
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
