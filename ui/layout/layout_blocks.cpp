// SPDX-License-Identifier: Apache-2.0
#include "ui/layout/layout_blocks.h"

#include "ui/common/issue_words.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

namespace ui {

namespace {

using engine::DeviceId;
using engine::ModulePlacement;
using engine::PartRole;
using engine::PlacementPlan;

/// The key of several layers or their experts: the name of the first with its number widened.
std::string rangeKey(const std::string& name, int first, int last) {
    const std::string number = "." + std::to_string(first);
    const size_t at = name.rfind(number);
    return first == last ? name
                         : name.substr(0, at) + ".[" + std::to_string(first) + "-" +
                               std::to_string(last) + "]" + name.substr(at + number.size());
}

bool isSamePlace(const ModulePlacement& a, const ModulePlacement& b) {
    return a.store == b.store && a.compute == b.compute &&
           (a.store == a.compute || a.residency == b.residency);
}

LayoutBlock blockOf(const QString& id, const ModulePlacement& module) {
    LayoutBlock block;
    block.kind = blockKind(module.part);
    block.id = id;
    block.modules = {module.name};
    block.store = module.store;
    block.compute = module.compute;
    block.residency = module.residency;
    block.format = module.format;
    block.bytes = module.bytes;
    block.is_mixed = module.is_mixed;
    return block;
}

void addModule(LayoutBlock& block, const ModulePlacement& module) {
    block.modules.push_back(module.name);
    block.bytes += module.bytes;
    block.is_mixed = block.is_mixed || module.is_mixed;
}

bool isKvPinned(const PlacementPlan& plan) {
    // The document says it where the layers alone would not: a KV that is not where its layers
    // compute, or one named device for all.
    const QString text = QString::fromStdString(plan.map_text);
    const qsizetype kv = text.indexOf(QStringLiteral("\"kv\""));
    if (kv < 0) {
        return false;
    }
    const qsizetype end = text.indexOf(QLatin1Char('}'), kv);
    const QString part = text.mid(kv, end - kv);
    return part.contains(QStringLiteral("\"place\"")) &&
           !part.contains(QStringLiteral("follow_layer"));
}

class BlockMaker {
public:
    explicit BlockMaker(const BlocksInput& input) : in_(input), plan_(*input.plan) {
        for (const ModulePlacement& module : plan_.modules) {
            by_name_.emplace(module.name, &module);
        }
    }

    std::vector<LayoutBlock> make() {
        ranges(PartRole::Layer, QStringLiteral("layers"));
        ranges(PartRole::Experts, QStringLiteral("experts"));
        keepExperts();
        tower(PartRole::VisionTower, PartRole::VisionProjector, QStringLiteral("vision"),
              in_.model == nullptr ? 0 : in_.model->vision_layers);
        tower(PartRole::AudioTower, PartRole::AudioProjector, QStringLiteral("audio"),
              in_.model == nullptr ? 0 : in_.model->audio_layers);
        single(PartRole::PerLayerTable, QStringLiteral("ple"));
        embedding();
        single(PartRole::Assistant, QStringLiteral("assistant"));
        others();
        kv();
        for (LayoutBlock& block : blocks_) {
            countAdapters(block);
            markChanged(block);
            addIssues(block);
            block.sentence = blockSentence(block, plan_, in_.model);
        }
        return std::move(blocks_);
    }

private:
    [[nodiscard]] const ModulePlacement* find(std::string_view name) const {
        const auto it = by_name_.find(name);
        return it == by_name_.end() ? nullptr : it->second;
    }

    /// The module of the plan that a name lies in; empty: none.
    [[nodiscard]] std::string_view moduleOf(std::string_view name) const {
        while (!name.empty() && !by_name_.contains(name)) {
            const size_t dot = name.rfind('.');
            name = name.substr(0, dot == std::string_view::npos ? 0 : dot);
        }
        return name;
    }

    [[nodiscard]] const ModulePlacement* find(PartRole role) const {
        return plan_.findModule({role});
    }

    /// Consecutive layers, or their experts, that sit together.
    void ranges(PartRole role, const QString& id) {
        std::map<int, const ModulePlacement*> layers;
        for (const ModulePlacement& module : plan_.modules) {
            if (module.part.role == role) {
                layers.emplace(module.part.layer, &module);
            }
        }
        const size_t begin = blocks_.size();
        const ModulePlacement* former = nullptr;
        for (const auto& [layer, module] : layers) {
            const bool is_cut = in_.cuts.contains(QStringLiteral("%1:%2").arg(id).arg(layer));
            if (former == nullptr || is_cut || !isSamePlace(*former, *module)) {
                blocks_.push_back(blockOf({}, *module));
                blocks_.back().first = layer;
            } else {
                addModule(blocks_.back(), *module);
            }
            LayoutBlock& block = blocks_.back();
            block.last = layer;
            block.layer_bytes.push_back(module->bytes);
            const bool is_known =
                in_.model != nullptr && static_cast<size_t>(layer) < in_.model->layers.size();
            const engine::LayerSummary summary =
                is_known ? in_.model->layers[static_cast<size_t>(layer)] : engine::LayerSummary{};
            block.is_full_attention.push_back(summary.is_full_attention);
            if (summary.is_kv_shared && block.kv_shared_from < 0) {
                block.kv_shared_from = layer;
            }
            former = module;
        }
        for (size_t i = begin; i < blocks_.size(); ++i) {
            LayoutBlock& block = blocks_[i];
            block.id = QStringLiteral("%1.%2-%3").arg(id).arg(block.first).arg(block.last);
            block.experts = plan_.experts;
            block.experts_per_token = plan_.experts_per_token;
        }
    }

    /// A key for layers is one for their experts, too.
    void keepExperts() {
        for (LayoutBlock& layers : blocks_) {
            for (const LayoutBlock& experts : blocks_) {
                const int first = std::max(layers.first, experts.first);
                const int last = std::min(layers.last, experts.last);
                if (layers.kind != BlockKind::Layers || experts.kind != BlockKind::Experts ||
                    first > last ||
                    (experts.store == layers.store && experts.compute == layers.compute)) {
                    continue;
                }
                const std::string& name =
                    experts.modules[static_cast<size_t>(first - experts.first)];
                engine::MapMove move;
                move.module = rangeKey(name, first, last);
                move.store = experts.store;
                move.compute = experts.compute;
                if (move.store != move.compute) {
                    move.residency = experts.residency;
                }
                layers.staying_experts.push_back(std::move(move));
            }
        }
    }

    void tower(PartRole role, PartRole projector_role, const QString& id, qint64 floors) {
        const ModulePlacement* body = find(role);
        const ModulePlacement* projector = find(projector_role);
        if (body != nullptr) {
            blocks_.push_back(blockOf(id, *body));
            blocks_.back().floors = static_cast<int>(std::min<qint64>(floors, 200));
            if (projector != nullptr && isSamePlace(*body, *projector) && !in_.cuts.contains(id)) {
                addModule(blocks_.back(), *projector);
                blocks_.back().has_projector = true;
                return;
            }
        }
        if (projector != nullptr) {
            blocks_.push_back(blockOf(id + QStringLiteral("-projector"), *projector));
        }
    }

    void single(PartRole role, const QString& id) {
        if (const ModulePlacement* module = find(role); module != nullptr) {
            blocks_.push_back(blockOf(id, *module));
        }
    }

    void embedding() {
        const ModulePlacement* table = find(PartRole::Embedding);
        const ModulePlacement* head = find(PartRole::Head);
        if (table != nullptr) {
            blocks_.push_back(blockOf(QStringLiteral("embedding"), *table));
            if (head != nullptr && head->bytes == 0 && isSamePlace(*table, *head)) {
                blocks_.back().is_tied = true;
                blocks_.back().modules.push_back(head->name);
                head = nullptr;
            }
        }
        if (head != nullptr) {
            blocks_.push_back(blockOf(QStringLiteral("head"), *head));
            blocks_.back().is_stored_apart = plan_.has_stored_head;
        }
    }

    /// What is left of the language model, one block per place.
    void others() {
        const size_t begin = blocks_.size();
        for (const ModulePlacement& module : plan_.modules) {
            if (blockKind(module.part) != BlockKind::Other) {
                continue;
            }
            const auto same =
                std::find_if(blocks_.begin() + static_cast<std::ptrdiff_t>(begin), blocks_.end(),
                             [&](const LayoutBlock& b) {
                                 return b.store == module.store && b.compute == module.compute;
                             });
            if (same != blocks_.end()) {
                const bool is_larger = module.bytes * 2 > same->bytes;
                addModule(*same, module);
                same->format = is_larger ? module.format : same->format;
            } else {
                const auto number = static_cast<int>(blocks_.size() - begin);
                blocks_.push_back(blockOf(number == 0 ? QStringLiteral("other")
                                                      : QStringLiteral("other.%1").arg(number),
                                          module));
            }
        }
    }

    void kv() {
        const bool is_pinned = isKvPinned(plan_);
        for (const engine::DevicePlan& device : plan_.devices) {
            const quint64 bytes = device.parts[engine::MemoryPart::Kv];
            if (bytes == 0) {
                continue;
            }
            LayoutBlock block;
            block.kind = BlockKind::Kv;
            block.id = QStringLiteral("kv.") + QString::fromStdString(device.id.toString());
            block.store = device.id;
            block.compute = device.id;
            block.bytes = bytes;
            block.is_kv_pinned = is_pinned;
            blocks_.push_back(std::move(block));
        }
    }

    void countAdapters(LayoutBlock& block) const {
        if (in_.model == nullptr) {
            return;
        }
        for (const engine::AdapterSummary& adapter : in_.model->adapters) {
            for (const std::string& name : adapter.matched_modules) {
                block.adapter_modules +=
                    std::count(block.modules.begin(), block.modules.end(), moduleOf(name));
            }
        }
    }

    void markChanged(LayoutBlock& block) const {
        if (in_.applied == nullptr) {
            return;
        }
        if (block.kind == BlockKind::Kv) {
            const engine::DevicePlan* former = devicePlan(*in_.applied, block.store);
            block.is_changed =
                former == nullptr || former->parts[engine::MemoryPart::Kv] != block.bytes;
            return;
        }
        for (const ModulePlacement& module : in_.applied->modules) {
            const bool is_mine = std::find(block.modules.begin(), block.modules.end(),
                                           module.name) != block.modules.end();
            if (is_mine) {
                const ModulePlacement* now = find(module.name);
                block.is_changed =
                    block.is_changed || (now != nullptr && !isSamePlace(*now, module));
            }
        }
    }

    void addIssues(LayoutBlock& block) const {
        const auto concerns = [&](const engine::PlanIssue& issue) {
            if (std::any_of(issue.modules.begin(), issue.modules.end(), [&](const std::string& m) {
                    return std::any_of(block.modules.begin(), block.modules.end(),
                                       [&](const std::string& mine) {
                                           return isBelow(m, mine) || isBelow(mine, m);
                                       });
                })) {
                return true;
            }
            return !issue.key.empty() && std::any_of(block.modules.begin(), block.modules.end(),
                                                     [&](const std::string& mine) {
                                                         return isBelow(issue.key, mine) ||
                                                                issue.key == mine;
                                                     });
        };
        for (const engine::PlanIssue& issue : plan_.errors) {
            // "Too much on this device" names every block there; the lane says it once.
            if (issue.code != "DM09" && concerns(issue)) {
                block.errors << issueWords(issue);
            }
        }
        for (const engine::PlanIssue& issue : plan_.warnings) {
            if (concerns(issue)) {
                block.warnings << issueWords(issue);
            }
        }
    }

    const BlocksInput& in_;
    const PlacementPlan& plan_;
    std::map<std::string_view, const ModulePlacement*> by_name_;
    std::vector<LayoutBlock> blocks_;
};

} // namespace

BlockKind blockKind(engine::Part part) {
    switch (part.role) {
    case PartRole::Layer:
        return BlockKind::Layers;
    case PartRole::Experts:
        return BlockKind::Experts;
    case PartRole::VisionTower:
        return BlockKind::Vision;
    case PartRole::VisionProjector:
        return BlockKind::VisionProjector;
    case PartRole::AudioTower:
        return BlockKind::Audio;
    case PartRole::AudioProjector:
        return BlockKind::AudioProjector;
    case PartRole::PerLayerTable:
        return BlockKind::PerLayerTable;
    case PartRole::Embedding:
        return BlockKind::Embedding;
    case PartRole::Head:
        return BlockKind::Head;
    case PartRole::Assistant:
        return BlockKind::Assistant;
    case PartRole::PerLayerProjection:
    case PartRole::PerLayerNorm:
    case PartRole::FinalNorm:
    case PartRole::Other:
        break;
    }
    return BlockKind::Other;
}

bool isBelow(std::string_view name, std::string_view module) {
    return name.starts_with(module) && (name.size() == module.size() || name[module.size()] == '.');
}

QString rangeCut(const LayoutBlock& block, int layer) {
    return (block.kind == BlockKind::Experts ? QStringLiteral("experts:%1")
                                             : QStringLiteral("layers:%1"))
        .arg(layer);
}

std::vector<LayoutBlock> makeBlocks(const BlocksInput& input) {
    return input.plan == nullptr ? std::vector<LayoutBlock>() : BlockMaker(input).make();
}

std::vector<engine::MapMove>
movesTo(const LayoutBlock& block, DeviceId device, const PlacementPlan& plan) {
    DeviceId compute = device;
    if (device == DeviceId::disk()) {
        // Nothing computes on a disk: it stays where it computes, with the language layers' device
        // as the place for what computed on the CPU.
        compute = block.compute;
    }
    std::vector<engine::MapMove> moves = visitMoves(block, device, compute);
    if (block.kind == BlockKind::Kv && device == DeviceId::disk()) {
        moves.clear(); // the cache is memory
    }
    (void)plan;
    return moves;
}

std::vector<engine::MapMove>
visitMoves(const LayoutBlock& block, DeviceId store, DeviceId compute) {
    std::vector<engine::MapMove> moves;
    const auto place = [&](const std::string& module) {
        engine::MapMove move;
        move.module = module;
        move.store = store;
        move.compute = compute;
        moves.push_back(std::move(move));
    };
    switch (block.kind) {
    case BlockKind::Layers:
    case BlockKind::Experts:
        place(rangeKey(block.modules.front(), block.first, block.last));
        for (const engine::MapMove& move : block.staying_experts) {
            if (move.store != store || move.compute != compute) {
                moves.push_back(move);
            }
        }
        break;
    case BlockKind::Kv:
        place("kv");
        break;
    case BlockKind::Embedding:
        place(block.modules.front());
        if (block.is_tied) {
            // Whatever said otherwise about the head goes: it is this table.
            engine::MapMove tie;
            tie.kind = engine::MapMove::Kind::Inherit;
            tie.module = block.modules.back();
            moves.push_back(std::move(tie));
        }
        break;
    case BlockKind::Head:
        place(block.modules.front());
        moves.back().is_tied_copy = !block.is_stored_apart;
        break;
    case BlockKind::Vision:
    case BlockKind::VisionProjector:
    case BlockKind::Audio:
    case BlockKind::AudioProjector:
    case BlockKind::PerLayerTable:
    case BlockKind::Assistant:
    case BlockKind::Other:
        for (const std::string& module : block.modules) {
            place(module);
        }
        break;
    }
    return moves;
}

bool isSamePlacement(const PlacementPlan& a, const PlacementPlan& b) {
    if (a.context != b.context || a.kv_device != b.kv_device ||
        a.tensors.size() != b.tensors.size()) {
        return false;
    }
    for (size_t i = 0; i < a.tensors.size(); ++i) {
        const engine::TensorPlacement& x = a.tensors[i];
        const engine::TensorPlacement& y = b.tensors[i];
        if (x.tensor != y.tensor || x.store != y.store || x.compute != y.compute ||
            x.format != y.format || (x.store != x.compute && x.residency != y.residency)) {
            return false;
        }
    }
    return true;
}

int countChanges(const PlacementPlan& plan, const PlacementPlan& applied) {
    BlocksInput input;
    input.plan = &plan;
    input.applied = &applied;
    int changes = 0;
    for (const LayoutBlock& block : makeBlocks(input)) {
        // A cache that follows its layers is not a change of its own.
        changes += block.is_changed && block.kind != BlockKind::Kv ? 1 : 0;
    }
    const bool is_kv_moved =
        plan.kv_device != applied.kv_device && isKvPinned(plan) != isKvPinned(applied);
    changes += is_kv_moved || plan.context != applied.context ? 1 : 0;
    return changes == 0 && !isSamePlacement(plan, applied) ? 1 : changes;
}

std::vector<DeviceId> laneDevices(const PlacementPlan& plan) {
    std::vector<DeviceId> lanes;
    for (const engine::DevicePlan& device : plan.devices) {
        if (device.id.isGpu()) {
            lanes.push_back(device.id);
        }
    }
    std::sort(lanes.begin(), lanes.end());
    lanes.push_back(DeviceId::cpu());
    lanes.push_back(DeviceId::disk());
    return lanes;
}

const engine::DevicePlan* devicePlan(const PlacementPlan& plan, DeviceId id) {
    for (const engine::DevicePlan& device : plan.devices) {
        if (device.id == id) {
            return &device;
        }
    }
    return nullptr;
}

quint64 diskBytes(const PlacementPlan& plan) {
    quint64 bytes = 0;
    for (const engine::TensorPlacement& row : plan.tensors) {
        bytes += row.store == DeviceId::disk() ? row.bytes : 0;
    }
    return bytes;
}

} // namespace ui
