// SPDX-License-Identifier: Apache-2.0
// Values about the engine as a whole: what to load and how, what a model folder holds, what an
// adapter covers, what memory is used, and the snapshot that the window draws.
#pragma once

#include "engine/api/adapter_note.h"
#include "engine/api/chat.h"
#include "engine/api/device_id.h"
#include "engine/api/export_loss.h"
#include "engine/api/model_oddity.h"
#include "engine/api/placement.h"
#include "engine/api/plan_message.h"
#include "engine/api/unused_key.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

struct AdapterChoice {
    std::string folder;
    double strength = 1.0; ///< 0 to 2.
    bool is_enabled = true;
};

/// One change to a device map, as the layout editor makes it.
struct MapMove {
    enum class Kind : uint8_t {
        Place = 1, ///< Store and compute there.
        Inherit,   ///< Take out every key at or below: it follows its parent again (the head: the
                   ///< token table; the KV cache: its layers).
    };
    Kind kind = Kind::Place;
    /// Module, tensor or range (model.vision_tower, model.language_model.layers.[3-7]), "" for the
    /// whole model, "kv" for the KV cache.
    std::string module;
    DeviceId store, compute;
    std::optional<Residency> residency = {}; ///< Only where store and compute differ.
    bool is_tied_copy = false; ///< lm_head only: a copy of its own, apart from the token table.
    friend bool operator==(const MapMove&, const MapMove&) = default;
};

/// A device that a plan assumes instead of those of this machine. Rates of 0 = defaults.
struct WhatIfDevice {
    DeviceId id;
    std::string description; ///< "RTX 3060"
    uint64_t capacity = 0;   ///< Bytes.
    uint64_t free = 0;       ///< Bytes free for the engine.
    double read_bytes_per_s = 0, flops = 0, link_bytes_per_s = 0;
    friend bool operator==(const WhatIfDevice&, const WhatIfDevice&) = default;
};

/// A map written for another program.
struct MapExport {
    enum class Kind : uint8_t { Document = 1, Accelerate, LlamaCpp, Python };
    Kind kind = Kind::Document;
    std::string text;
    std::vector<ExportLoss> losses; ///< What that program does differently.
};

/// Everything that decides a plan.
struct LoadRequest {
    std::string model;              ///< Folder, or "demo" for the bundled model.
    std::string device_map = "gpu"; ///< Preset name or the text of a map (starts with "{").
    std::string quant = "none";     ///< none, nf4, nf4-dq, fp4, fp4-dq
    int64_t quant_block = 64;       ///< Weights that share a scale, of those quantized on load.
    std::string head = "auto";      ///< bf16, int8, nf4; auto: bf16, and `fit` may take a smaller
    int64_t context = 0;            ///< Tokens; 0 = the map's, else 4096.
    int64_t prefill_chunk = 0;      ///< Tokens; 0 = large on cards with room for it, else 512.
    int64_t image_tokens = 0;       ///< 0 = the model's.
    std::vector<std::pair<std::string, uint64_t>> limits; ///< Device id, bytes.
    std::vector<uint64_t> sim_gpus; ///< Capacities in bytes of simulated GPUs.
    std::vector<AdapterChoice> adapters;
    bool is_reference_precision = false;
    int threads = 0;            ///< 0 = all.
    std::string cache_folder;   ///< Derived weights; empty = none.
    std::vector<MapMove> moves; ///< Made on device_map, in this order.
    /// Plans only: these devices instead of this machine's; load() refuses such a request.
    std::vector<WhatIfDevice> what_if;
};

/// One block of a model, for inspect.
struct ModuleSummary {
    std::string name, kind;
    int64_t parameters = 0;
    uint64_t bytes = 0; ///< As stored.
};

/// One decoder layer, for drawing it.
struct LayerSummary {
    bool is_full_attention = false;
    bool is_kv_shared = false;
    int kv_source = -1; ///< Layer whose keys and values it reads; its own number for owners.
};

struct AdapterSummary {
    std::string folder, name, kind;
    int64_t tensors = 0;
    int64_t language = 0, vision = 0, audio = 0, other = 0;              ///< Tensors by tower.
    int64_t active = 0, inert = 0, ignored = 0;                          ///< Sum = tensors.
    int64_t language_modules = 0, vision_modules = 0, audio_modules = 0; ///< That it acts on.
    int64_t rank = 0;
    double alpha = 0.0, scaling = 0.0;
    std::vector<std::string> matched_modules;
    std::vector<UnusedKey> unmatched;
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
    /// What the adapter changes at strength 1, as the largest difference over the base's largest
    /// value: logits of a fixed row of tokens, soft tokens of a fixed picture and a fixed sound.
    /// 0 = the same bits; -1 = not measured (Engine::adapterEffect), or no such tower.
    struct Effect {
        double logits = -1.0, vision = -1.0, audio = -1.0;
        [[nodiscard]] bool isMeasured() const { return logits >= 0.0; }
        [[nodiscard]] bool differs() const { return logits > 0.0 || vision > 0.0 || audio > 0.0; }
    };
    Effect effect;
    std::vector<AdapterNote> notes;
    uint64_t bytes = 0;
};

struct ModelSummary {
    std::string folder, architecture, variant, dtype;
    int64_t parameters = 0; ///< 0 = not known.
    uint64_t bytes = 0;
    int64_t max_context = 0;
    bool has_vision = false, has_audio = false;
    double longest_sound_s = 0.0; ///< Of one clip that the model takes; 0 without the tower.
    /// What SamplingParameters below zero stand for with this model, and image_tokens of 0; -1 and
    /// 0 = not known. Seed and length have no default.
    SamplingParameters sampling;
    int64_t image_tokens = 0;
    bool is_header_only = false; ///< Weights are absent: plan works, load does not.
    std::string quantization;    ///< "none", "nf4", "nf4-dq", ...: what the files hold.
    std::vector<ModuleSummary> modules;
    std::vector<LayerSummary> layers;
    int64_t vision_layers = 0, audio_layers = 0; ///< 0 without the tower.
    std::vector<AdapterSummary> adapters;
    std::vector<ModelOddity> warnings;
};

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
    uint64_t used = 0, budget = 0; ///< Of this program on the card. Budget 0: nobody tells.
    uint64_t spilled = 0;
    uint64_t must_go = 0; ///< Bytes to take off the card until it is Fine again.
    /// Near and Spilling: at most two moves of the planner that together end it, or what of it can
    /// be had.
    std::vector<SuggestedStep> advice = {};
    bool is_advice_enough = false;
    friend bool operator==(const MemoryBudget& a, const MemoryBudget& b) {
        return a.state == b.state && a.used == b.used && a.budget == b.budget &&
               a.spilled == b.spilled && a.advice.size() == b.advice.size();
    }
};

struct DeviceMemory {
    DeviceId id;
    std::string description;
    uint64_t capacity = 0;
    uint64_t used_by_others = 0; ///< Other programs, where the system tells.
    uint64_t limit = 0;
    PartBytes measured, predicted;
    MemoryBudget budget = {};
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
