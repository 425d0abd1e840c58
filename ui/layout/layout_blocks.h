// SPDX-License-Identifier: Apache-2.0
// The blocks of the layout editor as plain values: what a plan looks like when the parts that sit
// together and were not cut apart are drawn as one. Pure functions of plan, model and cuts; the
// placement itself is always the planner's.
#pragma once

#include "engine/api/load_request.h"
#include "engine/api/model_summary.h"
#include "engine/api/placement.h"

#include <QString>
#include <QStringList>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

enum class BlockKind {
    Layers = 1,
    Experts, ///< Routed experts of layers.
    Vision,
    VisionProjector,
    Audio,
    AudioProjector,
    PerLayerTable,
    Embedding, ///< The token table, with the head while they are one.
    Head,      ///< A head of its own.
    Assistant, ///< Drafts tokens; where one is loaded.
    Other,     ///< Norms and projections of the language model.
    Kv,
};

BlockKind blockKind(engine::Part part);
/// True when `name` is `module` or lies below it.
bool isBelow(std::string_view name, std::string_view module);

struct LayoutBlock {
    BlockKind kind = BlockKind::Other;
    QString id;                ///< "layers.0-14", "vision", ...: stable between plans.
    int first = -1, last = -1; ///< Layers and experts only.
    /// Names of the plan's modules in it: layers in order; the table before a head that is tied.
    std::vector<std::string> modules;
    engine::DeviceId store, compute;
    engine::Residency residency = engine::Residency::Always;
    engine::Format format = engine::Format::AsStored;
    quint64 bytes = 0;
    bool is_mixed = false;        ///< Some tensors inside sit elsewhere (a map may say so).
    bool is_tied = false;         ///< Embedding: the head is the same memory.
    bool is_stored_apart = false; ///< Head: a tensor of the model's files, never the embedding's.
    /// Layers: bytes and kind of each one. Experts: bytes of each layer's.
    std::vector<quint64> layer_bytes;
    std::vector<bool> is_full_attention;
    int kv_shared_from = -1; ///< First layer of the block that reads another layer's KV; -1 none.
    /// Layers: keeps experts that are elsewhere where they are; the others move along.
    std::vector<engine::MapMove> staying_experts;
    /// Experts: of each layer, and how many a token uses; 0 = not known.
    qint64 experts = 0, experts_per_token = 0;
    /// Experts: bytes that a token reads.
    [[nodiscard]] quint64 readPerToken() const {
        return experts == 0 ? 0
                            : static_cast<quint64>(static_cast<double>(bytes) *
                                                   static_cast<double>(experts_per_token) /
                                                   static_cast<double>(experts));
    }
    int floors = 0;             ///< Towers: their layers.
    qint64 adapter_modules = 0; ///< Modules in it that adapters change.
    bool has_projector = false; ///< Towers: the projector is drawn with it.
    bool is_kv_pinned = false;  ///< KV: kept on one device instead of following the layers.
    bool is_changed = false;    ///< Sits elsewhere than in the applied plan.
    QStringList errors, warnings;
    QString sentence; ///< blockSentence(), which needs the model as well.
};

/// Where the user cut blocks apart: "layers:15" (before layer 15), "experts:15", "vision", "audio"
/// (tower from projector). The head's cut is in the map, because it costs memory.
using LayoutCuts = std::set<QString>;

struct BlocksInput {
    const engine::PlacementPlan* plan = nullptr;    ///< Shown.
    const engine::PlacementPlan* applied = nullptr; ///< May be null: nothing is loaded.
    const engine::ModelSummary* model = nullptr;    ///< May be null: no layer kinds, no adapters.
    LayoutCuts cuts;
};

/// In the order they are drawn within a lane.
std::vector<LayoutBlock> makeBlocks(const BlocksInput& input);

/// True for a block of consecutive layers, or of their experts, which can be cut.
inline bool isRange(const LayoutBlock& block) {
    return block.kind == BlockKind::Layers || block.kind == BlockKind::Experts;
}
/// The cut of such a block before a layer.
QString rangeCut(const LayoutBlock& block, int layer);

/// "Layers 0 – 14", "Vision tower".
QString blockTitle(const LayoutBlock& block);
/// "own their KV · NF4", "16 layers · bf16 · visits GPU 0".
QString blockSubtitle(const LayoutBlock& block, const engine::PlacementPlan& plan);
/// What a user should know about placing it; empty for most.
QString blockNote(const LayoutBlock& block);
/// What it is, who reads it and what it would save or cost elsewhere, in plain words with the
/// figures of this model: for tool tips and the line below the lanes.
QString blockSentence(const LayoutBlock& block,
                      const engine::PlacementPlan& plan,
                      const engine::ModelSummary* model);
/// " Not applied yet. ...": what is not as usual with it; empty for most.
QString blockState(const LayoutBlock& block);
/// Name, bytes, place, sentence and state, for screen readers.
QString blockDescription(const LayoutBlock& block, const engine::PlacementPlan& plan);

/// The moves that put a block on a device (disk: stored there, computed where it is now).
std::vector<engine::MapMove>
movesTo(const LayoutBlock& block, engine::DeviceId device, const engine::PlacementPlan& plan);
/// The moves that store a block on `store` and let it visit `compute` when it is used.
std::vector<engine::MapMove>
visitMoves(const LayoutBlock& block, engine::DeviceId store, engine::DeviceId compute);

/// How many blocks sit elsewhere than in `applied`, the cuts of the plan left out.
int countChanges(const engine::PlacementPlan& plan, const engine::PlacementPlan& applied);
/// True when every tensor, the KV cache and the context are where `b` has them.
bool isSamePlacement(const engine::PlacementPlan& a, const engine::PlacementPlan& b);

/// The devices of a plan as lanes: GPUs, CPU, disk (always last, even without a part on it).
std::vector<engine::DeviceId> laneDevices(const engine::PlacementPlan& plan);
const engine::DevicePlan* devicePlan(const engine::PlacementPlan& plan, engine::DeviceId id);
/// Bytes stored on disk only. A plan does not count them as memory.
quint64 diskBytes(const engine::PlacementPlan& plan);
/// "GPU 0 · RTX 3060", "CPU".
QString laneName(engine::DeviceId device);
/// "NF4", "NF4 dq", "bf16", "int8", "as stored".
QString formatLabel(engine::Format format);

} // namespace ui
