// SPDX-License-Identifier: Apache-2.0
// The plan: where every tensor sits, in which format, what that costs. Made by engine/plan before
// anything is allocated, shown by the UI, executed by the loader, never changed behind the
// user's back. Values only.
#pragma once

#include "engine/api/device_id.h"
#include "engine/api/part.h"
#include "engine/api/plan_message.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// Storage format of one tensor in memory. AsStored keeps the file's bytes.
enum class Format : uint8_t {
    AsStored = 1,
    Bf16,
    F16,
    F32,
    Nf4,
    Nf4Dq,
    Fp4,
    Fp4Dq,
    Q8,
    Int4,
    Int8,
    // As GGUF files have them.
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2_K,
    Q3_K,
    Q4_K,
    Q5_K,
    Q6_K,
    IQ4_NL,
    IQ4_XS,
    MXFP4,
    Q2_0
};

/// When the bytes of a tensor whose store and compute devices differ travel.
enum class Residency : uint8_t { Always = 1, OnUse, Stream };

/// What an allocation is for; the rows of the memory meter.
/// Experts: copies of routed experts whose originals are in main memory.
enum class MemoryPart : uint8_t { Weights = 1, Kv, Adapter, Workspace, Context, Experts };
inline constexpr int kMemoryPartCount = 6;
inline constexpr std::array<MemoryPart, kMemoryPartCount> kMemoryParts = {
    MemoryPart::Weights,   MemoryPart::Kv,      MemoryPart::Adapter,
    MemoryPart::Workspace, MemoryPart::Context, MemoryPart::Experts};
/// "weights", "kv", "adapter", "workspace", "context", "expert_cache".
constexpr const char* memoryPartName(MemoryPart part) {
    constexpr std::array<const char*, kMemoryPartCount> kNames = {
        "weights", "kv", "adapter", "workspace", "context", "expert_cache"};
    return kNames[static_cast<size_t>(part) - 1];
}

/// Bytes per part; index with static_cast<int>(part) - 1.
struct PartBytes {
    std::array<uint64_t, kMemoryPartCount> bytes{};
    uint64_t& operator[](MemoryPart part) { return bytes[static_cast<size_t>(part) - 1]; }
    uint64_t operator[](MemoryPart part) const { return bytes[static_cast<size_t>(part) - 1]; }
    [[nodiscard]] uint64_t total() const {
        uint64_t sum = 0;
        for (const uint64_t b : bytes) {
            sum += b;
        }
        return sum;
    }
    friend bool operator==(const PartBytes&, const PartBytes&) = default;
};

/// One row: one tensor (for a quantized weight: codes and statistics together).
struct TensorPlacement {
    std::string tensor; ///< Canonical name, e.g. model.language_model.layers.3.mlp.up_proj.weight
    DeviceId store;
    DeviceId compute;
    Residency residency = Residency::Always;
    Format format =
        Format::AsStored;    ///< Resolved: never AsStored for a weight that is quantized on load.
    int32_t block_size = 64; ///< Formats with blocks: weights that share a scale.
    uint64_t bytes = 0;      ///< In memory, in `format`, on one device.
    /// Stored on disk in another format than the checkpoint's, with nothing that keeps it made: so
    /// many bytes of the checkpoint are read and converted at every use. 0: what is read is
    /// `bytes`.
    uint64_t made_from_bytes = 0;
    [[nodiscard]] uint64_t readBytes() const {
        return made_from_bytes > 0 ? made_from_bytes : bytes;
    }
    std::optional<bool> pin = {}; ///< Page-locked host memory; absent: the engine decides.
    Part part = {};               ///< What it belongs to.
};

/// A group of tensors that the user sees and moves as one block.
struct ModulePlacement {
    std::string
        name; ///< Module path, e.g. model.vision_tower, model.language_model.layers.12, lm_head
    DeviceId store;
    DeviceId compute;
    Residency residency = Residency::Always;
    Format format = Format::AsStored;
    uint64_t bytes = 0;
    bool is_mixed = false; ///< Its tensors disagree; the places above hold most of its bytes.
    Part part = {};
};

struct DevicePlan {
    DeviceId id;
    std::string description; ///< "RTX 3060", "simulated GPU", ...
    uint64_t capacity = 0;   ///< Bytes the device has. 0 for disk.
    uint64_t free = 0;       ///< Free before loading, as told by the device.
    uint64_t limit = 0;      ///< min(free, limit option) - reserve: what the engine may use.
    PartBytes parts;         ///< Predicted.
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

/// A change of the request that frees memory where too little is.
struct Repair {
    Sentence action;            ///< "move layers 3-7 to cpu"
    std::vector<MapMove> moves; ///< A tower and its projector are two.
    std::string head, quant;    ///< As LoadRequest; empty: as it is.
    int64_t context = 0, prefill_chunk = 0, image_tokens = 0; ///< 0: as they are.
    uint64_t frees = 0;                                       ///< Bytes.
    bool is_enough = false;                                   ///< The plan fits after it alone.
};

/// What to do about an issue.
struct Suggestion {
    Suggestion() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): some are nothing but a sentence
    Suggestion(Sentence what, std::optional<Repair> change = {})
        : words(std::move(what)), repair(std::move(change)) {}

    Sentence words;
    std::optional<Repair> repair; ///< What a button beside the words does.
};

struct PlanIssue {
    PlanIssue();
    PlanIssue(const PlanIssue&);
    PlanIssue(PlanIssue&&) noexcept;
    PlanIssue& operator=(const PlanIssue&);
    PlanIssue& operator=(PlanIssue&&) noexcept;
    ~PlanIssue();

    std::string code;                        ///< DM01 ... DM23
    std::string key;                         ///< Device-map key or device concerned; may be empty.
    Sentence words;                          ///< Empty: `reasons` say it all.
    std::optional<MemoryExcess> excess = {}; ///< Where a memory is too small.
    bool is_about_card = false; ///< A card that is not there was named, or would be an alternative.
    std::vector<CardTrouble> reasons = {}; ///< Why the card that is asked for is not there.
    std::vector<Suggestion> suggestions;
    std::vector<std::string> modules; ///< Modules concerned (for marks on blocks).
    int line = 0, column = 0;         ///< Position in the map text; 0 = none.
};

/// What travels between devices for every token.
enum class Travel : uint8_t {
    HiddenState = 1,
    PerLayerRow,   ///< Row of the per-layer embedding table.
    PerLayerSlice, ///< A layer's part of that.
    KvMirror,
    SplitInput, ///< For a layer whose weights lie apart.
    SplitOutput,
    QueriesKeysValues, ///< To a cache elsewhere,
    AttentionResult,   ///< and back.
    StreamedWeights,
    StreamedAdapter,
};

struct TransferPerToken {
    DeviceId from, to;
    uint64_t bytes = 0;
    Travel what = Travel::HiddenState;
};

/// What most of a token's time goes to.
enum class SpeedBound : uint8_t {
    Unknown = 1,
    CardMemory, ///< Weights read from a card's memory,
    MainMemory, ///< or from main memory.
    Cores,      ///< Arithmetic.
    Link,       ///< Weights on their way to a card,
    Disk,       ///< or from the files.
    Launches,   ///< What is fixed for each layer and change of device.
};

/// "card memory", "main memory", "cores", "link", "disk", "launches"; "unknown".
constexpr std::string_view speedBoundName(SpeedBound bound) {
    constexpr std::array<std::string_view, 7> kNames = {
        "unknown", "card memory", "main memory", "cores", "link", "disk", "launches"};
    return kNames[static_cast<size_t>(bound) - 1];
}

struct DeviceSeconds {
    DeviceId device;
    double seconds = 0;
};

/// Estimates from measured machine constants; always shown as estimates.
struct SpeedEstimate {
    double decode_tokens_per_s = 0, prefill_tokens_per_s = 0, image_s = 0, audio_s_per_s = 0;
    SpeedBound decode_bound = SpeedBound::Unknown, prefill_bound = SpeedBound::Unknown;
    /// Seconds of a decoded token, and of one of a prompt where arithmetic bounds these, by device.
    std::vector<DeviceSeconds> decode_by, prefill_by;
};

struct PlacementPlan {
    PlacementPlan();
    PlacementPlan(const PlacementPlan&);
    PlacementPlan(PlacementPlan&&) noexcept;
    PlacementPlan& operator=(const PlacementPlan&);
    PlacementPlan& operator=(PlacementPlan&&) noexcept;
    ~PlacementPlan();

    bool fits = false;
    std::vector<DevicePlan> devices;
    std::vector<TensorPlacement> tensors;
    std::vector<ModulePlacement> modules;
    int64_t context = 0;       ///< Tokens of KV cache.
    int64_t prefill_chunk = 0; ///< Tokens per prefill chunk.
    /// Memory of the host that a card reads may be page-locked for it, where "pin" is not given.
    bool locks_host = true;
    /// LoadRequest::is_text_only: bytes that the weights of the towers would take in the formats of
    /// this plan. 0: they are in it, or the model has none.
    uint64_t left_out_bytes = 0;
    /// adapter.place is follow_base: A and B of weights that travel are stored with these and
    /// travel too. Otherwise they stay where they compute.
    bool adapters_follow_base = true;
    int64_t image_tokens = 280; ///< Largest soft-token budget of one image (sizes the scratch).
    /// Per decoder layer: where its attention runs and (owners) its KV cache lives. The layer's own
    /// device, or kv.place for all. A KV-shared reader on another device than its owner's KV gets
    /// an incrementally updated mirror there.
    std::vector<DeviceId> kv_device;
    bool is_reference_precision = false; ///< --precision f32: scalar table, fp32 KV.
    /// The type of keys and values: Q8 as asked for; otherwise bf16, fp32 with
    /// is_reference_precision.
    Format kv_format = Format::AsStored;
    /// lm_head is a tensor of the model files with values of its own; else its row, where it has
    /// one, is a copy of the token table.
    bool has_stored_head = false;
    int64_t experts = 0, experts_per_token = 0; ///< Routed ones of each layer; 0 without.
    std::vector<PlanIssue> errors, warnings;
    std::vector<Note> notes; ///< Translations, keys without effect, solver's explanation.
    std::vector<TransferPerToken> transfers_per_token;
    SpeedEstimate estimate;
    /// The map this plan was made from, as a version 1 document: what applyMap takes and a user
    /// saves. Presets and moves are worked in.
    std::string map_text;

    [[nodiscard]] const TensorPlacement* find(const std::string& tensor) const {
        for (const auto& row : tensors) {
            if (row.tensor == tensor) {
                return &row;
            }
        }
        return nullptr;
    }
    /// The first row of a part; with Head: of a head that has one of its own.
    [[nodiscard]] const TensorPlacement* find(Part part) const {
        for (const auto& row : tensors) {
            if (row.part == part) {
                return &row;
            }
        }
        return nullptr;
    }
    /// The block of a part. A head without a row of its own has one, too, of 0 bytes.
    [[nodiscard]] const ModulePlacement* findModule(Part part) const {
        for (const auto& module : modules) {
            if (module.part == part) {
                return &module;
            }
        }
        return nullptr;
    }
};

/// Whether the plan was refused by what the system reports as free alone: then, and only then,
/// LoadRequest::loads_anyway lets it be tried. Limits that somebody set are no estimate, nor is the
/// size of a simulated GPU.
inline bool isRefusedByEstimate(const std::vector<PlanIssue>& errors) {
    const auto isReported = [](const MemoryBound& bound) {
        return bound.by == MemoryBound::By::Free || bound.by == MemoryBound::By::System;
    };
    for (const PlanIssue& issue : errors) {
        if (!issue.excess.has_value() || !isReported(issue.excess->bound) ||
            (!issue.excess->is_host && issue.excess->device.kind == DeviceId::Kind::Sim)) {
            return false;
        }
    }
    return !errors.empty();
}

} // namespace engine
