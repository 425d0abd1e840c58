// SPDX-License-Identifier: Apache-2.0
// The status of an engine, as the window draws it.
#pragma once

#include "engine/api/capabilities.h"
#include "engine/api/device_id.h"
#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"
#include "engine/api/placement.h"
#include "engine/api/plan_message.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace engine {

/// A card's memory as the system shares it out among the programs (Windows, by DXGI). What a
/// program takes beyond its budget the system moves to main memory without a word, and everything
/// that computes with it becomes many times slower.
struct MemoryBudget {
    enum class State : uint8_t {
        Fine = 1,
        Near,     ///< Little is left of the budget.
        Spilling, ///< `spilled` bytes of this program's lie in main memory instead.
    };
    State state = State::Fine;
    uint64_t used = 0, budget = 0; ///< For this program on the card. Budget 0: nobody tells.
    uint64_t spilled = 0;
    uint64_t must_go = 0; ///< Bytes to take off the card until it is Fine again.
    /// Near and Spilling: at most two moves of the planner that together end it, or what of it can
    /// be had.
    std::vector<Repair> advice = {};
    bool is_advice_enough = false;
    friend bool operator==(const MemoryBudget& a, const MemoryBudget& b) {
        return a.state == b.state && a.used == b.used && a.budget == b.budget &&
               a.spilled == b.spilled && a.advice.size() == b.advice.size();
    }
};

/// Copies of routed experts on a card, whose originals lie and compute in main memory, and what
/// they are worth by what decoded tokens have asked for so far.
struct ExpertCacheState {
    uint64_t bytes = 0;         ///< What the copies may take.
    int64_t places = 0;         ///< Copies that have room, of
    int64_t experts = 0;        ///< so many.
    int64_t asked = 0;          ///< Choices that were counted,
    int64_t hits = 0;           ///< those that fall on what is there now,
    int64_t hits_with_more = 0; ///< and those that would with one GiB more.
    friend bool operator==(const ExpertCacheState&, const ExpertCacheState&) = default;
};

struct DeviceMemory {
    DeviceId id;
    std::string description;
    uint64_t capacity = 0;
    uint64_t used_by_others = 0; ///< Other programs, where the system tells.
    uint64_t limit = 0;
    PartBytes measured, predicted;
    MemoryBudget budget = {};
    ExpertCacheState experts = {};
    uint64_t copied_in = 0; ///< Bytes that came from main memory since the device was opened.
};

/// What the status of the engine is, drawn by the window; immutable once sent.
struct EngineSnapshot {
    enum class State : uint8_t { Empty = 1, Loading, Ready, Generating, Moving };
    State state = State::Empty;
    uint64_t serial = 0;
    Capabilities capabilities;
    std::shared_ptr<const ModelSummary> model;
    std::shared_ptr<const PlacementPlan> plan; ///< Plan of what is loaded.
    std::vector<AdapterChoice> adapters;
    std::vector<DeviceMemory> memory;
    // Loading and moving
    std::string stage, tensor;
    uint64_t bytes_done = 0, bytes_total = 0;
    // Context of the current chat
    int64_t context_used = 0, context_size = 0;
};

} // namespace engine
